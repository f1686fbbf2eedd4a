"""A database file that another program replaces or overwrites while it is open: a copy by hand, a sync service, a
restore script.

SQLite notices neither. It goes on writing into a file that has no name any more, or applies its log to the pages of the
other file.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, Literal

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.store.file.faults import no_room
from flowcabal_tui.store.file.foreign_log import STAMP, next_stamp, stamp_on_disk

log = logging.getLogger(__name__)
Identity = tuple[int, int]
Status = tuple[int, int, int, int, int]
Displaced = Literal["replaced", "overwritten", "log removed", "log overwritten"]
_TICK_NS: Final = 10_000_000
"""Two writes within this many nanoseconds can leave the same times in a file's status."""
LOOK_SECONDS: Final = 0.002
"""A look within this time is recent enough: a transaction can take as long."""
_RESTARTS: Final = 1 << 16
"""Maximum restarts of the log by other connections between two checks; each adds 1 to its first salt."""


class UnwatchedFile:
    """A database without a write-ahead log, as on a network file system; see `OpenFile` for the methods."""

    displaced = None

    def require_own(self) -> None:
        """Does nothing."""

    look = stamp = committed = release = require_own


class OpenFile:
    """The database at `path` as `connection` opened it, in write-ahead mode.

    Its header holds a stamp (see `foreign_log.py`), which the first transaction after each checkpoint replaces. A file
    with the stamp of the newest checkpoint therefore has the same pages. Another SQLite connection may write, since it
    changes neither the stamp nor the log's sequence. `kept` is the file for what would be lost otherwise. Raises
    DiskFull.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._log, self._connection = path, path.with_name(f"{path.name}-wal"), connection
        self.kept = kept_beside(path)
        self.displaced: Displaced | None = None
        self._log_kept, self._pending, self._is_stamped = False, 0, False
        self._looked = self._look_again = 0
        self._stamps = [self._stamp()]
        """The stamps that the file can have, oldest first."""
        with suppress(sqlite3.Error):  # a full disk: the book can be read meanwhile
            if not stamp_on_disk(path):  # 0 would also be the stamp of any other file without one
                self.stamp()
            self._restart_log()
        self._folder, self._status = _identity(path.parent), _status(path)
        on_disk = stamp_on_disk(path)
        if on_disk is None:
            raise no_room(os_reason(OSError(errno.EIO, "")))
        self._stamps = [on_disk, self._stamp()]
        self._pending = 0
        self._log_file = os.open(self._log, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)  # SQLite has no locks here
        self._salts = self._log_salts()

    def require_own(self) -> None:
        """Like `look`, but a look within LOOK_SECONDS is enough."""
        if self.displaced or time.monotonic_ns() > self._looked + LOOK_SECONDS * 1e9:
            self.look()

    def look(self) -> None:
        """Raises DiskFull once the file or its log belongs to another program; a transaction is rolled back first.

        Takes microseconds. Necessary after each checkpoint, since only then an older copy has another stamp.
        """
        if self.displaced is None:
            self.displaced = self._displaced_file() or self._displaced_log()
            if self.displaced is not None:
                self._set_aside(self.displaced)
        if self.displaced is not None:
            raise self._error(self.displaced)
        self._looked = time.monotonic_ns()

    def stamp(self) -> None:
        """In a transaction: writes a new stamp if it is the first one since a checkpoint. Raises sqlite3.Error."""
        if not self._is_stamped:
            if not self._pending:
                self._pending = next_stamp(self._stamps[-1])
                self._stamps.append(self._pending)
            self._connection.execute(f"{STAMP}={self._pending}")

    def committed(self) -> None:
        """After a transaction with `stamp` is committed."""
        self._is_stamped, self._pending = True, 0

    def release(self) -> None:
        """Before the connection is closed. Writes the contents of a replaced file into `kept`. Raises sqlite3.Error or
        OSError."""
        with suppress(DiskFull):
            self.look()
        try:
            if self.displaced == "replaced":
                os.close(_new(self.kept))
                with closing(sqlite3.connect(self.kept)) as copy:
                    self._connection.backup(copy)
                    copy.execute("PRAGMA journal_mode=DELETE")
                self._remove_log()
        finally:
            os.close(self._log_file)

    def _restart_log(self) -> None:
        """Empties the log, without waiting for other readers: a connection that has never done so gives the log random
        salts once another one has emptied it. Raises sqlite3.Error."""
        (patience,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
        self._connection.execute("PRAGMA busy_timeout=0")
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={patience}")

    def _displaced_file(self) -> Displaced | None:
        status = _status(self._path)
        if status is None or self._status is None or status[:2] != self._status[:2]:
            if _identity(self._path.parent) == self._folder:
                return "replaced"
        elif status != self._status or (self._look_again and time.monotonic_ns() > self._look_again):
            found = stamp_on_disk(self._path)
            if found is not None and found not in self._stamps:
                return "overwritten"
            if found is not None:
                self._have_looked(found, status)
        return None

    def _have_looked(self, found: int, status: Status) -> None:
        del self._stamps[: self._stamps.index(found)]
        self._look_again = 0
        if status != self._status:
            self._is_stamped, self._status = False, status
            self._look_again = time.monotonic_ns() + _TICK_NS

    def _displaced_log(self) -> Displaced | None:
        if is_removed(self._log_file):
            return "log removed"
        salts = self._log_salts()
        if salts and self._salts and (salts[0] - self._salts[0]) % 2**32 > _RESTARTS:
            return "log overwritten"
        self._salts = salts or self._salts
        return None

    def _log_salts(self) -> tuple[int, int] | None:
        """The numbers in the header of the log; None while it is empty. See https://www.sqlite.org/walformat.html."""
        found = os.pread(self._log_file, 8, 16)
        return (int.from_bytes(found[:4], "big"), int.from_bytes(found[4:], "big")) if len(found) == 8 else None

    def _stamp(self) -> int:
        """The newest stamp, in the log or in the file."""
        return int(self._connection.execute(STAMP).fetchone()[0])

    def _set_aside(self, found: Displaced) -> None:
        """Keeps what only the log holds, and keeps the log from being applied to the pages of another file."""
        try:
            self._connection.rollback()
            if found == "log removed":
                self._connection.execute("PRAGMA wal_checkpoint").fetchall()
            elif found == "overwritten":
                self._keep_log()
            if found in ("overwritten", "log overwritten"):
                self._remove_log()
                self._log.with_name(f"{self._path.name}-shm").unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:  # a full disk, for example
            log.error("the log of the overwritten database could not be kept: %s", error)

    def _keep_log(self) -> None:
        with open(_new(self.kept.with_name(f"{self.kept.name}-wal")), "wb") as target:
            at = 0
            while piece := os.pread(self._log_file, 1 << 20, at):
                at += target.write(piece)
        self._log_kept = at > 0

    def _remove_log(self) -> None:
        """Removes the log, unless another file has its name."""
        about = os.fstat(self._log_file)
        if _identity(self._log) == (about.st_dev, about.st_ino):
            self._log.unlink(missing_ok=True)

    def _error(self, found: Displaced) -> DiskFull:
        if found == "replaced":
            return DiskFull(
                _("The project's database was replaced by another program."),
                _("Saving has stopped. Earlier changes are written to {name} when the project is closed.").format(
                    name=self.kept.name
                ),
                _("Copy unsaved text, close the project, and choose which of the two files is project.db."),
            )
        if found == "log removed":
            return DiskFull(
                _("The log of the project's database was removed by another program."),
                _("Saving has stopped. Earlier changes are in the database."),
                _("Copy unsaved text, close the project and open it again."),
            )
        kept = _("The newest changes are in {name}-wal; `flowcabal-tui rescue PROJECT --database {name}` reads it.")
        return DiskFull(
            _("The project's database was overwritten by another program."),
            sentences(
                _("Saving has stopped. The chapters as last saved are in the manuscript folder."),
                kept.format(name=self.kept.name) if self._log_kept else "",
            ),
            _("Copy unsaved text, close the project, and open it again with the other file."),
        )


def kept_beside(path: Path) -> Path:
    """An unused name beside a database, for a copy of data that would otherwise be lost."""
    return path.with_name(f"{path.stem}-before-{secrets.token_hex(3)}{path.suffix}")


def is_removed(file: int, descriptors: str = "/proc/self/fd") -> bool:
    """True once the file of a descriptor has no name any more.

    Linux shows it in `descriptors`. `fstat` does too, but since Linux 6.13 the next write to a file whose times were
    read stores new ones: a commit would take a quarter longer.
    """
    try:
        return os.readlink(f"{descriptors}/{file}").endswith(" (deleted)")
    except OSError:  # another system
        return not os.fstat(file).st_nlink


def _new(path: Path) -> int:
    """A descriptor of a new private file."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _identity(path: Path) -> Identity | None:
    status = _status(path)
    return status[:2] if status else None


def _status(path: Path) -> Status | None:
    """Device, inode, size, and the times of the last changes."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
