"""Translates SQLite's errors into the project's."""

from __future__ import annotations

import sqlite3
from typing import Final

from flowcabal_tui.domain.errors import DiskFull, FlowCabalError, ProjectBusy, ProjectDamaged
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark

_NO_ROOM: Final = {
    sqlite3.SQLITE_FULL: mark("The disk is full"),
    sqlite3.SQLITE_IOERR: mark("The disk is full or does not respond as it should"),
    sqlite3.SQLITE_READONLY: mark("Nothing can be written here"),
    sqlite3.SQLITE_CANTOPEN: mark("The database file cannot be opened"),
}
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOST: Final = ("no such table", "Could not decode to UTF-8", "malformed JSON")
"""Migrations create all tables, all text is UTF-8, and columns that a query looks into are JSON."""
ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""Errors of statements. Python raises UnicodeDecodeError when SQLite's message contains damaged bytes."""
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def no_room(reason: str) -> DiskFull:
    """The error of a disk that cannot be written: full, read-only or failing."""
    return DiskFull(
        _("The project could not be written."),
        _("{reason}. Everything up to the last confirmed step is kept; no step was written in part.").format(
            reason=reason
        ),
        _("Free space on the disk or correct the folder's permissions, then try again."),
    )


def damaged(reason: str) -> ProjectDamaged:
    """The error of a file that SQLite cannot read."""
    return ProjectDamaged(
        _("The project's database is damaged."),
        clean_line(reason),
        _(
            "First make a copy of the project's folder. `flowcabal-tui rescue PROJECT` lists the intact texts; "
            "with `--to FOLDER` it extracts them."
        ),
    )


def fault(error: sqlite3.Error | UnicodeDecodeError) -> FlowCabalError | sqlite3.Error:
    """The project's error for one of ERRORS; the same error when it is a programming mistake."""
    if isinstance(error, UnicodeDecodeError):
        return damaged(error.object.decode("utf-8", "replace"))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _NO_ROOM:
        return no_room(_(_NO_ROOM[code]))
    if code in _DAMAGED or str(error).startswith(_LOST):
        return damaged(str(error))
    if code in _BUSY:
        return ProjectBusy(
            _("The project's database is busy."), str(error), _("Close other programs that read it, then try again.")
        )
    return error
