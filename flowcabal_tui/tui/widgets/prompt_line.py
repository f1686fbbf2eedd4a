"""One line of input: a search, a name, an instruction."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widgets import Input, Static

from flowcabal_tui.domain.overview import LONGEST_CHAPTER
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen


class PromptLine(TypedScreen[str]):
    """Asks for one line at the bottom of the screen; returns None after Escape."""

    DEFAULT_CSS = """
    PromptLine { align: center bottom; background: transparent; }
    PromptLine > Vertical { height: auto; background: $surface; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", mark("Leave"), id="prompt.leave")]

    def __init__(self, title: str, *, value: str = "", suggester: Suggester | None = None) -> None:
        """`suggester` completes the input; the right arrow accepts it."""
        super().__init__()
        self._completes = suggester
        self._question = clean(title)
        self._first_value = clean(value).replace("\n", " ")

    def compose(self) -> ComposeResult:
        """Yields the question and the line."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._first_value, suggester=self._completes, compact=True)

    def on_mount(self) -> None:
        """Focuses the input."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Submits on Enter."""
        event.stop()
        self.answer()

    def answer(self) -> None:
        """Returns the line."""
        self.dismiss(clean(self.query(Input).first().value))


class RunLine(PromptLine):
    """Asks for the instruction of a run and, in a second field, for the length of its chapter: `length`, in digits."""

    DEFAULT_CSS = """
    RunLine Horizontal { height: 1; }
    RunLine Horizontal > Static { width: auto; }
    RunLine Horizontal > Input { width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", mark("Next field"), show=False, id="run-line.next"),
        Binding("up", "app.focus_previous", mark("Previous field"), show=False, id="run-line.previous"),
    ]

    def __init__(self, title: str, *, value: str, length: str, label: str, usual: str) -> None:
        """`usual` is the value used if the field is empty."""
        super().__init__(title, value=value)
        self.length, self._label, self._usual = length, label, usual

    def compose(self) -> ComposeResult:
        """Yields the question, the line, and the row of the length."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._first_value, compact=True)
            with Horizontal():
                yield Static(f"{self._label} " if self._label.isascii() else self._label, markup=False)
                yield Input(self.length, placeholder=self._usual, restrict=r"[0-9]*", max_length=5, compact=True)

    def answer(self) -> None:
        """Returns both fields, unless the length is impossible for a chapter."""
        self.length = self.query(Input).last().value.lstrip("0")
        if self.length and int(self.length) > LONGEST_CHAPTER:
            self.notify(_("A chapter can have a length of at most {n}.").format(n=f"{LONGEST_CHAPTER:,}"), markup=False)
            return
        super().answer()


class FindLine(PromptLine):
    """Asks for the words to find in the text. Since they are quickly retyped, Esc leaves at once."""

    def __init__(self) -> None:
        super().__init__(_("Find"))

    def action_leave(self) -> None:
        """Closes without an answer."""
        self.dismiss(None)
