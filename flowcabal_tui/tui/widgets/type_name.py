"""A question that is answered by typing a name: for actions that cannot be undone."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark


class TypeNameScreen(ModalScreen[bool]):
    """Asks `title`, explains with `words`; returns True when exactly `name` was typed, ignoring blanks at its ends."""

    DEFAULT_CSS = """
    TypeNameScreen { align: center middle; }
    TypeNameScreen > Vertical {
        width: 80%; max-width: 72; height: auto; max-height: 90%;
        border: round $error; background: $surface; padding: 0 1;
    }
    TypeNameScreen .type-title { text-style: bold; }
    TypeNameScreen .type-words { margin: 1 0; height: auto; }
    TypeNameScreen .type-wrong { height: auto; color: $text-error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(False)", mark("Leave"), id="typename.leave")]

    def __init__(self, title: str, words: str, name: str) -> None:
        super().__init__()
        self._question, self._words, self._name = clean(title), clean(words), name.strip()

    def compose(self) -> ComposeResult:
        """Yields the question, the words, the expected name, and the input."""
        with Vertical():
            yield Static(self._question, markup=False, classes="type-title")
            yield Static(self._words, markup=False, classes="type-words")
            yield Static(_("Type {name} and press Enter. Esc: cancel.").format(name=self._name), markup=False)
            yield Input(compact=True)
            yield Static(markup=False, classes="type-wrong")

    def on_mount(self) -> None:
        """Focuses the empty input, so that Enter changes nothing."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Returns True only for the name itself."""
        event.stop()
        if self._name and event.value.strip() == self._name:
            self.dismiss(True)
        else:
            self.query_one(".type-wrong", Static).update(_("That is not the name. Nothing was changed."))
