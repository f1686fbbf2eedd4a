"""One row with the chapter as of which a page shows data, and its place in the book."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.widgets import Static

from flowcabal_tui.locale import _
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.roles import role_style

_BAR: Final = 24


class ChapterSlider(Static):
    """Such as `[───●──────] as of chapter 12 of 120   12 The Ferry`; the keys belong to the screen."""

    DEFAULT_CSS = "ChapterSlider { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, *, plain: bool = False) -> None:
        """`plain` draws it in ASCII."""
        super().__init__(markup=False)
        self._line, self._mark = ("-", "o") if plain else ("─", "●")

    def show(self, position: int, chapters: int, title: str) -> None:
        """Sets the chapter by its position; 0 is before the book."""
        left = round((_BAR - 1) * position / max(1, chapters))
        bar = f"[{self._line * left}{self._mark}{self._line * (_BAR - 1 - left)}]"
        words = _("as of chapter {n} of {count}").format(n=position, count=chapters) if position else ""
        self.update(Content.assemble((bar, role_style("secondary")), f" < {facts_words(words, title)} >"))
