"""Rows in columns: numbers are right-aligned, and the least important columns are cut first, by cell width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.widgets.cells import cell_width, crop, crop_middle, cut_before, padded
from flowcabal_tui.tui.widgets.roles import Role, role_style

GAP: Final = 1
FOUND_STYLE: Final = "bold underline"
_CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list.

    A higher `rank` is less important: if cells are missing, the column of the highest rank is cut down to `least` cells
    first, and left out first. A column of rank 0 is never left out. `fill` takes the remaining cells. Words are cut in
    the middle, because the end of a title distinguishes it; a phrase is cut at its end.
    """

    head: str = ""
    rank: int = 0
    least: int = 4
    most: int = 200
    is_number: bool = False
    fill: bool = False
    is_phrase: bool = False
    role: Role = "text"


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell whose style differs from that of its column."""

    words: str
    role: Role | None = None
    is_bold: bool = False
    spans: Sequence[Span] = ()
    """Places in the words that are marked. Where words are cut, the first of them stays visible."""


class Columns:
    """The columns of one list, as wide as the widest added row requires."""

    def __init__(self, *columns: Column) -> None:
        self.columns = columns
        self._widest = [cell_width(column.head) for column in columns]
        self._laid_out: dict[int, tuple[int, ...]] = {}

    def row(self, *cells: str | Cell, indent: int = 0) -> ColumnRow:
        """A row; missing cells at the end are empty, and `indent` cells stay free before the first."""
        given = tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)
        made = given + (Cell(""),) * (len(self.columns) - len(given))
        for place, cell in enumerate(made):
            width = cell_width(cell.words) + (indent if place == 0 else 0)
            if width > self._widest[place]:
                self._widest[place] = width
                self._laid_out.clear()
        return ColumnRow(self, made, indent)

    def head(self) -> ColumnRow:
        """The heads of the columns."""
        return ColumnRow(self, tuple(Cell(column.head, "secondary") for column in self.columns), 0)

    def widths(self, space: int) -> tuple[int, ...]:
        """Cells of each column in a row of `space` cells; 0 for a column that is left out."""
        if space not in self._laid_out:
            self._laid_out[space] = self._lay_out(space)
        return self._laid_out[space]

    def _lay_out(self, space: int) -> tuple[int, ...]:
        widths = [min(widest, column.most) for widest, column in zip(self._widest, self.columns, strict=True)]
        by_rank = sorted(range(len(widths)), key=lambda place: -self.columns[place].rank)
        for place in by_rank:
            if not self.columns[place].is_number and (missing := _needed(widths) - space) > 0:
                widths[place] = max(min(widths[place], self.columns[place].least), widths[place] - missing)
        for place in by_rank:
            if self.columns[place].rank and _needed(widths) > space:
                widths[place] = 0
        for place in reversed(by_rank):  # what was cut too far before another column went
            if widths[place] and not self.columns[place].is_number:
                wanted = min(self._widest[place], self.columns[place].most)
                widths[place] = min(wanted, widths[place] + max(0, space - _needed(widths)))
        filled = next((place for place, column in enumerate(self.columns) if column.fill), None)
        if filled is not None:
            widths[filled] = max(1, widths[filled])  # an empty column has a gap before it, too
            widths[filled] = max(1, widths[filled] + space - _needed(widths))
        return tuple(widths)


class ColumnRow(Visual):
    """One row of a list in columns; as text, its cells with blanks between them."""

    def __init__(self, columns: Columns, cells: tuple[Cell, ...], indent: int) -> None:
        self.columns, self._cells, self._indent = columns, cells, indent

    def __str__(self) -> str:
        return " ".join(cell.words for cell in self._cells if cell.words)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Returns the width of the container."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Returns one row, for any width."""
        return 1

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Renders the row; text that does not fit is cut."""
        pieces: list[Content] = []
        for column, cell, cells in zip(self.columns.columns, self._cells, self.columns.widths(width), strict=True):
            if cells:
                words = self._words(column, cell, cells, self._indent if not pieces else 0)
                look = role_style(cell.role or column.role)
                pieces += [Content(" " * GAP)] if pieces else []
                pieces.append(words.stylize_before(f"bold {look}" if cell.is_bold else look))
        return Content.assemble(*pieces).render_strips(width, height, style, options)

    def _words(self, column: Column, cell: Cell, cells: int, indent: int) -> Content:
        """The words of a cell, as wide as its column."""
        if cell.spans:
            return _marked(cell.words, cell.spans, cells)
        cut = crop if column.rank == 0 or column.is_phrase else crop_middle
        words = " " * indent + cut(cell.words, cells - indent)
        return Content(" " * (cells - cell_width(words)) + words if column.is_number else padded(words, cells))


def _marked(line: str, spans: Sequence[Span], cells: int) -> Content:
    """A line with its places marked, cut on both sides where there is too little space."""
    start = cut_before(line, spans[0].start, cells)
    cut = _CUT if start else ""
    shown = Content(crop(line[start:], cells - len(cut)))
    for span in spans:
        if start <= span.start < start + len(shown):
            shown = shown.stylize(FOUND_STYLE, span.start - start, min(len(shown), span.end - start))
    free = cells - len(cut) - cell_width(shown.plain)
    return Content.assemble(cut, shown, " " * free)


def _needed(widths: Sequence[int]) -> int:
    shown = [width for width in widths if width]
    return sum(shown) + GAP * max(0, len(shown) - 1)
