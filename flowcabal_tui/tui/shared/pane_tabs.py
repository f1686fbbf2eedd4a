"""One row of pane names with their digits; the pane in view is in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from flowcabal_tui.locale import _


@dataclass
class PaneChosen(Message):
    """A name was clicked."""

    pane: str


class PaneTabs(Static):
    """Names of panes, such as ` 3 Manuscript [4 Output] 5 Prompt `.

    One widget for all names: styling a widget for each took a tenth of the time in which a book is opened.
    """

    DEFAULT_CSS = "PaneTabs { height: 1; background: $panel; text-wrap: nowrap; }"

    def __init__(self, panes: tuple[tuple[str, str, str], ...], *, classes: str = "") -> None:
        """`panes` are (digit, id, words marked for translation)."""
        self._panes_named, self._shown_pane = panes, ""
        super().__init__(self._row(), classes=classes, markup=False)

    @property
    def panes(self) -> set[str]:
        """Ids of the panes that are named here."""
        return {pane for _digit, pane, _words in self._panes_named}

    def show(self, pane: str) -> None:
        """Marks the pane that is shown: brackets say it, and bold where there is bold."""
        if pane != self._shown_pane:
            self._shown_pane = pane
            self.update(self._row(), layout=False)

    def _names(self) -> Iterator[tuple[str, Content]]:
        for digit, pane, words in self._panes_named:
            name = f"{digit} {_(words)}"
            yield pane, Content.styled(f"[{name}]", "bold") if pane == self._shown_pane else Content(f" {name} ")

    def _row(self) -> Content:
        return Content("").join(name for _pane, name in self._names())

    def on_click(self, event: Click) -> None:
        """The mouse is a second way; digits are the first."""
        left = event.x
        for pane, name in self._names():
            left -= name.cell_length
            if left < 0:
                self.post_message(PaneChosen(pane))
                return
