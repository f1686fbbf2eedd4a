"""Small values by key, and unsaved editor text."""

from __future__ import annotations

import json
import logging
from sqlite3 import Connection
from typing import Any, TypeVar

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.store.file.blobs import pack, unpack
from flowcabal_tui.store.file.connection import StorePart, transaction
from flowcabal_tui.store.file.reading import read_json

log = logging.getLogger(__name__)
T = TypeVar("T")


class Values(StorePart):
    """JSON values by key (token factors, confirmations), and other editor text that survives a crash.

    Unsaved text of chapters is in `Drafts`.
    """

    async def get(self, key: str, kind: type[T]) -> T | None:
        """The value of type `kind`; None if there is none. Raises ProjectDamaged."""
        row = await self._database.row("SELECT json FROM value WHERE key=? AND json<>'null'", (key,))
        return read_json(kind, row[0]) if row else None

    async def learned(self, key: str, kind: type[T]) -> T | None:
        """A value that the program can determine again; None also if it cannot be read."""
        try:
            return await self.get(key, kind)
        except ProjectDamaged as error:
            log.warning("the value %s was skipped: %s", key, error.detail)
            return None

    async def put(self, key: str, value: Any) -> None:
        """Stores a JSON value."""
        text = json.dumps(value, ensure_ascii=True, sort_keys=True)
        await self._database.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (key, text))

    async def draft(self, key: str) -> str | None:
        """Unsaved text, as typed."""
        row = await self._database.row("SELECT body FROM draft WHERE key=?", (key,))
        return unpack(row[0]) if row else None

    @transaction
    def put_draft(self, connection: Connection, key: str, text: str | None) -> None:
        """Stores unsaved text; None deletes it."""
        if text is None:
            connection.execute("DELETE FROM draft WHERE key=?", (key,))
        else:
            at = self._now()
            connection.execute("INSERT OR REPLACE INTO draft (key, body, at) VALUES (?, ?, ?)", (key, pack(text), at))
