"""The engine's own thread and loop, so that a blocked screen never stops a stream."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class EngineThread:
    """Runs coroutines of all callers on one loop of its own."""

    def __init__(self, name: str = "engine") -> None:
        self._loop = asyncio.new_event_loop()
        self._submitted: dict[Future[Any], Coroutine[Any, Any, Any]] = {}
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def inside(self) -> bool:
        """True on the engine's own thread."""
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts work on the engine's loop; its result is the future's."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise
        self._submitted[future] = work
        future.add_done_callback(self._submitted.pop)
        return future

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits work on the engine's loop from the caller's loop."""
        return await work if self.inside else await asyncio.wrap_future(self.submit(work))

    def soon(self, callback: Callable[..., object], *arguments: object) -> None:
        """Schedules a callback on the engine's loop."""
        self._loop.call_soon_threadsafe(callback, *arguments)

    def stop(self, timeout: float = 5.0) -> None:
        """Ends the loop after cancelling its tasks. Waits at most `timeout` seconds."""
        if self._loop.is_closed():
            return
        self.submit(self._cancel_all())
        self._thread.join(timeout)
        if not self._thread.is_alive():
            self._loop.close()
            for future, work in [*self._submitted.items()]:
                if inspect.getcoroutinestate(work) == inspect.CORO_CREATED:  # it came when the loop ran no more
                    work.close()
                    future.cancel()

    async def _cancel_all(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self._loop.stop()


class Tasks:
    """Tasks that are not awaited: references keep them alive, and they are cancelled with the project.

    `failed` gets the error of a task that ends with one.
    """

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._report = failed
        self._closed = False

    def create(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts work; does nothing after `close`."""
        if self._closed:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(error)

    async def close(self) -> None:
        """Cancels all tasks and waits until they have ended."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
