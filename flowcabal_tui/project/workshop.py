"""Work that holds the interpreter for more than a moment goes to a process of its own."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar, TypeVarTuple

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")


class Workshop:
    """One helper process, started when it is first needed; a killed one is replaced."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    async def do(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        """Runs a pure module-level function there. Its errors come back as they are."""
        try:
            return await self._submit(work, *arguments)
        except BrokenProcessPool:
            self.close()
            return await self._submit(work, *arguments)

    async def _submit(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)

    def close(self) -> None:
        """Ends the process without waiting for it."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
