"""Kinds and fields of names in the writer's words."""

from __future__ import annotations

import sqlite3
from typing import Final

STATEMENTS: Final = (
    "ALTER TABLE entity ADD COLUMN own_kind TEXT NOT NULL DEFAULT ''",
    # a list of [name, value]
    "ALTER TABLE entity ADD COLUMN fields TEXT NOT NULL DEFAULT '[]'",
)


def m016_own_kinds(connection: sqlite3.Connection) -> None:
    """Adds the columns."""
    for statement in STATEMENTS:
        connection.execute(statement)
