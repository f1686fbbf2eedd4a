"""Lets one process at a time read, change and write a file of the user."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from flowcabal_tui.domain.text import digest
from flowcabal_tui.settings import paths


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits for other processes and threads that hold the lock beside `path`. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(path.with_name(f".{path.name}.lock"), flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Like `locked`, for a file of a project: the lock is in the user's state folder, and work continues if it cannot
    be taken."""
    with ExitStack() as stack:
        with suppress(OSError):
            stack.enter_context(locked(paths.state_folder() / "settings" / digest(str(path.resolve()))))
        yield
