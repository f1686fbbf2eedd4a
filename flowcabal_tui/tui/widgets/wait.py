"""Work that has to end before the next question: it keeps the keys, shows its seconds, and can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, Final, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.locale import _, mark

T = TypeVar("T")
UNSEEN_SECONDS: Final = 0.3
"""Work that ends sooner paints nothing."""


class WaitScreen(ModalScreen[None]):
    """Shows `words` and the seconds until `work` has ended; `escape` cancels it."""

    DEFAULT_CSS = """
    WaitScreen { align: center middle; background: transparent; }
    WaitScreen > Vertical {
        display: none; width: 80%; max-width: 72; height: auto;
        border: round $warning; background: $surface; padding: 0 1;
    }
    WaitScreen.-slow > Vertical { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", mark("Cancel"), id="wait.leave")]

    def __init__(self, words: str, work: asyncio.Future[Any]) -> None:
        super().__init__()
        self.words, self._work, self._seconds = words, work, 0

    def compose(self) -> ComposeResult:
        """The words, and the line with the seconds and the key."""
        with Vertical():
            yield Static(self.words, markup=False)
            yield Static(self._passed(), markup=False, id="passed")

    def on_mount(self) -> None:
        """Follows the work."""
        self.set_timer(UNSEEN_SECONDS, lambda: self.add_class("-slow"))
        self.set_interval(1, self._count)
        self._work.add_done_callback(lambda _work: self.call_later(self.on_screen_resume))

    def on_screen_resume(self) -> None:
        """Leaves when the work is done; under another screen, as soon as that has closed."""
        if self._work.done() and self.is_current:
            self.dismiss(None)

    def _count(self) -> None:
        self._seconds += 1
        self.query_one("#passed", Static).update(self._passed())

    def _passed(self) -> str:
        return _("{n} s   Esc: cancel").format(n=self._seconds)

    def action_leave(self) -> None:
        """Cancels the work."""
        self._work.cancel()


async def awaited(app: App[Any], words: str, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of `work`, or None when the writer stopped it; nothing else takes a key meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        await app.push_screen_wait(WaitScreen(words, task))
    finally:
        task.cancel()
    return None if task.cancelled() else task.result()
