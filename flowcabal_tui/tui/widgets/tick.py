"""A box to tick."""

from __future__ import annotations

from textual.widgets import Checkbox


class Tick(Checkbox):
    """A checkbox that shows its state without colour: Textual's shows its cross in both states."""

    def on_mount(self) -> None:
        """As it is at first."""
        self._draw_state()

    def watch_value(self) -> None:
        """As it is from now on."""
        self._draw_state()
        super().watch_value()

    def _draw_state(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "
