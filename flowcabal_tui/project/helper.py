"""The helper process of `workshop.py`: does one piece of work after another.

It imports little, above all not asyncio: a project that is opened waits for its start before the first chapter is read.
"""

from __future__ import annotations

import math
import os
import pickle
import resource
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final

from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import use_language

LENGTH: Final = struct.Struct(">Q")
"""Header of a message: its size in bytes."""
HEAD: Final = struct.Struct(">cQ")
"""Header of an answer: DONE, FAILED or NO_MEMORY, and its size in bytes."""
TAKEN, DONE, FAILED, NO_MEMORY = b"T", b"D", b"F", b"M"
_NICENESS: Final = 10
"""Runs below the screen's priority: keys must be answered at once, an import need not."""
_MIB: Final = 1024 * 1024
_KEPT: Final = 256 * _MIB
"""A process that grew by more ends after its answer, to return the memory."""


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """The limits of one task.

    `cpu_seconds` (whole) do not depend on the load of the machine; `seconds` limit the elapsed time, for a task that
    only waits. `memory` is in MiB of address space and is enforced where /proc has the size of a process (Linux).
    """

    cpu_seconds: int = 120
    seconds: float = 600.0
    memory: int = 1024


def serve() -> None:
    """The main loop of the helper process: does one piece of work after another until the other side closes the
    pipe."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_NICENESS)
    begin_loading()
    end_loading()  # garbage collection took a tenth of the search for passages
    # The pipe is for answers only: whatever a library prints goes nowhere.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, answers)


def _serve(source: BinaryIO, sink: BinaryIO) -> None:
    begun_with = _address_space()
    while head := source.read(LENGTH.size):
        (length,) = LENGTH.unpack(head)
        message = source.read(length)
        sink.write(TAKEN)
        sink.flush()
        outcome, body = _done(message)
        sink.write(HEAD.pack(outcome, len(body)) + body)
        sink.flush()
        del message, body
        if outcome == NO_MEMORY or _address_space() - begun_with > _KEPT:
            return


def _done(message: bytes) -> tuple[bytes, bytes]:
    try:
        language, limits, work, arguments = pickle.loads(message)
        use_language(language)
        with _limited(limits):
            return DONE, pickle.dumps(work(*arguments))
    except MemoryError:
        return NO_MEMORY, b""
    except Exception as error:  # the edge of the process: every error belongs to the caller
        return FAILED, _pickled(error)


def _pickled(error: Exception) -> bytes:
    """The pickled error; one that cannot be pickled is replaced by its text."""
    try:
        body = pickle.dumps(error)
        pickle.loads(body)
    except Exception:  # whatever its own constructor raises
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return body


@contextmanager
def _limited(limits: WorkLimits) -> Iterator[None]:
    """Out of processor time the kernel ends this process (SIGXCPU); out of memory Python raises MemoryError."""
    seconds = math.ceil(time.process_time()) + limits.cpu_seconds
    space = _address_space() + limits.memory * _MIB if _address_space() else resource.RLIM_INFINITY
    try:
        _set_soft(resource.RLIMIT_CPU, seconds)
        _set_soft(resource.RLIMIT_AS, space)
        yield
    finally:
        _set_soft(resource.RLIMIT_AS, resource.RLIM_INFINITY)
        _set_soft(resource.RLIMIT_CPU, resource.RLIM_INFINITY)


def _set_soft(kind: int, value: int) -> None:
    """Never above the hard limit, which the user may have set for all programs."""
    _soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    resource.setrlimit(kind, (value, hard))


def _address_space() -> int:
    """Bytes of address space of this process; 0 where the system does not provide it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
