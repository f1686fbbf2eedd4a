"""Waiting for what the loop brings about on a screen, however busy the machine is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.worker import Worker

from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.book.search import SearchScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from tests.waiting import PATIENCE, idle

_BEAT = 0.02
"""Seconds of the loop in a pause: timers that are due within it have fired when the pause ends."""


@pytest.fixture(autouse=True)
def pilots_wait_for_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual takes a process that gets no CPU time for one that is done, which a busy machine makes of any."""

    async def beat(_least: float = 0.0, _most: float = 0.0) -> None:
        await asyncio.sleep(_BEAT)
        await idle()

    monkeypatch.setattr("textual.pilot.wait_for_idle", beat)
    monkeypatch.setattr("textual.app.wait_for_idle", beat)


async def until(pilot: Pilot[Any], holds: Callable[[], Any]) -> None:
    """Waits for something that the loop will bring about; raises TimeoutError, with what is shown, if it does not."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await pilot.pause()
    except TimeoutError as error:
        error.add_note(f"screens: {pilot.app.screen_stack}")
        error.add_note(
            f"errors: {[each._error_parts for each in pilot.app.screen_stack if isinstance(each, ErrorScreen)]}"
        )
        error.add_note(f"at work: {[worker for worker in pilot.app.workers if worker.is_running]}")
        announcer = getattr(pilot.app, "announcer", None)
        error.add_note(f"notices: {[each.words for each in announcer.notices.listed] if announcer else ()}")
        raise


async def settled(pilot: Pilot[Any]) -> None:
    """Every worker has ended or waits for the person, and every message was handled."""
    await pilot.pause()
    while work := _at_work(pilot):
        await pilot.pause()
        if _at_work(pilot) == work:
            break
    await pilot.pause()


def _at_work(pilot: Pilot[Any]) -> frozenset[Worker[Any]]:
    return frozenset(worker for worker in pilot.app.workers if not worker.is_finished)


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
    await settled(pilot)
