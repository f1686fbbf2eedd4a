"""An error for the user: the failure, the state of their text, the next step."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.role_words import key_words


class ErrorScreen(ModalScreen[None]):
    """Title, detail and advice of a FlowCabalError."""

    DEFAULT_CSS = """
    ErrorScreen { align: center middle; }
    ErrorScreen > VerticalScroll {
        width: 80%; max-width: 78; height: auto; max-height: 80%;
        border: round $error; background: $surface; padding: 0 1;
    }
    ErrorScreen Static { height: auto; margin-bottom: 1; }
    ErrorScreen .error-title { text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss", mark("Close"), id="error.close"),
    ]

    def __init__(self, error: FlowCabalError) -> None:
        super().__init__()
        self._error_parts = (error.title, error.detail, error.advice)

    def compose(self) -> ComposeResult:
        """Yields the error, the state of the text, and the next step."""
        title, detail, advice = (clean(part) for part in self._error_parts)
        with VerticalScroll():
            yield Static(f"! {title}", markup=False, classes="error-title")
            if detail:
                yield Static(key_words(detail), markup=False)
            if advice:
                yield Static(key_words(f"-> {advice}"), markup=False)
            yield Static(_("Esc closes this."), markup=False)
