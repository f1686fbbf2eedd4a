"""Runs a command of the project's allow-list as a process: input on standard input, bounded time and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

COMPLAINT_LIMIT: Final = 4096
"""Bytes of standard error that are kept, the last ones."""
LINGER: Final = 1.0
"""Seconds for reading the rest of the pipe, and for reaping, after the end."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The end of a process. `code` is None when it was stopped: out of time, or `overflowed`."""

    code: int | None
    output: bytes
    complaint: bytes
    overflowed: bool = False


async def run_process(
    command: Sequence[str],
    given: bytes,
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
    limit: int,
) -> ProcessEnd:
    """Runs `command` (no shell) in a process group of its own, which does not outlive this call, cancelled or not.

    `timeout` is in seconds, `limit` in bytes of standard output. Raises OSError and ValueError when it cannot start.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(lambda: _Talk(limit), *command, cwd=folder, env=dict(environment), start_new_session=True)
    )
    try:
        transport, talk = await asyncio.shield(starting)
    except asyncio.CancelledError:  # it may run already: it must not outlive this call
        with contextlib.suppress(OSError, ValueError):
            transport, talk = await starting
            _kill_group(transport.get_pid())
            await asyncio.wait({talk.exited}, timeout=LINGER)  # an earlier `close` would take its exit code
            transport.close()
        raise
    try:
        stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
        stdin.write(given)
        stdin.write_eof()
        await asyncio.wait({talk.exited, talk.overflowed}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        code = transport.get_returncode()
        _kill_group(transport.get_pid())
        try:
            await asyncio.wait({talk.drained, talk.overflowed}, timeout=LINGER, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({talk.exited}, timeout=LINGER)
        finally:
            transport.close()
    overflowed = talk.overflowed.done()
    return ProcessEnd(None if overflowed else code, bytes(talk.output), bytes(talk.complaint), overflowed)


class _Talk(asyncio.SubprocessProtocol):
    """Collects the output of a process. asyncio's streams would wait for pipes that an escaped child holds open."""

    def __init__(self, limit: int) -> None:
        loop = asyncio.get_running_loop()
        self._limit = limit
        self.output, self.complaint = bytearray(), bytearray()
        self.exited, self.drained, self.overflowed = (loop.create_future() for _ in range(3))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self.complaint = (self.complaint + data)[-COMPLAINT_LIMIT:]
        elif len(self.output) + len(data) > self._limit:
            _settle(self.overflowed)
        else:
            self.output += data

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            _settle(self.drained)

    def process_exited(self) -> None:
        _settle(self.exited)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
