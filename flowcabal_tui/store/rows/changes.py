"""Rows of the log of changes, written in the transaction of the change."""

from __future__ import annotations

import sqlite3

from flowcabal_tui.domain.changes import ChangeKind
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.store.rows.generations import next_generation


def log_change(connection: sqlite3.Connection, generation: Generation, kind: ChangeKind, subject: str, at: str) -> None:
    """Logs the change of a generation; `subject` is its chapter or kept output ("": several)."""
    connection.execute(
        "INSERT INTO change_log (generation, kind, subject, at) VALUES (?, ?, ?, ?)", (generation, kind, subject, at)
    )


def begin_change(connection: sqlite3.Connection, kind: ChangeKind, subject: str, position: int, at: str) -> Generation:
    """Begins a generation of the book (see `next_generation`) and logs it."""
    generation = next_generation(connection, "truth", position, at)
    log_change(connection, generation, kind, subject, at)
    return generation


def mark_undone(connection: sqlite3.Connection, generation: Generation, undo: Generation) -> None:
    """Logs that a change was undone in the generation `undo`."""
    connection.execute("UPDATE change_log SET undone=? WHERE generation=?", (undo, generation))
