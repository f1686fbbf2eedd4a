"""One row of pane names with their digits; the one that is shown stands in brackets."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from flowcabal_tui.locale import _


@dataclass
class PaneChosen(Message):
    """A name was clicked."""

    pane: str


class _PaneName(Static):
    """A clickable name."""

    def __init__(self, pane: str, words: str) -> None:
        super().__init__(f" {words} ", markup=False)
        self.pane, self._plain_words = pane, words

    def mark_shown(self, shown: bool) -> None:
        """Brackets say it, and bold where there is bold."""
        if shown != self.has_class("-shown"):
            self.set_class(shown, "-shown")
            self.update(f"[{self._plain_words}]" if shown else f" {self._plain_words} ", layout=False)

    def on_click(self, event: Click) -> None:
        """The mouse is a second way; digits are the first."""
        self.post_message(PaneChosen(self.pane))


class PaneTabs(Horizontal):
    """Names of panes, such as ` 3 Manuscript [4 Output] 5 Prompt `."""

    DEFAULT_CSS = """
    PaneTabs { height: 1; background: $panel; }
    PaneTabs > Static { width: auto; height: 1; }
    PaneTabs > .-shown { text-style: bold; }
    """

    def __init__(self, panes: tuple[tuple[str, str, str], ...], *, classes: str = "") -> None:
        """`panes` are (digit, id, words marked for translation)."""
        super().__init__(classes=classes)
        self._panes_named = panes

    @property
    def panes(self) -> set[str]:
        """Ids of the panes that are named here."""
        return {pane for _digit, pane, _words in self._panes_named}

    def compose(self) -> ComposeResult:
        """One name a pane."""
        for digit, pane, words in self._panes_named:
            yield _PaneName(pane, f"{digit} {_(words)}")

    def show(self, pane: str) -> None:
        """Marks the pane that is shown."""
        for name in self.query(_PaneName):
            name.mark_shown(name.pane == pane)
