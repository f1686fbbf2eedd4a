"""Waiting for what the loop brings about, however busy the machine is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from flowcabal_tui.tui.screens.search import SearchScreen


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Waits for something that the loop will bring about; fails after ten seconds."""
    async with asyncio.timeout(10):
        while not holds():
            await pilot.pause()


async def answered(pilot: Pilot[Any]) -> None:
    """A search shows the hits of what is typed, and workers have ended; one that waits for a key is left."""
    await pilot.pause()
    await until(pilot, lambda: not isinstance(found := pilot.app.screen, SearchScreen) or found.is_answered)
    for _round in range(10):
        await pilot.pause(0.02)
        if all(worker.is_finished for worker in pilot.app.workers):
            break
    await pilot.pause()
