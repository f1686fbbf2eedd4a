"""One choice out of a list."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.panes.lists import PickList


class ChooseScreen(ModalScreen[str | None]):
    """A title and lines to choose from; None when it was left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", mark("Cancel"), id="choose.cancel")]

    def __init__(self, title: str, choices: tuple[tuple[str, str], ...]) -> None:
        """`choices` are (id, words)."""
        super().__init__()
        self._title_words, self._choices = title, choices

    def compose(self) -> ComposeResult:
        """The lines, the first under the cursor."""
        with Vertical(classes="dialog"):
            yield Static(self._title_words, markup=False, classes="dialog-title")
            yield PickList()
            yield Static(_("Enter: choose   Esc: cancel"), markup=False, classes="dialog-keys")

    def on_mount(self) -> None:
        """Words of projects and models are cleaned."""
        lines = self.query_one(PickList)
        lines.add_options([Option(clean(words), id=key) for key, words in self._choices])
        lines.action_first()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Enter gives the id back."""
        self.dismiss(event.option_id)
