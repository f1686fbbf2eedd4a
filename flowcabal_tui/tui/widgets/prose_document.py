"""A document and its wrapped view, fast even if one paragraph is as long as a chapter.

Textual's own (8.2.8) measures and cuts the whole paragraph several times for every key and every rendered row; this one
measures a paragraph once after an edit and cuts only the requested row. Rows break where they break in the reading
view, by the rules of Chinese and Japanese.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from rich.cells import cell_len
from textual._cells import cell_width_to_column_index
from textual.document._document import Document, EditResult, Location
from textual.document._wrapped_document import WrappedDocument
from textual.expand_tabs import expand_tabs_inline, get_tab_widths
from textual.geometry import Offset

from flowcabal_tui.domain.lengths import TextLength, text_length
from flowcabal_tui.tui.widgets.cells import cell_widths
from flowcabal_tui.tui.widgets.prose_wrap import break_at


def wrap_offsets(line: str, width: int) -> list[int]:
    """The columns at which `line` breaks, by the rules of `prose_wrap` (0: no wrapping), in one pass over it."""
    if not width:
        return []
    ends = list(accumulate(cell_widths(line), initial=0))
    breaks: list[int] = []
    start = 0
    while ends[-1] - ends[start] > width:
        overflow = bisect_right(ends, ends[start] + width, start) - 1
        at = break_at(line, start, overflow, width)
        if at is None or at >= len(line):
            break
        breaks.append(at)
        start = at
    return breaks


class ProseLines(Document):
    """A document whose lines end at ` ` alone, so that a loaded text is returned unchanged.

    Textual's own also ends them at form feeds and Unicode separators, and returns ` ` for each.
    """

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._lines = text.split("\n")
        self._length: TextLength | None = None

    @property
    def length(self) -> TextLength:
        """The length of the text: counted once, then updated by each edit."""
        if self._length is None:
            self._length = text_length(self.text)
        return self._length

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replaces the text between two locations by `text`."""
        (top, left), (bottom, right) = sorted((start, end))
        lines = self._lines
        replaced = self.get_text_range(start, end)
        inserted = text.split("\n")
        inserted[0] = (lines[top][:left] if top < len(lines) else "") + inserted[0]
        column = len(inserted[-1])
        inserted[-1] += lines[bottom][right:] if bottom < len(lines) else ""
        if self._length is not None:
            before, after = "\n".join(lines[top : bottom + 1]), "\n".join(inserted)
            self._length += text_length(after) - text_length(before)
        lines[top : bottom + 1] = inserted
        return EditResult((top + len(inserted) - 1, column), replaced)


class ProseDocument(WrappedDocument):
    """A wrapped document whose cost for a key does not grow with the paragraph's rows on screen."""

    @property
    def height(self) -> int:
        """The total number of rows."""
        return len(self._offset_to_line_info)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Wraps everything at `width` cells (0: no wrapping)."""
        self._width = width
        self._tab_width = tab_width or self._tab_width
        self._wrap_offsets = []
        self._tab_width_cache = []
        self._offset_to_line_info = []
        self._line_index_to_offsets = []
        self._insert_lines(0, 0, self.document.lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Wraps the lines of an edit again; must be called after the document has changed."""
        old_count = len(self._wrap_offsets)
        top = min(start[0], old_end[0])
        old_bottom = min(max(start[0], old_end[0]), old_count - 1)
        new_bottom = min(max(start[0], new_end[0]), self.document.line_count - 1)
        if old_count + new_bottom - old_bottom != self.document.line_count:
            self.wrap(self._width)
            return
        self._insert_lines(top, old_bottom + 1, self.document.lines[top : new_bottom + 1])

    def _insert_lines(self, top: int, old_end: int, lines: list[str]) -> None:
        """Puts the wrapping of `lines` in place of the lines `top` to `old_end` (not included)."""
        offsets = [wrap_offsets(line, self._width) for line in lines]
        tabs = [self._tab_cells(line) if "\t" in line else [] for line in lines]
        old_top_row = self._line_index_to_offsets[top][0] if top < len(self._line_index_to_offsets) else 0
        old_rows = sum(len(breaks) + 1 for breaks in self._wrap_offsets[top:old_end])
        rows: list[tuple[int, int]] = []
        row_numbers: list[list[int]] = []
        for line_index, breaks in enumerate(offsets, top):
            first = old_top_row + len(rows)
            row_numbers.append(list(range(first, first + len(breaks) + 1)))
            rows.extend((line_index, section) for section in range(len(breaks) + 1))
        self._wrap_offsets[top:old_end] = offsets
        self._tab_width_cache[top:old_end] = tabs
        self._line_index_to_offsets[top:old_end] = row_numbers
        self._offset_to_line_info[old_top_row : old_top_row + old_rows] = rows
        self._shift_below(top + len(lines), top + len(lines) - old_end, old_top_row + len(rows), len(rows) - old_rows)

    def _tab_cells(self, line: str) -> list[int]:
        return [cells for _part, cells in get_tab_widths(line, self._tab_width)]

    def _shift_below(self, line: int, line_shift: int, row: int, row_shift: int) -> None:
        """Renumbers lines from `line` and rows from `row` on."""
        if line_shift:
            below = self._offset_to_line_info[row:]
            self._offset_to_line_info[row:] = [(index + line_shift, section) for index, section in below]
        if row_shift:
            numbers = self._line_index_to_offsets[line:]
            self._line_index_to_offsets[line:] = [[at + row_shift for at in rows] for rows in numbers]

    def section(self, line_index: int, section: int) -> str:
        """The text of one row."""
        line = self.document.get_line(line_index)
        breaks = self._wrap_offsets[line_index]
        start = breaks[section - 1] if section else 0
        return line[start : breaks[section] if section < len(breaks) else len(line)]

    def get_sections(self, line_index: int) -> list[str]:
        """The rows of a line."""
        line = self.document.get_line(line_index)
        breaks = self._wrap_offsets[line_index]
        return [line[start:end] for start, end in zip([0, *breaks], [*breaks, len(line)], strict=True)]

    def location_to_offset(self, location: Location) -> Offset:
        """The screen position of a location: cells from the left of its row, and the row."""
        line_index, column = location
        breaks = self.get_offsets(line_index)
        section = bisect_right(breaks, column)
        start = breaks[section - 1] if section else 0
        before = self.document.get_line(line_index)[start:column]
        x = cell_len(expand_tabs_inline(before, self._tab_width))
        return Offset(x, self._line_index_to_offsets[line_index][section])

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        """The column at `x_offset` cells in the row `y_offset` of a line (negative: from its end)."""
        breaks = self._wrap_offsets[line_index]
        last = len(breaks)
        section = y_offset if y_offset >= 0 else last + 1 + y_offset
        words = self.section(line_index, section)
        start = breaks[section - 1] if section else 0
        column = start + cell_width_to_column_index(words, x_offset, self._tab_width)
        return column if section == last else min(column, start + len(words) - 1)
