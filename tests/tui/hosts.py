"""An app around one pane or screen, for tests: what was posted, and what is on the screen."""

from __future__ import annotations

from typing import Any, ClassVar

from textual._context import visible_screen_stack
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from flowcabal_tui.tui.app.theme_choice import role_defaults

HOSTILE = "[/] [b]bold[/b] \x1b[31mred\x1b[0m \x1b]0;title\x07 \u202egnp\u202c {x} $y"


class Host(App[None]):
    """Shows one widget and notes every message of our own that reaches the app."""

    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [(0, "-narrow"), (100, "-wide")]

    def __init__(self, pane: Widget | None = None) -> None:
        super().__init__()
        self._pane = pane
        self.seen: list[Message] = []

    def compose(self) -> ComposeResult:
        if self._pane is not None:
            yield self._pane

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of roles, as in the app."""
        return role_defaults()

    async def _dispatch_message(self, message: Message) -> None:
        if type(message).__module__.startswith("flowcabal_tui."):
            self.seen.append(message)
        await super()._dispatch_message(message)

    def posted(self, owner: type) -> list[Message]:
        """The messages that are nested in `owner`, in order."""
        return [item for item in self.seen if type(item).__qualname__.startswith(f"{owner.__name__}.")]


def shown(app: App[Any]) -> list[str]:
    """The rows on the screen as text, with those of the screens that it lets through."""
    visible_screen_stack.set(app._background_screens)
    width, height = app.size
    return [strip.text for strip in app.screen._compositor.render_strips(app.size)][:height] if width else []
