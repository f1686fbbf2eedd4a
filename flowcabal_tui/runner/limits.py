"""Limits of concurrent calls, and pauses for a provider that fails."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.ids import Digest

if TYPE_CHECKING:
    from flowcabal_tui.domain.endpoints import Endpoint

FAILURES: Final = 3
"""Calls to one provider that fail in a row, each after its own retries, before starts are paused."""
PAUSE_SECONDS: Final = 15.0
LONGEST_PAUSE_SECONDS: Final = 300.0


class Slots:
    """A semaphore that serves waiters by priority, the highest first, and equals in order of arrival."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._arrived = 0

    async def acquire(self, priority: float) -> None:
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arrived += 1
        heapq.heappush(self._waiting, (-priority, self._arrived, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    @asynccontextmanager
    async def taken(self, priority: float) -> AsyncIterator[None]:
        """Holds a slot for the duration of a `with` block."""
        await self.acquire(priority)
        try:
            yield
        finally:
            self.release()


class Breaker:
    """Pauses new calls to a provider that fails repeatedly, so that attempts are not wasted.

    After the pause one call tries; when it fails too, the next pause is twice as long.
    """

    def __init__(self, pause: float = PAUSE_SECONDS) -> None:
        """`pause` is the pause after the third failure in a row, in seconds."""
        self._pause_seconds = pause
        self._failures = 0
        self._until = 0.0
        self._trying: asyncio.Lock = asyncio.Lock()
        self._hurried = asyncio.Event()

    def hurry(self) -> None:
        """Ends the pause at a person's request: one call is tried."""
        self._until = 0.0
        self._hurried.set()

    @asynccontextmanager
    async def watched(self, tell: Callable[[float], None]) -> AsyncIterator[None]:
        """Wraps a call. While calls are paused, it waits, after passing the remaining seconds to `tell`."""
        if self._failures >= FAILURES:
            async with self._trying:  # the first call to get here is the trial; the others wait for its end
                if self._failures >= FAILURES:
                    await self._pause(tell)
                    async with self._judged():
                        yield
                    return
        async with self._judged():
            yield

    async def _pause(self, tell: Callable[[float], None]) -> None:
        left = self._until - asyncio.get_running_loop().time()
        if left > 0:
            tell(left)
            self._hurried.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), left)

    @asynccontextmanager
    async def _judged(self) -> AsyncIterator[None]:
        try:
            yield
        except ModelError as error:
            if error.retryable:
                self._failures += 1
                pause = self._pause_seconds * 2.0 ** max(0, self._failures - FAILURES)
                self._until = asyncio.get_running_loop().time() + min(pause, LONGEST_PAUSE_SECONDS)
            raise
        self._failures = 0


class Limits:
    """One limit over all calls, one for each provider, and a breaker for each."""

    def __init__(self, concurrency: int, *, pause: float = PAUSE_SECONDS) -> None:
        self._pause = pause
        self.work = Slots(concurrency)
        """The slots for all concurrent work."""
        self._providers: dict[str, Slots] = {}
        self._breakers: dict[str, Breaker] = {}
        self._turns: WeakValueDictionary[Digest, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(
        self, endpoint: Endpoint, priority: float, tell: Callable[[float], None] = lambda _seconds: None
    ) -> AsyncIterator[None]:
        """Waits for a slot at the provider, then for one among all calls. `tell` receives a pause in seconds.

        Checks the breaker only after the provider's slot is taken: the queue may be long.
        """
        breaker = self._breakers.setdefault(endpoint.limiter, Breaker(self._pause))
        provider = self._providers.setdefault(endpoint.limiter, Slots(endpoint.pace.concurrency))
        async with provider.taken(priority), breaker.watched(tell), self.work.taken(priority):
            yield

    def hurry(self) -> None:
        """Ends the pauses of all providers."""
        for breaker in self._breakers.values():
            breaker.hurry()

    def turn(self, request: Digest) -> asyncio.Lock:
        """Serialises equal requests, so that the second finds the paid result of the first."""
        return self._turns.setdefault(request, asyncio.Lock())
