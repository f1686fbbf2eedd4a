"""The time from a key until the rows of the list that it opens are in sight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.waiting import settled, until

_LOOKS: Final = 10_000
_SLICE: Final = 0.002
"""Seconds between two looks at the screen; the thread that reads needs the interpreter meanwhile."""


async def drawn_after(pilot: Pilot[int], key: Key, is_listed: Callable[[Screen[object]], bool]) -> tuple[float, float]:
    """Milliseconds from the key until rows are drawn, and those of the processor; then the list is left."""
    begun, used = time.perf_counter(), time.process_time()
    pilot.app.post_message(key)
    for _look in range(_LOOKS):
        if is_listed(pilot.app.screen):
            break
        await asyncio.sleep(_SLICE)
    await pilot._wait_for_screen()
    pilot.app.screen._on_timer_update()
    taken = (time.perf_counter() - begun) * 1000, (time.process_time() - used) * 1000
    await settled(pilot)
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
    return taken
