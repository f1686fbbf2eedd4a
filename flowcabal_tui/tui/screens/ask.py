"""One line of text from the writer."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from flowcabal_tui.locale import _, mark


class AskScreen(ModalScreen[str | None]):
    """A question and one line; None when it was left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", mark("Cancel"), id="ask.cancel")]

    def __init__(self, question: str, answer: str = "") -> None:
        super().__init__()
        self._question_words, self._first_answer = question, answer

    def compose(self) -> ComposeResult:
        """The question over the line."""
        with Vertical(classes="dialog"):
            yield Static(self._question_words, markup=False, classes="dialog-title")
            yield Input(self._first_answer)
            yield Static(_("Enter: done   Esc: cancel"), markup=False, classes="dialog-keys")

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Enter gives the line back; it may be empty."""
        self.dismiss(event.value.strip())
