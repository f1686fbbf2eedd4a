"""A box to tick."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Checkbox


class Tick(Checkbox):
    """A checkbox that shows itself and its state without colour: `[ ]` or `[X]`, as bright as its words.

    Textual's shows its cross in both states, and an empty box as dark as what it lies on.
    """

    @property
    def _button(self) -> Content:
        return Content(f"[{self.BUTTON_INNER}]")

    def on_mount(self) -> None:
        """As it is at first."""
        self._draw_state()

    def watch_value(self) -> None:
        """As it is from now on."""
        self._draw_state()
        super().watch_value()

    def _draw_state(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "
