"""Waiting for what the loop brings about, however busy the machine is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from flowcabal_tui.tui.screens.search import SearchScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Waits for something that the loop will bring about; fails after ten seconds."""
    async with asyncio.timeout(10):
        while not holds():
            await pilot.pause()


async def leave(pilot: Pilot[Any], *keys: str) -> None:
    """Presses keys and Esc, and says yes to the question whether what was typed may go."""
    await pilot.press(*keys, "escape")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
    question = pilot.app.screen
    await pilot.press("y")
    await until(pilot, lambda: pilot.app.screen is not question)


async def answered(pilot: Pilot[Any]) -> None:
    """A search shows the hits of what is typed, and workers have ended; one that waits for a key is left."""
    await pilot.pause()
    await until(pilot, lambda: not isinstance(found := pilot.app.screen, SearchScreen) or found.is_answered)
    for _round in range(10):
        await pilot.pause(0.02)
        if all(worker.is_finished for worker in pilot.app.workers):
            break
    await pilot.pause()
