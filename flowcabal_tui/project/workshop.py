"""Runs work that blocks the interpreter for long, or that reads untrusted files, in a helper process.

    workshop = Workshop()
    preview = await workshop.do(read_manuscript, path, limits=READING)

`do` runs a module-level function there and returns its value or raises its error. `limits` bound one piece of work:
processor seconds, seconds of waiting, and MiB of memory above what the process held before. When the work exceeds one
of them, or the process dies, the caller gets `HelperFailed` with the `cause` "time", "memory" or "died"; nothing is
retried, and the next piece of work gets a new process. A caller that reads a file for the user turns it into its own
error with the name of the file.

The process reads from a pipe and ends when that is closed, so it never outlives us, however we end. (A worker of
`concurrent.futures` holds both ends of its pipes and would stay.) It starts isolated; see `system/processes.py`.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar, TypeVarTuple

from flowcabal_tui.domain.errors import HelperCause, HelperFailed
from flowcabal_tui.locale import _, language_in_use
from flowcabal_tui.project import helper
from flowcabal_tui.project.helper import WorkLimits
from flowcabal_tui.system.processes import NEUTRAL_FOLDER, minimal_environment, own_python

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")
_START_SECONDS: Final = 60.0
USUAL: Final = WorkLimits()


def looking_for_names(characters: int) -> WorkLimits:
    """The limits for finding the names in a text of `characters` characters: a million takes some 6 s."""
    return WorkLimits(USUAL.cpu_seconds + characters // 10_000, USUAL.seconds + characters / 1_000)


READING: Final = WorkLimits(cpu_seconds=10, seconds=60.0, memory=300)
"""The limits for untrusted files. A novel of five million characters takes 1.3 s and 60 MiB."""


class Workshop:
    """One helper process, started when it is first needed; one that died is replaced. One piece of work at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._closed = 0
        """The number of times that it was closed."""

    async def do(
        self,
        work: Callable[[*Arguments], T],
        *arguments: *Arguments,
        limits: WorkLimits = USUAL,
    ) -> T:
        """Runs a pure module-level function in the helper process. Raises its errors unchanged, in the language of this
        process.

        Raises HelperFailed when the work exceeds its limits or the process dies.
        """
        message, closed = pickle.dumps((language_in_use(), limits, work, arguments)), self._closed
        async with self._turn:
            if closed != self._closed:
                raise _failed("died", 0)
            try:
                await self._hand_over(message)
                outcome, body = await self._answer(limits)
            except BaseException:  # cancelled or failed: it may still be working
                await self._end()
                raise
            if outcome == helper.NO_MEMORY:  # its state is unknown
                await self._end()
                raise _failed("memory", limits.memory)
        value = pickle.loads(body)
        if outcome == helper.FAILED:
            raise value
        result: T = value
        return result

    async def _hand_over(self, message: bytes) -> None:
        """Gives the message to a process that says that it has taken it; one that ended while idle is replaced once."""
        if self._process is not None:
            try:
                return await self._send(self._process, message)
            except (asyncio.IncompleteReadError, ConnectionError):
                await self._end()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *own_python(helper.__name__),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=NEUTRAL_FOLDER,
                env=minimal_environment(),
            )
            async with asyncio.timeout(_START_SECONDS):
                await self._send(self._process, message)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise _failed("died", 0, _("It could not be started.")) from error

    async def _send(self, process: asyncio.subprocess.Process, message: bytes) -> None:
        if process.stdin is None or process.stdout is None:
            raise ConnectionError
        process.stdin.write(helper.LENGTH.pack(len(message)) + message)
        await process.stdin.drain()
        await process.stdout.readexactly(len(helper.TAKEN))

    async def _answer(self, limits: WorkLimits) -> tuple[bytes, bytes]:
        process = self._process
        if process is None or process.stdout is None:
            raise ConnectionError
        try:
            async with asyncio.timeout(limits.seconds):
                outcome, length = helper.HEAD.unpack(await process.stdout.readexactly(helper.HEAD.size))
                return outcome, await process.stdout.readexactly(length)
        except TimeoutError as error:
            raise _failed("time", limits.seconds) from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            code = await process.wait()
            if code == -signal.SIGXCPU:
                raise _failed("time", limits.cpu_seconds) from error
            words = _("It was terminated by signal {number}.") if code < 0 else _("It ended with code {number}.")
            raise _failed("died", 0, words.format(number=abs(code))) from error

    async def close(self) -> None:
        """Ends the process at once; whoever waits for it gets `HelperFailed`. Later work gets a new process."""
        self._closed += 1
        if self._process is not None:
            _kill(self._process)
        async with self._turn:  # the work at hand reads the pipes to their end
            await self._end()

    async def _end(self) -> None:
        """Kills the process and closes its pipes."""
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            await process.communicate()


def _kill(process: asyncio.subprocess.Process) -> None:
    """Ends the process at once.

    `Process.kill` polls the process first, and so consumes the exit code for which asyncio's watcher waits; the watcher
    then warns of an unknown child and reports 255.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _failed(cause: HelperCause, limit: float, detail: str = "") -> HelperFailed:
    titles = {
        "time": _("The work was stopped: it took more than {n} seconds.").format(n=f"{limit:g}"),
        "memory": _("The work was stopped: it needed more than {n} MB of memory.").format(n=f"{limit:g}"),
        "died": _("The helper process ended before its work was finished."),
    }
    kept = _("Nothing was kept; the book is unchanged.")
    advice = _("Try again with less at a time; if it was a file, it may be damaged.")
    return HelperFailed(cause, titles[cause], f"{detail} {kept}".strip(), advice)
