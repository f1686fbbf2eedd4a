"""The row of notices: part of the layout, so it covers nothing and no border cuts its words.

A sign and a ground of its own, reversed in the terminal's colours, distinguish it from the text above it.
"""

from __future__ import annotations

from typing import Final

from textual.notifications import SeverityLevel
from textual.widgets import Static

from flowcabal_tui.tui.widgets.cells import cell_width, crop, is_plain, padded
from flowcabal_tui.tui.widgets.role_words import key_words, without_backticks

LEFT_CELLS: Final = 5
"""Cells kept free at the end for the number of waiting notices, such as ` +3`."""
_SIGN_CELLS: Final = 2
"""Cells of the sign before the words, which the sign of a warning replaces."""


class NoticeRow(Static):
    """The row of notices. `-added`: mounted only while there is a notice, above the page's keys, else `-docked`."""

    DEFAULT_CSS = """
    NoticeRow { height: 1; width: 1fr; padding: 0 1; text-wrap: nowrap; }
    NoticeRow.-docked { dock: bottom; }
    NoticeRow.-filled { background: $panel; text-style: $marked; }
    NoticeRow.-warning { color: $text-warning; }
    NoticeRow.-error { color: $text-error; text-style: $block-cursor-text-style; }
    """

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__("", markup=False, classes=classes)
        self.words = ""

    def show_row(self, words: str, left: int, severity: SeverityLevel) -> None:
        """Shows a row of words, with the number of further ones (`left`) and a colour for the severity."""
        for name in ("warning", "error"):
            self.set_class(name == severity, f"-{name}")
        self.set_class(bool(words), "-filled")
        if self.has_class("-added"):
            self.display = bool(words)
        if (words := self._fitting(words, left)) != self.words:
            self.words = words
            self.update(key_words(words), layout=False)

    def _fitting(self, words: str, left: int) -> str:
        space = row_space(self.app.size.width) + _SIGN_CELLS
        if words and not words.startswith("! "):
            words = f"{'>' if is_plain(self.app) else '»'} {words}"
        if not left or not words:
            return crop(words, space + LEFT_CELLS)
        cut = crop(words, space)
        hidden = cell_width(cut) - cell_width(without_backticks(cut))
        return padded(cut, space + hidden) + f" +{left}"


def row_space(width: int) -> int:
    """The cells available for words in a terminal of that width."""
    return max(1, width - 2 - _SIGN_CELLS - LEFT_CELLS)
