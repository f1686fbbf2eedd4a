"""Background tasks as rows: written with the change that asks for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.store.file.connection import Row
from flowcabal_tui.store.file.reading import decodes

TaskMaker = Callable[[str, Digest, int], Iterable[BackgroundTask]]
"""Returns the tasks of a change, by its subject (chapter id, `meta/<name>`, `entity/<id>`), its text's digest and its
chapter's position (0: none). Called in the writer's thread."""

TASK_FIELDS: Final = "id, kind, subject, source, state, position, tries, error, not_before, job, pinned"
READABLE: Final = (
    "typeof(subject)='text' AND typeof(source)='text' AND typeof(error)='text' AND typeof(position)='integer'"
    " AND typeof(tries)='integer' AND typeof(pinned) IN ('integer', 'null')"
)
"""A row that `task_of` can read: others are neither carried out nor counted as open work."""
AS_NEW: Final = "state='waiting', tries=0, error='', not_before=0, pinned=CASE job WHEN '' THEN NULL ELSE pinned END"


def no_tasks(_subject: str, _digest: Digest, _position: int) -> tuple[BackgroundTask, ...]:
    """The task maker of a change without background work."""
    return ()


def add_tasks(connection: sqlite3.Connection, tasks: Iterable[BackgroundTask]) -> None:
    """Adds missing tasks; failed, stale and cancelled ones wait again.

    A task for another source of the same subject is out of date and is deleted; profiles have one per position.
    """
    for task in tasks:
        connection.execute(
            "DELETE FROM task WHERE kind=? AND subject=? AND source<>? AND (kind<>'profile' OR position=?)",
            (task.kind, task.subject, task.source, task.position),
        )
        connection.execute(
            "INSERT INTO task (kind, subject, source, state, position, not_before, job)"
            " VALUES (?, ?, ?, 'waiting', ?, ?, ?)"
            f" ON CONFLICT (kind, subject, source) DO UPDATE SET {AS_NEW}, job=excluded.job"
            " WHERE state IN ('failed', 'stale', 'cancelled')",
            (task.kind, task.subject, task.source, task.position, task.not_before, task.job),
        )


@decodes
def task_of(row: Row) -> BackgroundTask:
    """A task from a row of TASK_FIELDS. Raises ProjectDamaged."""
    return BackgroundTask(*row)
