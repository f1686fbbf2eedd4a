"""The tasks of a paid job: in story order, each reading the memory as of a pinned generation.

A task leaves the job when it is done, so what is open tells how far the job is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.memory import BackgroundTask, Freshness
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.rows.tasks import TASK_FIELDS, add_tasks, task_of

_NEWEST: Final = "(SELECT coalesce(max(id), 0) FROM generation)"


class JobTasks:
    """Tasks of jobs by their state; which may begin is for the job to say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, job: str, tasks: Iterable[BackgroundTask]) -> None:
        """Adds them in one transaction, in the place of those for the same subjects."""
        given = [replace(task, job=job) for task in tasks]
        await self._database.do(lambda connection: add_tasks(connection, given))

    async def open(self, job: str) -> tuple[BackgroundTask, ...]:
        """Those that are not done, in story order; of a chapter in the order in which they were added."""
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE job=? AND state<>'fresh' ORDER BY position, id", (job,)
        )
        return tuple(task_of(row) for row in rows)

    async def begin(self, task: BackgroundTask) -> BackgroundTask:
        """Notes that a task runs, and pins the newest generation if none is pinned; returns it so. Raises Gone."""

        def begin(connection: sqlite3.Connection) -> BackgroundTask:
            connection.execute(
                f"UPDATE task SET state='running', pinned=coalesce(pinned, {_NEWEST}) WHERE id=?", (task.id,)
            )
            row = connection.execute(f"SELECT {TASK_FIELDS} FROM task WHERE id=?", (task.id,)).fetchone()
            if row is None:
                raise Gone(task.id)
            return task_of(row)

        return await self._database.do(begin)

    async def finish(self, task: BackgroundTask) -> None:
        """Takes a task that is done out of its job; the others of its position read what was there by now."""

        def finish(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE task SET state='fresh', error='', job='' WHERE id=?", (task.id,))
            connection.execute(
                f"UPDATE task SET pinned={_NEWEST} WHERE job=? AND position=? AND pinned IS NULL",
                (task.job, task.position),
            )

        await self._database.do(finish)

    async def drop(self, job: str) -> None:
        """Takes out what is not done of a job."""
        await self._database.do(
            lambda connection: connection.execute("DELETE FROM task WHERE job=? AND state<>'fresh'", (job,)).close()
        )

    async def move(self, job: str, before: Iterable[Freshness], after: Freshness) -> None:
        """Puts all tasks of a job in these states into another, as if they were new."""
        states = tuple(before)
        marks = ", ".join("?" * len(states))
        await self._database.do(
            lambda connection: connection.execute(
                f"UPDATE task SET state=?, tries=0, error='', not_before=0 WHERE job=? AND state IN ({marks})",
                (after, job, *states),
            ).close()
        )
