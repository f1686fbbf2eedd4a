"""One writing process a project: an `fcntl` lock, which the kernel releases when its process ends in any way.

POSIX locks do not pass to forked children, so a worker that outlives a killed program blocks nobody. They also have no
effect within the same process, which therefore records its own locks.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import ProjectLocked, UnsafeFile, UnsafeFileSystem
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.faults import no_room
from flowcabal_tui.system.files import PRIVATE, UnsafePath, open_own

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_HELD_BY_OTHERS: Final = {errno.EACCES, errno.EAGAIN}
UNKNOWN: Final = "?"
"""The time of a holder whose record cannot be read."""
_own_locks: Final[dict[Path, Holder]] = {}


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that writes to a project; `since` is an ISO time."""

    host: str
    boot: str
    pid: int
    since: str

    def __str__(self) -> str:
        return _("process {pid} on {host}, since {since}").format(pid=self.pid, host=self.host, since=self.since)


class ProjectLock:
    """Held from construction to `release`. Raises ProjectLocked, UnsafeFile, UnsafeFileSystem or DiskFull."""

    def __init__(self, path: Path, now: datetime, mode: int = PRIVATE.file) -> None:
        self._path = path.parent.resolve() / path.name
        if self._path in _own_locks:
            raise _locked(_own_locks[self._path])
        try:
            self._file = open_own(self._path, os.O_RDWR | os.O_CREAT, mode, owner=self._path.parent.stat().st_uid)
        except UnsafePath as error:
            raise UnsafeFile(
                _("The project cannot be locked."),
                error.reason,
                _("Nothing was changed. Remove it, then open the project again."),
            ) from error
        except OSError as error:
            raise no_room(os_reason(error)) from error
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _read(self._file)
            os.close(self._file)
            if error.errno in _HELD_BY_OTHERS:
                raise _locked(holder) from error
            raise UnsafeFileSystem(
                _("This folder's file system cannot lock files."),
                os_reason(error),
                _("Move the project to a local disk, or open it read-only."),
            ) from error
        holder = Holder(socket.gethostname(), _boot_id(), os.getpid(), now.isoformat(timespec="seconds"))
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, json.dumps(asdict(holder)).encode(), 0)
        except OSError as error:
            os.close(self._file)
            raise no_room(os_reason(error)) from error
        _own_locks[self._path] = holder

    def release(self) -> None:
        """Releases the lock; a second call does nothing."""
        if _own_locks.pop(self._path, None):
            os.close(self._file)


def holder_of(path: Path) -> Holder | None:
    """The present holder of the lock; None when it is free."""
    path = path.parent.resolve() / path.name
    if path in _own_locks:
        return _own_locks[path]
    try:
        file = open_own(path, os.O_RDONLY, owner=path.parent.stat().st_uid)
    except OSError:
        return None
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(file)
    finally:
        os.close(file)
    return None


def _read(file: int) -> Holder:
    try:
        return Holder(**json.loads(os.pread(file, 4096, 0)))
    except (OSError, ValueError, TypeError):
        return Holder(_("an unknown machine"), "", 0, UNKNOWN)


def _locked(holder: Holder) -> ProjectLocked:
    return ProjectLocked(
        _("The project is open elsewhere."),
        _("It is locked by {holder}.").format(holder=holder),
        _("Close it there, or open it here read-only."),
    )


def _boot_id() -> str:
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:
        return ""
