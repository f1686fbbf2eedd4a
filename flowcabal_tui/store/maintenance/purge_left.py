"""Remaining steps of purges after their transaction: stored in the database, so that a kill only delays them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.store.file.reading import decodes

PurgeStep = Literal["files", "knowledge", "pages", "log"]
DUE: Final = "compact"
"""The key of the remaining steps of a purge; see `PurgeLeft`."""
STEPS: Final[tuple[PurgeStep, ...]] = ("files", "knowledge", "pages", "log")


@dataclass(frozen=True, slots=True)
class PurgeLeft:
    """The remaining steps of purges, in order: the project's files, the knowledge server's folder, the database's free
    pages, its log.

    `texts` are the digests of texts that no file may contain.
    """

    steps: tuple[PurgeStep, ...] = ()
    texts: frozenset[Digest] = frozenset()


def purge_left(connection: sqlite3.Connection) -> PurgeLeft:
    """The steps that no purge has finished yet."""
    row = connection.execute("SELECT json FROM value WHERE key=?", (DUE,)).fetchone()
    return left_of(row[0]) if row else PurgeLeft()


@decodes
def left_of(text: str) -> PurgeLeft:
    """The steps from the value's JSON; earlier releases wrote `true`."""
    value = json.loads(text)
    if not isinstance(value, dict):
        return PurgeLeft(STEPS)
    steps, texts = value.get("steps", STEPS), value.get("texts", ())
    return PurgeLeft(tuple(step for step in STEPS if step in steps), frozenset(texts))


def put_purge_left(connection: sqlite3.Connection, left: PurgeLeft) -> None:
    """Stores the remaining steps; none left deletes the row."""
    if not left.steps:
        connection.execute("DELETE FROM value WHERE key=?", (DUE,))
        return
    value = json.dumps({"steps": left.steps, "texts": sorted(left.texts)})
    connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (DUE, value))
