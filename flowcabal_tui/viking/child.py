"""A child process that always ends with this process: the knowledge server, or its installer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flowcabal_tui.viking import guard


class GuardedChild:
    """The guard process and, behind it, the child; see guard.py.

    Not an asyncio subprocess, whose transport would kill the guard when the loop closes.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path | str,
        environment: Mapping[str, str],
        *,
        mark: Path,
        grace: float = guard.GRACE,
        log: Path | None = None,
        descriptors: Sequence[int] = (),
    ) -> None:
        """Starts `command` in `folder`. Its output goes into `log`, otherwise to the reader of `watch`.

        `mark`: see guard.py; `descriptors` stay open until the child and its own children have ended.
        Raises OSError.
        """
        files = [str(log) if log else guard.TO_US, str(mark)]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, *files, str(grace), "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            start_new_session=True,
            pass_fds=descriptors,
        )
        self._transport: asyncio.ReadTransport | None = None
        self._watching: asyncio.Task[None] | None = None

    async def watch(self, take: Callable[[bytes], None] = lambda _: None) -> None:
        """Begins to read its output, whose end marks the end of the child; `take` is called with each piece."""
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        self._transport, _protocol = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout
        )
        self._watching = asyncio.create_task(self._await_end(reader, take))

    async def _await_end(self, reader: asyncio.StreamReader, take: Callable[[bytes], None]) -> None:
        first = await reader.readline()
        child = first.strip() if first.strip().isdigit() else b""
        if not child:
            take(first)
        while piece := await reader.read(2**16):
            take(piece)
        code = self._process.wait()
        if code < 0 and child:  # the guard itself was killed
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(child), signal.SIGKILL)

    @property
    def over(self) -> bool:
        return self._watching is not None and self._watching.done()

    @property
    def code(self) -> int:
        """The child's exit code (128 + signal), once `over`."""
        return self._process.returncode

    async def ended(self, seconds: float | None) -> None:
        """Waits for the end, for at most `seconds`."""
        if self._watching is not None:
            await asyncio.wait([self._watching], timeout=seconds)

    def stop(self) -> None:
        """Closes the pipe that the guard reads."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def release(self) -> None:
        """Closes the pipes on this side."""
        self.stop()
        if self._watching is not None:
            self._watching.cancel()
        if self._transport is not None:
            self._transport.close()
