"""The log that a killed process left beside its database, and stamps that show which database that is.

SQLite replays a log onto whatever database has its name: a file that was copied there after the kill, or the log of
another one, would become a mixture of both. The header of a database therefore holds a stamp, which the first
transaction after each checkpoint replaces by a follower: 16 random bits, and 15 bits computed from them and from the
stamp before. A log belongs to a database that has one of the stamps in the log, or the one that the first of them
follows.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import ForeignLog, ProjectDamaged
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, mark
from flowcabal_tui.store.file.faults import ERRORS, fault, no_room

STAMP: Final = "PRAGMA application_id"
LOG_MAGIC: Final = (0x377F0682, 0x377F0683)
PAGE_SIZES: Final = frozenset({512, 1024, 2048, 4096, 8192, 16384, 32768, 65536})
_CHECK_BITS: Final = 15
_LEAST: Final = -(2**31)
"""Stamps of this form are negative; those of earlier releases are positive, and follow nothing."""
_HEAD, _FRAME_HEAD, _STAMP_AT = 32, 24, 68
"""Sizes in the log, and the offset of the stamp in the first page: https://www.sqlite.org/fileformat2.html."""
_TITLE: Final = mark("After the program was killed, another program replaced the project's database or its log.")


def next_stamp(before: int) -> int:
    """A stamp that follows another one."""
    return _stamp(before, secrets.randbits(31 - _CHECK_BITS))


def _stamp(before: int, chosen: int) -> int:
    digest = hashlib.blake2b(f"{before} {chosen}".encode(), digest_size=4).digest()
    check = int.from_bytes(digest, "big") % (1 << _CHECK_BITS)
    return _LEAST + (chosen << _CHECK_BITS) + check


def _follows(stamp: int, before: int) -> bool:
    return _stamp(before, (stamp - _LEAST) >> _CHECK_BITS) == stamp


def stamp_on_disk(path: Path) -> int | None:
    """The stamp in the file itself, whatever its log holds; -1: it is no database; None: it cannot be read now.

    SQLite reads it: closing a descriptor of our own would release the locks that SQLite holds on the file. A file that
    is shorter than its header says is not damaged: a checkpoint leaves pages out that changed after the oldest reader
    began. SQLite accepts it with a writable schema.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as plain:
            plain.execute("PRAGMA writable_schema=1")
            return int(plain.execute(STAMP).fetchone()[0])
    except ERRORS as error:
        return -1 if isinstance(fault(error), ProjectDamaged) else None


def has_foreign_log(path: Path) -> bool:
    """True when the log beside the database at `path` belongs to another one, or to an earlier or later copy of it.

    False also when that cannot be known: for a log of an earlier release, or a file that is no database. SQLite deletes
    the log beside an empty file, so any log beside one is foreign.
    """
    stamps = _logged_stamps(path.with_name(f"{path.name}-wal"))
    if stamps is None:
        return False
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    if not size:
        return True
    on_disk = stamp_on_disk(path)
    if on_disk in (None, -1) or not stamps or stamps[0] >= 0 or on_disk in stamps:
        return False
    return not _follows(stamps[0], on_disk)


def _logged_stamps(log: Path) -> list[int] | None:
    """The stamp after each transaction in the log that wrote the first page; None when no transaction is complete."""
    try:
        file = os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb", buffering=0):
        head = os.pread(file, _HEAD, 0)
        if len(head) < _HEAD or struct.unpack(">I", head[:4])[0] not in LOG_MAGIC:
            return None
        (size,), salts = struct.unpack(">I", head[8:12]), head[16:24]
        if size not in PAGE_SIZES:
            return None
        found, written, at, is_complete = list[int](), list[int](), _HEAD, False
        while len(frame := os.pread(file, _FRAME_HEAD, at)) == _FRAME_HEAD and frame[8:16] == salts:
            page, commit = struct.unpack(">II", frame[:8])
            if not page:  # no frame: a file of zeros can be of any size
                break
            if page == 1:
                written = [int.from_bytes(os.pread(file, 4, at + _FRAME_HEAD + _STAMP_AT), "big", signed=True)]
            if commit:
                found, written, is_complete = found + written, [], True
            at += _FRAME_HEAD + size
    return found if is_complete else None


def set_foreign_log_aside(path: Path, kept: Path) -> None:
    """Renames a foreign log to that of `kept`, so that nothing replays it, and raises ForeignLog. Raises DiskFull."""
    if not has_foreign_log(path):
        return
    try:
        path.with_name(f"{path.name}-wal").rename(kept.with_name(f"{kept.name}-wal"))
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    except OSError as error:
        raise no_room(os_reason(error)) from error
    words = _("The log is kept as {name}-wal; `flowcabal-tui rescue PROJECT --database {name}` reads it.")
    raise ForeignLog(
        _(_TITLE), words.format(name=kept.name), _("Open the project again to work with the project.db that is there.")
    )


def require_own_log(path: Path) -> None:
    """Raises ForeignLog for a foreign log, and changes nothing."""
    if has_foreign_log(path):
        raise ForeignLog(
            _(_TITLE), _("Nothing was read or changed."), _("Open it for writing: the log is then kept beside it.")
        )
