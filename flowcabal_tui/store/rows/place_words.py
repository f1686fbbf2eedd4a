"""The writer's decisions on places that depend on a change, as rows: each belongs to a review and is deleted with
it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.impact import PlaceWord


def put_place_words(connection: sqlite3.Connection, words: Sequence[PlaceWord], generation: Generation) -> None:
    """Stores the decisions of a review."""
    connection.executemany(
        "INSERT OR REPLACE INTO place_word VALUES (?, ?, ?, ?, ?)",
        [(each.key, generation, each.word, each.chapter, each.source) for each in words],
    )


def take_back_place_words(connection: sqlite3.Connection, generation: Generation) -> None:
    """Deletes the decisions of a review that is undone: earlier ones apply again."""
    connection.execute("DELETE FROM place_word WHERE generation=?", (generation,))


def forget_place_words(connection: sqlite3.Connection, chapter: str) -> None:
    """Deletes decisions on places of a chapter, or on a change of it."""
    connection.execute("DELETE FROM place_word WHERE chapter=? OR source=?", (chapter, chapter))
