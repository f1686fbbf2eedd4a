"""Delivers keys one by one: each after the effect of the previous one.

Textual (8.2.8) puts a key into the queue of the focused widget. Letters are used there; a key with a binding moves on
to the queue of the app, where its action runs. So when several keys arrive in one read (a slow line, a busy machine),
letters overtake Backspace, and text typed for a dialog goes to the widget below it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from math import inf
from typing import Any, Final

from textual.app import App, ScreenStackError
from textual.events import Event, Key, Paste
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

PATIENCE: Final = 2.0
"""Seconds that keys wait for the one before them; then they go all at once, in Textual's order."""
TYPING_PAUSE: Final = 1.0
"""Seconds without a key after which a writer has seen a question that opened over the text being typed."""


class KeyOrder:
    """Passes keys and pastes to an app in order; a single one is never delayed.

    It waits by callbacks, since a queue preserves order: after letters, one callback in the queue of the focused
    widget, which uses them; after any other key, one in each queue on its way from the focus to the app, where its
    action runs. A worker started by the action is awaited only up to its first pause, or until `begun` is set.
    """

    def __init__(self, app: App[Any], give: Callable[[Event], Awaitable[None]], begun: asyncio.Event) -> None:
        """`give` is Textual's own handler for a terminal event; `begun` is cleared while a command is on its way to
        its page."""
        self._app, self._give, self._begun = app, give, begun
        self._waiting: deque[Key | Paste] = deque()
        self._is_busy = False
        self._typed: tuple[Screen[Any] | None, float] = None, -inf
        self._task: asyncio.Task[None] | None = None

    async def take(self, event: Key | Paste) -> None:
        """Delivers a key at once, or after the pending ones; called by the app's event handler."""
        self._waiting.append(event)
        if not self._is_busy:
            await self._go_on()

    async def _go_on(self) -> None:
        """Gives out all letters up to the next key that may have an action, or that key."""
        self._is_busy = bool(self._waiting)
        if not self._waiting:
            return
        end: Coroutine[None, None, None]
        if self._is_used_up(self._waiting[0]):
            while self._waiting and self._is_used_up(self._waiting[0]):
                self._typed = self._app.screen, self._waiting[0].time
                await self._give(self._waiting.popleft())
            end = _reached(self._place())
        elif self._goes_on_typing(self._waiting[0]):
            self._typed = self._typed[0], self._waiting.popleft().time
            end = _reached(self._place())
        else:
            self._typed = None, -inf
            await self._give(self._waiting.popleft())
            end = self._acted(self._place().ancestors_with_self)
        self._task = asyncio.create_task(self._follow(end))

    def _is_used_up(self, event: Key | Paste) -> bool:
        """True when the focused widget itself uses the key, as an editor uses letters."""
        return isinstance(event, Paste) or self._place().check_consume_key(event.key, event.character)

    def _goes_on_typing(self, event: Key | Paste) -> bool:
        """True when the key belongs to text being typed as a question opened over it, so it must not answer the
        question."""
        screen, (typed_on, typed_at) = self._app.screen, self._typed
        if typed_on in (None, screen) or not isinstance(screen, ModalScreen) or isinstance(event, Paste):
            return False
        is_text = event.is_printable or event.key in ("enter", "backspace")
        return is_text and event.time - typed_at < TYPING_PAUSE

    async def _follow(self, end: Coroutine[None, None, None]) -> None:
        """Gives out the next keys when those before have come to their `end`."""
        try:
            async with asyncio.timeout(PATIENCE):
                await end
                if not self._begun.is_set():
                    await self._begun.wait()
                    await self._acted(())
        except (TimeoutError, ScreenStackError):  # a queue does not move, or the app is closing
            while self._waiting:
                self._app.call_later(self._give, self._waiting.popleft())
        self._app.call_later(self._go_on)

    async def _acted(self, way: Iterable[MessagePump]) -> None:
        """Waits until an action has run, its messages are handled and the focus has moved."""
        for node in way:
            await _reached(node)
        place: Widget | None = None
        while place is not (now := self._place()):
            place = now
            for node in now.ancestors_with_self:
                await _reached(node)

    def _place(self) -> Widget:
        """The widget that gets the keys."""
        return self._app.focused or self._app.screen


async def _reached(node: MessagePump) -> None:
    """Returns when all that is in the queue of `node` now has been handled."""
    reached = asyncio.Event()
    if node.call_later(reached.set):
        await reached.wait()
