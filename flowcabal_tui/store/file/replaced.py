"""A database file that another program replaces while it is open: a copy by hand, a sync service, version control.

SQLite goes on writing into the file that has no name any more, and all of it would be lost at the end; its log would be
applied to the other file and damage that.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.locale import _

Identity = tuple[int, int]


class OpenFile:
    """The database at `path` as it was opened. `kept` is the file for its contents if another file has its name."""

    def __init__(self, path: Path) -> None:
        self._path, self._log = path, path.with_name(f"{path.name}-wal")
        self._folder, self._identity = _identity(path.parent), _identity(path)
        self._log_identity = _identity(self._log)
        self.kept = path.with_name(f"{path.stem}-before-{secrets.token_hex(3)}{path.suffix}")

    @property
    def is_replaced(self) -> bool:
        """True when its name belongs to another file, or to none; False when its whole folder was moved."""
        return _identity(self._path) != self._identity and _identity(self._path.parent) == self._folder

    def require_own(self) -> None:
        """Raises DiskFull when it is replaced."""
        if self.is_replaced:
            raise DiskFull(
                _("The project's database was replaced by another program."),
                _("Nothing more is saved. What was saved is written to {name} when the project is closed.").format(
                    name=self.kept.name
                ),
                _("Copy what is not saved yet, close the project, and choose which of the two files is project.db."),
            )

    def keep(self, connection: sqlite3.Connection) -> None:
        """Writes the contents into `kept` and takes the log away, which belongs to them. Raises sqlite3.Error."""
        os.close(os.open(self.kept, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(self.kept)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        if _identity(self._log) == self._log_identity:
            with suppress(FileNotFoundError):
                self._log.unlink()


def _identity(path: Path) -> Identity | None:
    try:
        status = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino
