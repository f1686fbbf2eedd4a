"""Locks of chapters, and ticks of passes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.revision import PASSES, ChapterLock, PassId, RevisionPass, Tick
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.locks import LOCKED, locked_error
from flowcabal_tui.store.rows.texts import EMPTY, chapter_now, latest

_PASSES: Final = "revision/passes"


class Revision(StorePart):
    """Each change is one transaction."""

    async def locks(self) -> dict[ChapterId, ChapterLock]:
        """The locks of chapters that are or were locked."""
        rows = await self._database.rows("SELECT chapter, version, locked, at FROM chapter_lock")
        return {lock.chapter: lock for lock in self._database.readable(mark("locked"), _lock, rows)}

    @transaction
    def lock(self, connection: Connection, chapters: Sequence[ChapterId], *, locked: bool) -> None:
        """Locks chapters in their present version, or unlocks them; an unchanged state is kept. Raises Gone."""
        at = self._now()
        for chapter in chapters:
            version = chapter_now(connection, chapter).version
            connection.execute(
                "INSERT INTO chapter_lock SELECT ?, ?, 1, ? WHERE ? ON CONFLICT (chapter)"
                " DO UPDATE SET version=excluded.version, locked=1, at=excluded.at WHERE NOT locked",
                (chapter, version, at, locked),
            )
            if not locked:
                connection.execute("UPDATE chapter_lock SET locked=0 WHERE chapter=?", (chapter,))

    async def require_unlocked(self, chapter: ChapterId) -> None:
        """Raises ChapterLocked for a locked chapter."""
        if (row := await self._database.row(LOCKED, (chapter,))) is not None:
            raise locked_error(*row)

    async def passes(self) -> tuple[RevisionPass, ...]:
        """The passes in the writer's order."""
        row = await self._database.row("SELECT json FROM value WHERE key=?", (_PASSES,))
        return read_json(tuple[RevisionPass, ...], row[0]) if row else PASSES

    @transaction
    def put_passes(self, connection: Connection, passes: Sequence[RevisionPass]) -> None:
        """Replaces all passes; ticks of removed ones are deleted."""
        text = json.dumps([to_plain(each) for each in passes], ensure_ascii=False)
        ids = json.dumps([each.id for each in passes])
        connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (_PASSES, text))
        connection.execute("DELETE FROM pass_tick WHERE pass NOT IN (SELECT value FROM json_each(?))", (ids,))

    async def ticks(self) -> tuple[Tick, ...]:
        """The ticks of all passes and chapters."""
        rows = await self._database.rows("SELECT pass, chapter, item, digest FROM pass_tick")
        return tuple(Tick(*row) for row in rows)

    @transaction
    def tick(self, connection: Connection, of: PassId, chapter: ChapterId, items: Iterable[str], *, on: bool) -> None:
        """Ticks or unticks items of a pass for a chapter in its present text. Raises Gone for an unknown chapter."""
        at = self._now()
        chapter_now(connection, chapter)
        newest = latest(connection, chapter)
        text = newest.digest if newest else EMPTY
        for item in items:
            connection.execute("DELETE FROM pass_tick WHERE (pass, chapter, item)=(?, ?, ?)", (of, chapter, item))
            if on:
                connection.execute("INSERT INTO pass_tick VALUES (?, ?, ?, ?, ?)", (of, chapter, item, text, at))


@decodes
def _lock(row: Row) -> ChapterLock:
    chapter, version, locked, at = row
    return ChapterLock(chapter, int(version), bool(locked), datetime.fromisoformat(at))
