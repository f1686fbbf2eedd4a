"""Care of the file as a whole: what is derived is checked and put right, the file is copied and made small."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.codec import from_json
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.text import digest
from flowcabal_tui.store.book.outbox import TaskMaker
from flowcabal_tui.store.book.purge import DUE, Purged, purge_chapter, purge_output
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Database, Row
from flowcabal_tui.store.file.faults import damaged, fault
from flowcabal_tui.store.memory.indexing import ChapterIndex, restore_index
from flowcabal_tui.store.migrations import require_known, version_of
from flowcabal_tui.store.runs.journal import Clock

_ALL: Final = """SELECT uri, generation, level, method='hand', digest, body, evidence
    FROM derived LEFT JOIN blob USING (digest)"""
_RECENT: Final = 100
"""Of so many runs all that was remembered stays: they may be taken up again, or looked into."""
_SWEPT: Final = """DELETE FROM value WHERE (key>='find/' AND key<'find0' OR key>='tokens/' AND key<'tokens0')
    AND CAST(substr(key, instr(key, '/')+1) AS INTEGER) < (SELECT max(generation) FROM run)
    AND CAST(substr(key, instr(key, '/')+1) AS INTEGER) NOT IN (SELECT generation FROM run
        WHERE number > (SELECT max(number) FROM run) - ? OR number IN
            (SELECT max(number) FROM run GROUP BY workflow, chapter)
        OR NOT EXISTS (SELECT 1 FROM event WHERE run=run.id AND node='' AND kind='run-ended'))"""
"""A run that is like the last one for its chapter reads the generation of that one, so what it found stays too."""


class Upkeep:
    """Rare and slow things; each is one transaction, or changes nothing."""

    def __init__(self, database: Database, path: Path, clock: Clock, language: str, forget: Callable[[], None]) -> None:
        """`forget` empties the caches of what the file says."""
        self._database, self._path, self._clock, self._language = database, path, clock, language
        self._forget = forget

    async def restore_index(self, indexes: Sequence[ChapterIndex]) -> int:
        """Brings passages, mentions and words to what the texts say; returns how many chapters were wrong."""
        wrong = await self._database.do(lambda connection: restore_index(connection, indexes))
        self._forget()
        return wrong

    async def damaged(self) -> tuple[str, ...]:
        """The uris of derived texts that cannot be read, are not what their digests say, or lack a level."""
        return tuple(
            sorted({uri for uri, _since in await asyncio.to_thread(_damaged, await self._database.rows(_ALL))})
        )

    async def forget_damaged(self) -> tuple[str, ...]:
        """Takes them out, so that they are made again; returns their uris."""

        def forget(connection: sqlite3.Connection) -> tuple[str, ...]:
            rows = connection.execute(_ALL).fetchall()
            found = _damaged(rows)
            connection.executemany("DELETE FROM derived WHERE uri=? AND generation=?", sorted(found))
            connection.executemany(
                "DELETE FROM blob WHERE digest=? AND digest NOT IN (SELECT digest FROM version)",
                [(name,) for *_place, name, body, _evidence in rows if not _is_text(name, body)],
            )
            return tuple(sorted({uri for uri, _since in found}))

        uris = await self._database.do(forget)
        self._forget()
        return uris

    async def purge_chapter(self, chapter: ChapterId, tasks: TaskMaker) -> Purged:
        """Takes a chapter out of the tables for good. KeyError if there is none. `compact` takes it out of the file."""
        at = self._clock().isoformat()
        purged = await self._database.do(
            lambda connection: purge_chapter(connection, chapter, tasks, self._language, at)
        )
        self._forget()
        return purged

    async def purge_output(self, output: OutputId, tasks: TaskMaker) -> Purged:
        """The same for a kept output."""
        at = self._clock().isoformat()
        purged = await self._database.do(lambda connection: purge_output(connection, output, tasks, self._language, at))
        self._forget()
        return purged

    async def compact(self) -> None:
        """Writes the file anew without what was deleted, and empties its log. Raises DiskFull or ProjectError."""

        def compact(connection: sqlite3.Connection) -> None:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute("DELETE FROM value WHERE key=?", (DUE,))

        await self._database.alone(compact)

    async def compact_if_due(self) -> None:
        """The same where a purge was cut off before it. Raises DiskFull or ProjectError."""
        if await self._database.row("SELECT 1 FROM value WHERE key=?", (DUE,)):
            await self.compact()

    async def sweep(self, recent: int = _RECENT) -> None:
        """Forgets what was remembered for generations of the memory that no run will read again."""
        await self._database.do(lambda connection: connection.execute(_SWEPT, (recent,)).close())

    async def copy_to(self, target: Path) -> None:
        """The whole file as of this moment, while others write to it. Raises DiskFull; then nothing is left."""
        await asyncio.to_thread(_copy, self._path, target)


def _copy(path: Path, target: Path) -> None:
    """In a folder that cannot be written, a database that nobody has open is read as one that never changes."""
    alone = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-shm").exists()
    options = "mode=ro&immutable=1" if alone else "mode=ro"
    with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True)) as connection:
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.Error as error:
            target.unlink(missing_ok=True)
            raise fault(error) from error


def require_whole(path: Path) -> int:
    """The format of a database that is sound, known, and does nothing by itself.

    Raises ProjectDamaged or ProjectTooNew.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            version = version_of(connection)
            require_known(version)
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
            active = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
    except sqlite3.Error as error:
        raise fault(error) from error
    if found != ["ok"] or active or not version:
        raise damaged("; ".join([*found, *(str(name) for (name,) in active)]))
    return version


def _damaged(rows: Sequence[Row]) -> set[tuple[str, int]]:
    """Uri and generation of what is not whole. The levels of a profile or arc are made together, and go together."""
    levels: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for uri, since, level, by_hand, *_rest in rows:
        levels[uri, since] |= {level} if not by_hand and not uri.startswith("manuscript/") else {"L0", "L1"}
    broken = {(row[0], row[1]) for row in rows if not _is_whole(*row[4:])}
    return broken | {place for place, found in levels.items() if not found >= {"L0", "L1"}}


def _is_whole(name: str, body: str | bytes | None, evidence: str | bytes) -> bool:
    try:
        from_json(tuple[Evidence, ...], unpack(evidence))
    except (zlib.error, ValueError):
        return False
    return _is_text(name, body)


def _is_text(name: str, body: str | bytes | None) -> bool:
    """Does a blob hold the text of that digest?"""
    try:
        return body is not None and digest(unpack(body)) == name
    except (zlib.error, ValueError):
        return False
