"""Passages rewritten by a model: proposed, and accepted; these show which words of a chapter are the model's."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.proposed_rewrite import NO_REWRITE, ProposedRewrite, RewriteId, RewriteState
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import pack, unpack
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.rewrites import accept

_FIELDS: Final = "number, state, body, at"


class Rewrites(StorePart):
    """Adds and reads rewrites."""

    async def add(self, rewrite: Rewrite, proposed: RewriteId = NO_REWRITE) -> None:
        """Stores an accepted rewrite, and marks the proposed one (0: none) as accepted."""
        await self._database.do(lambda connection: accept(connection, [rewrite], proposed))

    async def of(self, chapter: ChapterId) -> tuple[Rewrite, ...]:
        """The accepted rewrites of a chapter, oldest first."""
        rows = await self._database.rows(
            "SELECT body, start, end, after, model, instruction, at FROM rewrite WHERE chapter=? ORDER BY number",
            (chapter,),
        )
        return tuple(
            Rewrite(chapter, unpack(body), start, end, unpack(after), model, instruction, datetime.fromisoformat(at))
            for body, start, end, after, model, instruction, at in rows
        )

    @transaction
    def propose(self, connection: Connection, rewrite: ProposedRewrite) -> RewriteId:
        """Stores a proposed rewrite before it is shown; one with an id replaces that one."""
        body, at = pack(to_json(replace(rewrite, id=NO_REWRITE))), self._now()
        row = connection.execute(
            "INSERT OR REPLACE INTO proposed_rewrite (number, chapter, state, body, at) VALUES (?, ?, ?, ?, ?)",
            (rewrite.id or None, rewrite.chapter, rewrite.state, body, at),
        )
        return RewriteId(row.lastrowid or 0)

    async def proposed(self, rewrite: RewriteId) -> ProposedRewrite:
        """A proposed rewrite. Raises Gone if there is none."""
        one = f"SELECT {_FIELDS} FROM proposed_rewrite WHERE number=?"
        return _proposed(await self._database.one(one, (rewrite,), rewrite))

    async def waiting(self) -> tuple[ProposedRewrite, ...]:
        """The rewrites neither accepted nor refused, of chapters in the book, oldest first."""
        rows = await self._database.rows(
            f"SELECT {_FIELDS} FROM proposed_rewrite WHERE state='waiting' AND NOT coalesce((SELECT deleted FROM place"
            " WHERE place.chapter=proposed_rewrite.chapter ORDER BY generation DESC LIMIT 1), 1) ORDER BY number"
        )
        return self._database.readable(mark("proposed rewrites"), _proposed, rows)

    @transaction
    def settle(self, connection: Connection, rewrite: RewriteId, state: RewriteState) -> None:
        """Stores the writer's decision on a proposed rewrite. Raises Gone if there is none."""
        if not connection.execute("UPDATE proposed_rewrite SET state=? WHERE number=?", (state, rewrite)).rowcount:
            raise Gone(rewrite)


@decodes
def _proposed(row: Row) -> ProposedRewrite:
    number, state, body, at = row
    rewrite = read_json(ProposedRewrite, unpack(body))
    return replace(rewrite, id=RewriteId(number), state=state, at=datetime.fromisoformat(at))
