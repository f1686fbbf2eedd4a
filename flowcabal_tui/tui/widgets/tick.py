"""A checkbox."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Checkbox


class TickBox(Checkbox):
    """A checkbox that shows its state without colour: `[ ]` or `[X]`, as bright as its label.

    Textual's shows its cross in both states, and an empty box as dark as its background.
    """

    @property
    def _button(self) -> Content:
        return Content(f"[{self.BUTTON_INNER}]")

    def on_mount(self) -> None:
        """Draws the initial state."""
        self._draw_state()

    def watch_value(self) -> None:
        """Draws the new state."""
        self._draw_state()
        super().watch_value()

    def _draw_state(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "
