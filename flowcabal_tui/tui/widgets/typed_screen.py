"""A screen with fields to fill in, which discards nothing without asking."""

from __future__ import annotations

from typing import TypeVar

from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select, TextArea

from flowcabal_tui.tui.widgets.confirm import past_typed

T = TypeVar("T")


class TypedScreen(ModalScreen[T | None]):
    """Returns the typed value, or None when it was left: at once if nothing was changed, else after a question."""

    def on_mount(self) -> None:
        """Records the initial values of the fields. Textual calls this in addition to the method of a subclass."""
        self._initial = self.typed_values()

    def typed_values(self) -> object:
        """The contents of the fields."""
        fields = (each for each in self.query(Widget) if isinstance(each, (Checkbox, Input, Select, TextArea)))
        return [each.text if isinstance(each, TextArea) else each.value for each in fields]

    def action_leave(self) -> None:
        """Leaves without a change; typed text is discarded only after a question."""
        past_typed(self, self.typed_values() != self._initial, lambda: self.dismiss(None))
