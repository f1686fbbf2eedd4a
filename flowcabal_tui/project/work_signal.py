"""Announces work to the background."""

from __future__ import annotations

import asyncio


class WorkSignal:
    """Wakes every lane of the background work. Lives on the engine's loop."""

    def __init__(self) -> None:
        self._lanes: list[asyncio.Event] = []

    def lane(self) -> asyncio.Event:
        """An event that each `wake` sets."""
        self._lanes.append(asyncio.Event())
        return self._lanes[-1]

    def wake(self) -> None:
        """Announces new work, or that the knowledge server is available."""
        for event in self._lanes:
            event.set()
