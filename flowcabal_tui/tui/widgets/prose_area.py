"""The editor for prose: Textual's TextArea with few bytes per key, even in long paragraphs.

TextArea (8.2.8) repaints all of itself for every key (13 KB at 160x48). `ProseArea` keeps the face of every visible row
(its words, cursor, selection), compares the faces before and after a change, and repaints the cells that differ. A test
verifies that the screen is the same as TextArea's, except for line breaks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, NamedTuple, Self

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import EditResult, Location, Selection
from textual.document._document_navigator import DocumentNavigator
from textual.document._edit import Edit
from textual.expand_tabs import expand_text_tabs_from_widths
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.cells import WIDTHS
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prose_document import ProseDocument, ProseLines

EDIT_DELAY = 1.0
_STEADY: Final = 3
"""Delays after which steady typing is reported, too."""
"""Seconds without a change after which `Edited` is posted."""


class RowFace(NamedTuple):
    """Everything that determines how one row looks: columns count from the start of the row."""

    words: str = ""
    is_last: bool = False
    tabs: tuple[int, ...] = ()
    on_cursor_line: bool = False
    cursor: int | None = None
    selected: tuple[int, int] | None = None
    is_empty_selected: bool = False
    exists: bool = True
    is_faded: bool = False
    hints: tuple[tuple[int, int], ...] = ()
    """Columns of words with a hint."""
    sign: str = ""
    """At the right edge."""


class ProseArea(TextArea):
    """An editor of one text, given and returned as a whole, with offsets into it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prose--hint"}
    DEFAULT_CSS = "ProseArea > .prose--hint { text-style: underline; }"
    help = HelpData(
        mark("Editor"),
        mark("Type here. `Ctrl+z` undoes, `Ctrl+y` redoes, `F7` selects all; what you type is saved automatically."),
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "go_to_start", mark("Start of the text"), show=False, id="prose.start"),
        Binding("ctrl+end", "go_to_end", mark("End of the text"), show=False, id="prose.end"),
    ]

    @dataclass
    class Edited(Message):
        """The text has changed, and typing has stopped or the focus was lost."""

        area: ProseArea
        text: str

        @property
        def control(self) -> ProseArea:
            """The editor that sent the message."""
            return self.area

    def __init__(
        self,
        text: str = "",
        *,
        read_only: bool = False,
        edit_delay: float = EDIT_DELAY,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        self._edit_delay = edit_delay
        self._edit_timer: Timer | None = None
        self._steady_timer: Timer | None = None
        self._repaint_suspended = False
        self._search_text = ""
        super().__init__(clean(text), read_only=read_only, max_checkpoints=500, id=id)
        self.set_reactive(TextArea.match_cursor_bracket, False)
        self.set_reactive(TextArea.highlight_cursor_line, False)
        self.set_reactive(TextArea.cursor_blink, not os.environ.get("SSH_CONNECTION"))

    # The document

    def _set_document(self, text: str, language: str | None) -> None:
        """Prose has no syntax: one plain document, wrapped once."""
        self.document = ProseLines(text)
        document = self.wrapped_document = ProseDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(document)
        self._line_cache.clear()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _build_highlight_map(self) -> None:
        """Does nothing: prose has no highlights, so drawn rows, which are cached by their contents, stay valid."""

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """Always None: in a novel, the search for a bracket's partner could cross a million characters at every key."""
        return None

    def load_text(self, text: str) -> None:
        """Shows another text; the history of undo is cleared, and no edit is reported."""
        self._forget_edit()
        super().load_text(clean(text))

    # Offsets

    @property
    def selected_span(self) -> tuple[int, int]:
        """The selection as offsets into the text, start <= end; equal at the cursor when nothing is selected."""
        first, last = sorted(self.document_offset(place) for place in self.selection)
        return first, last

    def document_offset(self, location: Location) -> int:
        """The offset into the text of a (row, column)."""
        row, column = location
        return sum(map(len, self.document.lines[:row])) + row + column

    def offset_location(self, offset: int) -> Location:
        """The (row, column) of an offset into the text; outside the text, its nearest end."""
        offset = max(0, offset)
        row = 0
        for row, line in enumerate(self.document.lines):
            if offset <= len(line):
                return row, offset
            offset -= len(line) + 1
        return self.document.end

    def select_span(self, start: int, end: int) -> None:
        """Selects the characters from `start` up to `end` and brings them into view."""
        self.selection = Selection(self.offset_location(start), self.offset_location(end))
        self.scroll_cursor_visible(center=True)

    def replace_span(self, start: int, end: int, text: str) -> None:
        """Puts `text` in place of the characters from `start` up to `end`: one step for undo."""
        self.history.checkpoint()
        self.replace(clean(text), self.offset_location(start), self.offset_location(end))
        self.history.checkpoint()

    def find(self, text: str) -> int:
        """Selects the next match of `text`, in any letter case, from the cursor on.

        Returns the number of matches; an empty `text` ends the search.
        """
        self._search_text = text
        return self._select_match(self.selected_span[0])

    def next_match(self) -> None:
        """Selects the next match, wrapping around."""
        self._select_match(self.selected_span[0] + 1)

    def _select_match(self, start: int) -> int:
        """Selects the first match from `start` on, else the first in the text; returns the number of matches."""
        sought = re.escape(self._search_text)
        places = [match.start() for match in re.finditer(sought, self.text, re.IGNORECASE)] if sought else []
        if places:
            at = next((place for place in places if place >= start), places[0])
            self.select_span(at, at + len(self._search_text))
        return len(places)

    # Changes, and what they repaint

    def on_resize(self) -> None:
        """Scrolls to the cursor after the text was wrapped for another width."""
        if self.has_focus:
            self.call_later(self.scroll_cursor_visible)

    def edit(self, edit: Edit) -> EditResult:
        """Applies one edit; repaints the changed cells."""
        with self._repaint_differences():
            result = super().edit(edit)
        self._note_edit()
        return result

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        with self._repaint_differences():
            super()._undo_batch(edits)
        self._note_edit()

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        with self._repaint_differences():
            super()._redo_batch(edits)
        self._note_edit()

    def move_cursor(
        self, location: Location, select: bool = False, center: bool = False, record_width: bool = True
    ) -> None:
        """Moves the cursor; repaints the rows that it leaves and enters."""
        with self._repaint_differences():
            super().move_cursor(location, select, center, record_width)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Like Textual's method, but a change of text or cursor finally repaints only the cells that differ."""
        if self._repaint_suspended and not (regions or layout or recompose):
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def _refresh_size(self) -> None:
        """Updates the scroll bar to the number of rows, without a layout of the whole screen."""
        if not self._repaint_suspended:
            super()._refresh_size()
            if self._rows_below:
                self.virtual_size = Size(0, self.wrapped_document.height + self._rows_below)
        elif (height := self.wrapped_document.height + self._rows_below) != self.virtual_size.height:
            self.set_reactive(Widget.virtual_size, Size(0, height))
            self._scroll_update(self.virtual_size)

    def _watch_show_vertical_scrollbar(self) -> None:
        """Wraps again. During an edit the cursor may still be after the end of the text: it is not scrolled to."""
        if self.wrap_width:
            self._rewrap_and_refresh_virtual_size()
        if not self._repaint_suspended:
            self.scroll_cursor_visible()

    @property
    def _rows_below(self) -> int:
        """Empty rows below the text, so that its end can be scrolled up."""
        return 0

    @property
    def _is_plain(self) -> bool:
        """True when the screen shows nothing that row faces cannot draw."""
        return self.soft_wrap and not (self.show_line_numbers or self.suggestion or self.placeholder)

    @contextmanager
    def _repaint_differences(self) -> Iterator[None]:
        """Holds back the repaint of everything; afterwards repaints the cells that differ."""
        if self._repaint_suspended or not self.is_mounted or not self._is_plain:
            yield
            return
        scrolled = self.scroll_offset
        before = self._faces()
        self._repaint_suspended = True
        try:
            yield
        finally:
            self._repaint_suspended = False
        if self.scroll_offset != scrolled or not self._is_plain:
            self.refresh()
            return
        regions = [
            _difference(old, new, y, self.size.width)
            for y, (old, new) in enumerate(zip(before, self._faces(), strict=True))
            if old != new
        ]
        if regions:
            self.refresh(*regions)

    def _faces(self) -> list[RowFace]:
        top = self.scroll_offset.y
        return [self._face(row) for row in range(top, top + self.size.height)]

    def _face(self, row: int) -> RowFace:
        wrapped = self.wrapped_document
        assert isinstance(wrapped, ProseDocument)
        rows = wrapped._offset_to_line_info
        if row >= len(rows):
            return RowFace(exists=False)
        line, section = rows[row]
        breaks = wrapped.get_offsets(line)
        start = breaks[section - 1] if section else 0
        words = wrapped.section(line, section)
        is_last = section == len(breaks)
        cursor_line, cursor = self.selection.end
        has_cursor = cursor_line == line and self._draw_cursor and start <= cursor < start + len(words) + is_last
        selected, is_empty_selected = self._selected_in(line, start, len(words))
        tabs: tuple[int, ...] = ()
        if "\t" in words:
            first = self.document.get_line(line).count("\t", 0, start)
            tabs = tuple(wrapped.get_tab_widths(line)[first : first + words.count("\t")])
        return RowFace(
            words,
            is_last,
            tabs,
            cursor_line == line and self.highlight_cursor_line and self._has_cursor,
            cursor - start if has_cursor else None,
            selected,
            is_empty_selected,
        )

    def _selected_in(self, line: int, start: int, length: int) -> tuple[tuple[int, int] | None, bool]:
        """The selected columns of a row, and whether it is an empty line within the selection."""
        (top, left), (bottom, right) = sorted(self.selection)
        if self.selection.is_empty or not top <= line <= bottom:
            return None, False
        if not len(self.document.get_line(line)) and line != self.selection.end[0]:
            return None, True
        first = max(left - start, 0) if line == top else 0
        last = min(right - start, length) if line == bottom else length
        return ((first, last) if last > first else None), False

    # Painting

    def render_line(self, y: int) -> Strip:
        """Renders one row; rows that look the same are rendered once."""
        if not self._is_plain:
            return super().render_line(y)
        face = self._face(y + self.scroll_offset.y)
        key = (face, self.size, self.theme, self.read_only)
        if (strip := self._line_cache.get(key)) is None:
            strip = self._line_cache[key] = self._draw(face)
        return strip

    def _base_style(self, face: RowFace) -> Style:
        """The style that a row has before the cursor and the selection are laid over it."""
        return self._theme.base_style if self._theme.base_style is not None else self.rich_style

    def _draw(self, face: RowFace) -> Strip:
        return _strip(self, face, self._base_style(face))

    # Reporting

    def _note_edit(self) -> None:
        if self._steady_timer is None:
            self._steady_timer = self.set_timer(_STEADY * self._edit_delay, self.report_edit)
        if self._edit_timer is not None:
            self._edit_timer.stop()
        self._edit_timer = self.set_timer(self._edit_delay, self.report_edit)

    def _forget_edit(self) -> None:
        for timer in (self._edit_timer, self._steady_timer):
            if timer is not None:
                timer.stop()
        self._edit_timer = self._steady_timer = None

    def report_edit(self) -> None:
        """Posts `Edited` at once if something has changed since the last one."""
        if self._steady_timer is not None:
            self._forget_edit()
            self.post_message(self.Edited(self, self.text))

    def on_blur(self) -> None:
        """Reports the typed text before anything else happens."""
        self.report_edit()

    def action_go_to_start(self) -> None:
        """Moves the cursor before the first character."""
        self.move_cursor((0, 0))

    def action_go_to_end(self) -> None:
        """Moves the cursor after the last character."""
        self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        """Removes terminal control sequences from pasted text."""
        event.prevent_default()
        if result := self._replace_via_keyboard(clean(event.text), *self.selection):
            self.move_cursor(result.end_location)
            self.focus()

    def action_paste(self) -> None:
        """Pastes the text copied in this program, cleaned as well."""
        if result := self._replace_via_keyboard(clean(self.app.clipboard), *self.selection):
            self.move_cursor(result.end_location)


def _strip(area: ProseArea, face: RowFace, base: Style) -> Strip:
    """One row, painted."""
    theme = area._theme
    if not face.exists:
        return Strip.blank(area.size.width, base)
    line_style = theme.cursor_line_style if face.on_cursor_line else None
    words = Text(face.words + (" " if face.is_last else ""), end="", no_wrap=True)
    if line_style:
        words.stylize(line_style)
    if face.is_empty_selected and theme.selection_style:
        words.plain = "▌"
        words.stylize(Style(color=theme.selection_style.bgcolor))
    for first, last in face.hints:
        words.stylize(area.get_component_rich_style("prose--hint", partial=True), first, last)
    if face.selected and theme.selection_style and not face.is_empty_selected:
        words.stylize(theme.selection_style, *face.selected)
    if face.cursor is not None and theme.cursor_style:
        words.stylize(theme.cursor_style, face.cursor, face.cursor + 1)
    words = expand_text_tabs_from_widths(words, list(face.tabs))
    strip = Strip(words.render(area.app.console), cell_length=words.cell_len)
    padding = line_style if face.on_cursor_line else theme.base_style
    width = area.scrollable_content_region.size.width
    return strip.extend_cell_length(width, padding).apply_style(base)


def _difference(old: RowFace, new: RowFace, y: int, width: int) -> Region:
    """The start of row `y` up to the last cell that differs (Textual paints from a widget's left edge)."""
    if (
        old._replace(words=new.words, cursor=new.cursor) != new
        or "\t" in old.words + new.words
        or not all(WIDTHS[character] for character in old.words + new.words)
    ):
        return Region(0, y, width, 1)
    if old.words != new.words:
        end = max(cell_len(old.words), cell_len(new.words)) + 1
    else:
        last = max(face.cursor for face in (old, new) if face.cursor is not None)
        end = cell_len(new.words[: last + 1]) + (last >= len(new.words))
    return Region(0, y, min(end, width), 1)
