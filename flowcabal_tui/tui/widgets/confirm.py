"""A question with two answers; the one that changes nothing is the default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Button, Static

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.role_words import key_words


class ConfirmScreen(ModalScreen[bool]):
    """Asks `title`, explains with `words`; returns True for yes. Enter, Escape and `n` mean no."""

    DEFAULT_CSS = """
    ConfirmScreen { align: center middle; }
    ConfirmScreen > Vertical {
        width: 80%; max-width: 72; height: auto; max-height: 90%;
        border: round $warning; background: $surface; padding: 0 1;
    }
    ConfirmScreen .confirm-title { text-style: bold; }
    ConfirmScreen .confirm-words { margin: 1 0; height: auto; }
    ConfirmScreen Horizontal { height: auto; align-horizontal: right; }
    ConfirmScreen Button { margin-left: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", mark("Yes"), id="confirm.yes"),
        Binding("n,escape", "answer(False)", mark("No"), id="confirm.no"),
        Binding("left,right,h,l", "app.focus_next", show=False, id="confirm.other"),
    ]

    def __init__(self, title: str, words: str = "", *, yes: str = "", no: str = "") -> None:
        super().__init__()
        self._question = clean(title)
        self._words = clean(words)
        self._yes = yes or _("Yes")
        self._no = no or _("No")

    def compose(self) -> ComposeResult:
        """Yields the question, the words, No and Yes."""
        with Vertical():
            yield Static(self._question, markup=False, classes="confirm-title")
            if self._words:
                yield Static(key_words(self._words), markup=False, classes="confirm-words")
            with Horizontal():
                yield Button(f"n  {self._no}", id="no", compact=True)
                yield Button(f"y  {self._yes}", id="yes", compact=True)

    def on_mount(self) -> None:
        """Focuses No, so that Enter changes nothing."""
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Returns the answer of a button."""
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Returns the answer of a key."""
        self.dismiss(yes)


def past_typed(screen: Screen[Any], is_changed: bool, go: Callable[[], object]) -> None:
    """Leaves an editor at once, or after a question if text was typed."""

    def answered(leave: bool | None) -> None:
        if leave:
            go()

    if is_changed:
        words = _("The text that you typed here cannot be recovered.")
        screen.app.push_screen(ConfirmScreen(_("Discard the unsaved text?"), words), answered)
    else:
        go()
