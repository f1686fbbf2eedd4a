"""Writes lines of JSON to a client that may stop reading: few are queued, and writers wait when the queue is full."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final

from flowcabal_tui.cli.terminal import json_text

WAITING: Final = 64
"""Lines that wait for a client which does not read."""
_STALL_SECONDS: Final = 5.0
"""How long a client that has ended its input may leave a line unread."""


class MessageOutput:
    """Writes messages to a file descriptor in a thread of its own, so that a full pipe blocks nothing else."""

    def __init__(self, target: int) -> None:
        self._target, self._loop = target, asyncio.get_running_loop()
        self._space = asyncio.Semaphore(WAITING)
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._gone = False
        """The client does not read any more; what would be written is dropped."""
        self.is_ending = False
        """The client has ended its input: it is not waited for without end."""
        threading.Thread(target=self._write_all, name="session-output", daemon=True).start()

    async def put(self, message: Mapping[str, Any]) -> None:
        """Queues a message; waits while WAITING lines are unread."""
        line = json_text(message).encode() + b"\n"
        while not self._gone:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._space.acquire(), _STALL_SECONDS)
                self._lines.put(line)
                return
            self._gone = self.is_ending

    async def flush(self) -> None:
        """Returns when everything is written, or the client has read nothing for some seconds."""
        with suppress(TimeoutError):
            for _line in range(WAITING):
                await asyncio.wait_for(self._space.acquire(), _STALL_SECONDS)
        self._gone = True

    def _write_all(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            while True:
                line = self._lines.get()
                try:
                    while line and not self._gone:
                        line = line[os.write(self._target, line) :]
                except OSError:  # the pipe is closed, or the disk is full
                    self._gone = True
                self._loop.call_soon_threadsafe(self._space.release)
