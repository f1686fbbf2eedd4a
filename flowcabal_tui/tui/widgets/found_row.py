"""A row of a list that shows words within their line: the match stays visible, however narrow the row."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.tui.widgets.cells import WIDTHS, cell_width, crop
from flowcabal_tui.tui.widgets.roles import role_style

_BEFORE = 3
"""The part of the row that may stand before the first place: one third."""
_CUT = "…"
FOUND_STYLE = "bold underline"


def cut_before(line: str, first: int, cells: int) -> int:
    """From which character on the line is shown, so that the one at `first` is within the first third of `cells`."""
    if cell_width(line) <= cells:
        return 0
    space, start = cells // _BEFORE, first
    while start > 0 and space >= WIDTHS[line[start - 1]]:
        start -= 1
        space -= WIDTHS[line[start]]
    return start if start > 1 else 0


class FoundRow(Visual):
    """One row: dim words, then the line, cut on both sides where there is no space, with the places marked."""

    def __init__(self, before: str, line: str, spans: Sequence[Span]) -> None:
        self._head, self._line, self._spans = before, line.replace("\t", " "), tuple(spans)

    def __str__(self) -> str:
        return self._head + self._line

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All of it in one row."""
        return cell_width(str(self))

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One row, for any width."""
        return 1

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """The row; the head takes half of it at most."""
        head = crop(self._head, width // 2)
        space = width - cell_width(head)
        start = cut_before(self._line, self._spans[0].start if self._spans else 0, space)
        cut = _CUT if start else ""
        shown = Content(crop(self._line[start:], space - len(cut)))
        for span in self._spans:
            if start <= span.start < start + len(shown):
                shown = shown.stylize(FOUND_STYLE, span.start - start, min(len(shown), span.end - start))
        return Content.assemble((head, role_style("secondary")), cut, shown).render_strips(
            width, height, style, options
        )
