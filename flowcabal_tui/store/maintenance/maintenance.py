"""Maintenance of the whole file: checks and repairs derived data, copies and compacts the file."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.text import digest
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Clock, Database, Row, require_sound
from flowcabal_tui.store.file.faults import ERRORS, damaged, fault
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.maintenance.purge import Purged, purge_build, purge_chapter, purge_output
from flowcabal_tui.store.maintenance.purge_left import DUE, PurgeLeft, PurgeStep, left_of, purge_left, put_purge_left
from flowcabal_tui.store.memory.indexing import ChapterIndex, restore_index
from flowcabal_tui.store.rows.tasks import TaskMaker

_ALL: Final = """SELECT uri, generation, level, method='hand', digest, body, evidence
    FROM derived LEFT JOIN blob USING (digest)"""
_RECENT: Final = 100
"""The number of last runs whose cached data stays: they may be resumed, or looked into."""
_SWEPT: Final = """DELETE FROM value WHERE (key>='find/' AND key<'find0' OR key>='tokens/' AND key<'tokens0')
    AND CAST(substr(key, instr(key, '/')+1) AS INTEGER) < (SELECT max(generation) FROM run)
    AND CAST(substr(key, instr(key, '/')+1) AS INTEGER) NOT IN (SELECT generation FROM run
        WHERE number > (SELECT max(number) FROM run) - ? OR number IN
            (SELECT max(number) FROM run GROUP BY workflow, chapter)
        OR NOT EXISTS (SELECT 1 FROM event WHERE run=run.id AND node='' AND kind='run-ended'))"""
"""A run like the last one for its chapter reads the generation of that one, so its cached data stays too."""


class Maintenance:
    """Rare and slow operations; each is one transaction, or changes nothing."""

    def __init__(self, database: Database, path: Path, clock: Clock, language: str, forget: Callable[[], None]) -> None:
        """`forget` empties the caches of the file's contents."""
        self._database, self._path, self._clock, self._language = database, path, clock, language
        self._forget = forget

    async def restore_index(self, indexes: Sequence[ChapterIndex]) -> int:
        """Rebuilds passages, mentions and words from the texts. Returns the number of chapters with errors."""
        wrong = await self._database.do(lambda connection: restore_index(connection, indexes))
        self._forget()
        return wrong

    async def damaged(self) -> tuple[str, ...]:
        """The uris of derived texts that cannot be read, do not match their digests, or lack a level."""
        return tuple(
            sorted({uri for uri, _since in await asyncio.to_thread(_damaged, await self._database.rows(_ALL))})
        )

    async def forget_damaged(self) -> tuple[str, ...]:
        """Deletes damaged derived texts, so that they are made again. Returns their uris."""

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
        """Purges a chapter from the tables. Raises Gone if there is none. `compact` removes it from the file."""
        at = self._clock().isoformat()
        purged = await self._database.do(
            lambda connection: purge_chapter(connection, chapter, tasks, self._language, at)
        )
        self._forget()
        return purged

    async def purge_output(self, output: OutputId, tasks: TaskMaker) -> Purged:
        """Purges a kept output from the tables."""
        at = self._clock().isoformat()
        purged = await self._database.do(lambda connection: purge_output(connection, output, tasks, self._language, at))
        self._forget()
        return purged

    async def purge_build(self, build: str) -> Purged:
        """Purges a build of a workflow from the tables; its resulting workflow stays."""
        return await self._database.do(lambda connection: purge_build(connection, build, self._language))

    async def purge_left(self) -> PurgeLeft:
        """The steps that no purge has finished yet."""
        row = await self._database.row("SELECT json FROM value WHERE key=?", (DUE,))
        return left_of(row[0]) if row else PurgeLeft()

    async def purge_step_done(self, step: PurgeStep) -> None:
        """Records that a step of all purges is done."""
        await self._database.do(lambda connection: _step_done(connection, step))

    async def compact(self) -> bool:
        """Rewrites the file without purged data, and empties its log. Returns False while a reader prevents that.

        Another connection that reads an older state keeps the log from being emptied. Raises DiskFull or ProjectError.
        """
        return await self._database.alone(_compact)

    async def sweep(self, recent: int = _RECENT) -> None:
        """Deletes cached data of generations that no run will read again."""
        await self._database.execute(_SWEPT, (recent,))

    async def copy_to(self, target: Path) -> None:
        """Copies the whole file as of this moment, while others write to it. Raises DiskFull and then leaves no
        copy."""
        await asyncio.to_thread(_copy, self._path, target)


def _compact(connection: sqlite3.Connection) -> bool:
    """Does not wait for readers: queued writes would wait too."""
    ((patience,),) = connection.execute("PRAGMA busy_timeout").fetchall()
    connection.execute("PRAGMA busy_timeout=0").fetchall()
    try:
        if "pages" in purge_left(connection).steps:
            connection.execute("VACUUM")
            _step_done(connection, "pages")
        ((busy, _frames, _moved),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}").fetchall()
    if not busy:
        _step_done(connection, "log")
    return not busy


def _step_done(connection: sqlite3.Connection, step: PurgeStep) -> None:
    left = purge_left(connection)
    put_purge_left(connection, replace(left, steps=tuple(each for each in left.steps if each != step)))


def _copy(path: Path, target: Path) -> None:
    """Copies the file. In a read-only folder, a database that no process has open is read as immutable."""
    alone = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-shm").exists()
    options = "mode=ro&immutable=1" if alone else "mode=ro"
    with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True)) as connection:
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        except ERRORS as error:
            target.unlink(missing_ok=True)
            raise fault(error) from error


def require_whole(path: Path) -> int:
    """The format of a sound database of a known version without active parts.

    Raises ProjectDamaged or ProjectTooNew.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            version = require_sound(connection)
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
    except ERRORS as error:
        raise fault(error) from error
    if found != ["ok"] or not version:
        raise damaged("; ".join(found))
    return version


def _damaged(rows: Sequence[Row]) -> set[tuple[str, int]]:
    """Uri and generation of damaged states. The levels of a profile or arc are made, and deleted, together."""
    levels: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for uri, since, level, by_hand, *_rest in rows:
        levels[uri, since] |= {level} if not by_hand and not uri.startswith("manuscript/") else {"L0", "L1"}
    broken = {(row[0], row[1]) for row in rows if not _is_whole(*row[4:])}
    return broken | {place for place, found in levels.items() if not found >= {"L0", "L1"}}


def _is_whole(name: str, body: str | bytes | None, evidence: str | bytes) -> bool:
    try:
        read_json(tuple[Evidence, ...], unpack(evidence))
    except (ProjectDamaged, ValueError):
        return False
    return _is_text(name, body)


def _is_text(name: str, body: str | bytes | None) -> bool:
    """True when a blob contains the text of that digest."""
    try:
        return body is not None and digest(unpack(body)) == name
    except (ProjectDamaged, ValueError):
        return False
