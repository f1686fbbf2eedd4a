"""Rows of a list that adapt to its width: one keeps its end in view, the other wraps below its first word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from flowcabal_tui.tui.widgets.cells import cell_width, crop
from flowcabal_tui.tui.widgets.prose_wrap import wrap
from flowcabal_tui.tui.widgets.roles import role_style

_LEAST = 4


class EndedRow(Visual):
    """One row of three parts: where there is too little space, the middle is cut with `…` and the end stays."""

    def __init__(self, start: str, middle: str, end: str, *, is_bold: bool = False) -> None:
        self._start, self._middle, self._end, self._style = start, middle, end, "bold" if is_bold else ""

    def __str__(self) -> str:
        return self._start + self._middle + self._end

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All of it in one row."""
        return cell_width(str(self))

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One row, for any width."""
        return 1

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """The row; at least a few cells of the middle are shown."""
        space = max(_LEAST, width - cell_width(self._start) - cell_width(self._end))
        row = Content.assemble(
            self._start, (crop(self._middle, space), self._style), (self._end, role_style("secondary"))
        )
        return row.render_strips(width, height, style, options)


class RowInSight(Visual):
    """A row whose words are made when it becomes visible: a list of ten thousand appears at once."""

    def __init__(self, draw: Callable[[], HangingRow], most_cells: int) -> None:
        """The row that `draw` returns is at most `most_cells` wide."""
        self._draw, self._most_cells = draw, most_cells

    @cached_property
    def _row(self) -> HangingRow:
        return self._draw()

    def __str__(self) -> str:
        return str(self._row)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All of it in one row."""
        return self._row.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows of its words, which are not made if one row is surely enough."""
        return 1 if self._most_cells <= width else self._row.get_height(rules, width)

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """The rows, from the first one on."""
        return self._row.render_strips(width, height, style, options)


class HangingRow(Visual):
    """Words between a dim label and dim words, wrapped; every row after the first begins below the first word."""

    def __init__(self, sign: str, words: str, dim: str = "", *, label: str = "") -> None:
        """`sign` precedes the label; the rows below are indented by its width."""
        self._sign, self._label, self._words, self._dim = sign, label, words, dim

    def __str__(self) -> str:
        return self._sign + self._label + self._words + self._dim

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All of it in one row."""
        return cell_width(str(self))

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows of its words."""
        return 1 if cell_width(str(self)) <= width else len(self._wrapped(width))

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """The rows, from the first one on."""
        rows = [strip for row in self._rows(width) for strip in row.render_strips(width, None, style, options)]
        return rows[:height]

    def _wrapped(self, width: int) -> list[str]:
        return wrap(self._label + self._words + self._dim, max(_LEAST, width - cell_width(self._sign)))

    def _rows(self, width: int) -> Iterator[Content]:
        look = role_style("secondary")
        label = ((self._label, look),) if self._label else ()
        content, start = Content.assemble(*label, self._words, (self._dim, look)), 0
        for words in self._wrapped(width):
            before = " " * cell_width(self._sign) if start else self._sign
            yield Content.assemble(before, content[start : start + len(words.rstrip())])
            start += len(words)
