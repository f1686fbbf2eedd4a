"""The last requests of a project, whole."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Final

from flowcabal_tui.domain.model_calls import SentRequest
from flowcabal_tui.store.file.blobs import pack, unpack
from flowcabal_tui.store.file.connection import StorePart

KEPT: Final = 20
_COLUMNS: Final = "role, model, purpose, run, attempt, body, at"


class SentRequests(StorePart):
    """Keeps the last `KEPT` requests, compressed. A purge removes all rows, because no row records whose words it
    contains."""

    def keep(self, sent: SentRequest) -> None:
        """Queues a request, and drops the oldest. Does not wait."""

        def keep(connection: sqlite3.Connection) -> None:
            row = (sent.role, sent.model, sent.purpose, sent.run, sent.attempt, pack(sent.body), sent.at.isoformat())
            connection.execute(f"INSERT INTO sent ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute("DELETE FROM sent WHERE number <= (SELECT max(number) FROM sent) - ?", (KEPT,))

        self._database.writer.post(keep)

    async def all(self) -> tuple[SentRequest, ...]:
        """The stored requests, newest first."""
        rows = await self._database.rows(f"SELECT {_COLUMNS} FROM sent ORDER BY number DESC", ())
        return tuple(
            SentRequest(role, model, purpose, run, attempt, unpack(body), datetime.fromisoformat(at))
            for role, model, purpose, run, attempt, body, at in rows
        )

    async def of(self, run: str, purpose: str, attempt: int) -> SentRequest | None:
        """The newest request of an attempt, if it is still kept."""
        found = (sent for sent in await self.all() if (sent.run, sent.purpose, sent.attempt) == (run, purpose, attempt))
        return next(found, None)
