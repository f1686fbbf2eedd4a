"""Rows of a list that adapt to its width: they wrap below their first word, between two facts if possible."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from flowcabal_tui.domain.text import FACTS_APART
from flowcabal_tui.tui.widgets.cells import cell_width
from flowcabal_tui.tui.widgets.prose_wrap import wrap_parts
from flowcabal_tui.tui.widgets.roles import role_style

_LEAST = 4


class HangingRow(Visual):
    """Words between a dim label and dim words, wrapped; every row after the first begins below the first word."""

    def __init__(self, sign: str, words: str, dim: str = "", *, label: str = "") -> None:
        """`sign` precedes the label; the rows below are indented by its width."""
        self._sign, self._label, self._words, self._dim = sign, label, words, dim

    def __str__(self) -> str:
        return self._sign + self._label + self._words + self._dim

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Returns the width of everything on one row."""
        return cell_width(str(self))

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Returns the number of rows."""
        return 1 if cell_width(str(self)) <= width else len(self._wrapped(width))

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Renders the rows, from the first one on."""
        rows = [strip for row in self._rows(width) for strip in row.render_strips(width, None, style, options)]
        return rows[:height]

    def _wrapped(self, width: int) -> list[str]:
        facts = (self._label + self._words + self._dim).split(FACTS_APART)
        parts = [*(f"{fact}{FACTS_APART}" for fact in facts[:-1]), facts[-1]]
        return wrap_parts(parts, max(_LEAST, width - cell_width(self._sign)))

    def _rows(self, width: int) -> Iterator[Content]:
        look = role_style("secondary")
        label = ((self._label, look),) if self._label else ()
        content, start = Content.assemble(*label, self._words, (self._dim, look)), 0
        for words in self._wrapped(width):
            before = " " * cell_width(self._sign) if start else self._sign
            yield Content.assemble(before, content[start : start + len(words.rstrip())])
            start += len(words)
