"""Work that holds the interpreter for more than a moment goes to a process of its own.

The process reads from a pipe and ends when that is closed, so it never outlives us, however we end. (A worker of
`concurrent.futures` holds both ends of its pipes and would stay.)
"""

from __future__ import annotations

import asyncio
import os
import pickle
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Final, TypeVar, TypeVarTuple

from flowcabal_tui.locale import language_in_use, use_language

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")
_LENGTH: Final = struct.Struct(">Q")
_NICENESS: Final = 10
"""The screen comes first: an import may take a little longer, a key may not."""


class Workshop:
    """One helper process, started when it is first needed; one that died is replaced. One piece of work at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def do(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        """Runs a pure module-level function there. Its errors come back as they are, in the language of ours."""
        message = pickle.dumps((language_in_use(), work, arguments))
        async with self._turn:
            try:
                done, value = await self._exchange(message)
            except (asyncio.IncompleteReadError, ConnectionError):
                await self.close()
                done, value = await self._exchange(message)
            except asyncio.CancelledError:
                await self.close()
                raise
        if not done:
            raise value
        result: T = value
        return result

    async def _exchange(self, message: bytes) -> tuple[bool, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", __name__),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        sink, source = self._process.stdin, self._process.stdout
        if sink is None or source is None:
            raise ConnectionError
        sink.write(_LENGTH.pack(len(message)) + message)
        await sink.drain()
        (length,) = _LENGTH.unpack(await source.readexactly(_LENGTH.size))
        answer: tuple[bool, Any] = pickle.loads(await source.readexactly(length))
        return answer

    async def close(self) -> None:
        """Ends the process at once, and lets go of its pipes."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


def _serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Does one piece of work after another until the other side is gone."""
    while head := source.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        language, work, arguments = pickle.loads(source.read(length))
        use_language(language)
        try:
            answer = (True, work(*arguments))
        except Exception as error:  # the edge of the process: every error belongs to the caller
            answer = (False, error)
        body = pickle.dumps(answer)
        sink.write(_LENGTH.pack(len(body)) + body)
        sink.flush()


if __name__ == "__main__":
    # The pipe is for answers only: whatever a library prints goes nowhere.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(_NICENESS)
    with suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, answers)
