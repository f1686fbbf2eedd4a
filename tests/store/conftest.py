"""A store in a folder of its own, with a clock that tests can move."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowcabal_tui.store.store import Store


@dataclass
class Clock:
    """Says the time that it was set to, a second later each time."""

    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "小说 a?b"


@pytest.fixture
async def store(folder: Path, clock: Clock) -> AsyncIterator[Store]:
    opened = await Store.open(folder, clock=clock, language="zh")
    yield opened
    await opened.close()


@pytest.fixture
async def reopen(folder: Path, clock: Clock) -> AsyncIterator[Callable[..., Awaitable[Store]]]:
    """Opens the folder's store; what a test leaves open is closed after it."""
    opened: list[Store] = []

    async def reopen(*, read_only: bool = False, language: str = "zh") -> Store:
        opened.append(await Store.open(folder, read_only=read_only, clock=clock, language=language))
        return opened[-1]

    yield reopen
    for store in opened:
        await store.close()
