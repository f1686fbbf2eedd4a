"""Jump mode: a letter over each pane; pressing it focuses the pane."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from flowcabal_tui.locale import _, mark


@runtime_checkable
class Jumpable(Protocol):
    """A widget with a jump key: one character, unique on its screen."""

    jump_key: str


def jump_targets(screen: Screen[object]) -> dict[str, Widget]:
    """The visible widgets of `screen` with jump keys, by key; the first widget of a key wins."""
    targets: dict[str, Widget] = {}
    for widget in screen.walk_children(Widget):
        if isinstance(widget, Jumpable) and widget.is_on_screen and widget.region.area and not widget.disabled:
            targets.setdefault(widget.jump_key, widget)
    return targets


class JumpOverlay(ModalScreen[Widget | None]):
    """Shows letters over the panes of `screen`; focuses and returns the chosen pane."""

    HIDES_NOTICES: ClassVar[bool] = True
    DEFAULT_CSS = """
    JumpOverlay { layers: letters; background: $background 20%; }
    JumpOverlay .jump-letter {
        layer: letters; position: absolute; width: 5; height: 1; text-align: center; text-style: bold reverse;
    }
    JumpOverlay .jump-hint { dock: bottom; text-align: center; width: 1fr; text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", mark("Leave"), id="jump.leave")]

    def __init__(self, screen: Screen[object]) -> None:
        super().__init__()
        self._targets = jump_targets(screen)

    def compose(self) -> ComposeResult:
        """Yields a letter in the upper left corner of each target."""
        for key, target in self._targets.items():
            letter = Static(f"[{key}]", markup=False, classes="jump-letter")
            letter.absolute_offset = Offset(target.region.x + 1, target.region.y)
            yield letter
        yield Static(_("Press a letter to go there, Esc to stay."), markup=False, classes="jump-hint")

    def on_key(self, event: Key) -> None:
        """Goes to the pane of a letter; ignores other keys."""
        target = self._targets.get(event.character or "") or self._targets.get(event.key)
        if target is not None:
            event.stop()
            self.dismiss(target)
            focus = (
                target
                if target.focusable
                else next((child for child in target.walk_children(Widget) if child.focusable), None)
            )
            if focus is not None:
                focus.focus()
