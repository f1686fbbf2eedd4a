"""The project's state: values that workflows store besides the book, one row per key."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from flowcabal_tui.domain.state import DualState, StateEntry
from flowcabal_tui.store.file.blobs import pack_large, unpack
from flowcabal_tui.store.file.connection import StorePart
from flowcabal_tui.store.file.reading import read_json


class States(StorePart):
    """Reads the state; runs write it together with their events."""

    async def load(self) -> DualState:
        """The present state; `Journal.keep_output` keeps its changes."""
        rows = await self._database.rows("SELECT key, working, stable, pending FROM state ORDER BY key")
        entries = [
            StateEntry(
                key,
                read_json(object, unpack(working)) if working is not None else None,
                read_json(object, unpack(stable)) if stable is not None else None,
                working is not None,
                stable is not None,
                bool(pending),
            )
            for key, working, stable, pending in rows
        ]
        return DualState(entries, durable=True)


def put_state(connection: sqlite3.Connection, entries: Sequence[StateEntry]) -> None:
    """Writes the new state of keys; in the writer's thread."""
    connection.executemany(
        "INSERT OR REPLACE INTO state (key, working, stable, pending) VALUES (?, ?, ?, ?)",
        [
            (
                entry.key,
                pack_large(json.dumps(entry.working, ensure_ascii=False)) if entry.has_working else None,
                pack_large(json.dumps(entry.stable, ensure_ascii=False)) if entry.has_stable else None,
                entry.pending,
            )
            for entry in entries
        ],
    )
