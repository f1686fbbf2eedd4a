"""One line of input: a search, a name, an instruction."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen


class PromptLine(TypedScreen[str]):
    """Asks for one line at the foot of the screen; None when it was left with escape."""

    DEFAULT_CSS = """
    PromptLine { align: center bottom; background: transparent; }
    PromptLine > Vertical { height: auto; background: $surface; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", mark("Leave"), id="prompt.leave")]

    def __init__(self, title: str, *, value: str = "", placeholder: str = "") -> None:
        super().__init__()
        self._question = clean(title)
        self._first_value = clean(value).replace("\n", " ")
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """The question and the line."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._first_value, placeholder=self._placeholder, compact=True)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter answers."""
        event.stop()
        self.dismiss(clean(event.value))


class FindLine(PromptLine):
    """Asks for the words to find in what is shown; they are typed again soon enough, so Esc leaves at once."""

    def __init__(self) -> None:
        super().__init__(_("Find"))

    def action_leave(self) -> None:
        """No answer."""
        self.dismiss(None)
