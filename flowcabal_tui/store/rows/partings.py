"""The text between two chapters before their split, so that a merge restores the same text."""

from __future__ import annotations

import json
import sqlite3

from flowcabal_tui.domain.ids import ChapterId


def keep_parting(connection: sqlite3.Connection, first: ChapterId, second: ChapterId, between: str) -> None:
    """Stores the text that a split removed between the two."""
    value = json.dumps({"first": first, "between": between})
    connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (_key(second), value))


def kept_parting(connection: sqlite3.Connection, first: ChapterId, second: ChapterId) -> str | None:
    """The text that a split removed between the two; None where they were never one."""
    row = connection.execute("SELECT json FROM value WHERE key=?", (_key(second),)).fetchone()
    kept = json.loads(row[0]) if row else {}
    return str(kept["between"]) if kept.get("first") == first else None


def _key(second: ChapterId) -> str:
    return f"parting/{second}"
