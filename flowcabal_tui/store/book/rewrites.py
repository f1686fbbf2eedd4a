"""Passages that a model rewrote and the writer accepted: they show which words of a chapter are the model's."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.store.file.blobs import pack, unpack
from flowcabal_tui.store.file.connection import Database


class Rewrites:
    """Adds and reads accepted rewrites."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, rewrite: Rewrite) -> None:
        """Remembers one."""
        row = (
            *(rewrite.chapter, pack(rewrite.text), rewrite.start, rewrite.end, pack(clean(rewrite.after))),
            *(clean_line(rewrite.model), clean(rewrite.instruction), rewrite.at.isoformat()),
        )

        def add(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO rewrite (chapter, body, start, end, after, model, instruction, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )

        await self._database.do(add)

    async def of(self, chapter: ChapterId) -> tuple[Rewrite, ...]:
        """Those of a chapter, oldest first."""
        rows = await self._database.rows(
            "SELECT body, start, end, after, model, instruction, at FROM rewrite WHERE chapter=? ORDER BY number",
            (chapter,),
        )
        return tuple(
            Rewrite(chapter, unpack(body), start, end, unpack(after), model, asked, datetime.fromisoformat(at))
            for body, start, end, after, model, asked, at in rows
        )
