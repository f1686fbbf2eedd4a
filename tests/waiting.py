"""Waiting for conditions, however busy the machine is. Only this module of the tests reads a clock.

A test waits for a state and never for a time. `PATIENCE` ends a wait for something that will not come: when it is over
the test fails; no test passes because of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")
PATIENCE: Final = 240.0
"""Seconds that any wait may take on a machine that is busy with other things."""
_LOOK_SECONDS: Final = 0.01
_THREAD_SECONDS: Final = 1.0
"""A thread that works so long may wait for the test itself."""
_PASSES: Final = 20_000
"""A loop that is never idle so many passes long is busy for good: something polls."""


async def soon(awaited: Awaitable[T]) -> T:
    """What `awaited` gives; raises TimeoutError when `PATIENCE` is over."""
    return await asyncio.wait_for(awaited, PATIENCE)


async def until(holds: Callable[[], Any], what: str = "") -> None:
    """Returns when `holds` is true, which another task, thread or process brings about; fails after `PATIENCE`."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() >= end:
            raise TimeoutError(f"it did not happen: {what or holds}")
        await asyncio.sleep(_LOOK_SECONDS)


def looks(what: str = "") -> Iterator[None]:
    """One look after the other at something outside the loop, with rests between; fails after `PATIENCE`.

    `for _look in looks("the server ends"): if ...: break`
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield
        time.sleep(_LOOK_SECONDS)
    raise AssertionError(f"it did not happen: {what}")


async def idle() -> None:
    """Returns when the loop has nothing to do but wait for timers, sockets, and threads that wait themselves.

    asyncio tells nobody how much it has to do, hence the look at its queue and at the threads that work for it.
    """
    loop = asyncio.get_running_loop()
    ready, quiet, end = getattr(loop, "_ready", ()), 0, time.monotonic() + _THREAD_SECONDS
    for _pass in range(_PASSES):
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1
        if quiet > 2 and not _threads_work(loop):
            return
        if quiet > 2:
            if time.monotonic() > end:
                return
            await asyncio.sleep(_LOOK_SECONDS)


def _threads_work(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a thread of `asyncio.to_thread` has not come back yet."""
    pool = getattr(loop, "_default_executor", None)
    return pool is not None and pool._idle_semaphore._value < len(pool._threads)


def pass_time(seconds: float) -> None:
    """The clock of the running loop goes on by so many seconds: timers that are due then fire at once."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]
