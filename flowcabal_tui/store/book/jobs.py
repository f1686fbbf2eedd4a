"""The tasks of a paid job: in story order, each reading the memory as of a pinned generation.

A completed task leaves the job, so the open ones show the progress.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from sqlite3 import Connection

from flowcabal_tui.domain.memory import BackgroundTask, Freshness
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import StorePart, one_row, transaction
from flowcabal_tui.store.rows.generations import NEWEST
from flowcabal_tui.store.rows.tasks import TASK_FIELDS, add_tasks, task_of


class JobTasks(StorePart):
    """Tasks of jobs by state; the job decides which may begin."""

    async def add(self, job: str, tasks: Iterable[BackgroundTask]) -> None:
        """Adds tasks in one transaction, replacing those for the same subjects."""
        given = [replace(task, job=job) for task in tasks]
        await self._database.do(lambda connection: add_tasks(connection, given))

    async def open(self, job: str) -> tuple[BackgroundTask, ...]:
        """Tasks that are not completed, in story order; those of one chapter in the order of their addition."""
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE job=? AND state<>'fresh' ORDER BY position, id", (job,)
        )
        return self._database.readable(mark("background tasks"), task_of, rows)

    @transaction
    def begin(self, connection: Connection, task: BackgroundTask) -> BackgroundTask:
        """Marks a task as running, and pins the newest generation if none is pinned. Returns the stored task. Raises
        Gone."""
        connection.execute(f"UPDATE task SET state='running', pinned=coalesce(pinned, {NEWEST}) WHERE id=?", (task.id,))
        return task_of(one_row(connection, f"SELECT {TASK_FIELDS} FROM task WHERE id=?", (task.id,), task.id))

    @transaction
    def finish(self, connection: Connection, task: BackgroundTask) -> None:
        """Removes a completed task from its job; later tasks of its position see what exists now."""
        connection.execute("UPDATE task SET state='fresh', error='', job='' WHERE id=?", (task.id,))
        connection.execute(
            f"UPDATE task SET pinned={NEWEST} WHERE job=? AND position=? AND pinned IS NULL",
            (task.job, task.position),
        )

    async def drop(self, job: str) -> None:
        """Deletes the tasks of a job that are not completed."""
        await self._database.execute("DELETE FROM task WHERE job=? AND state<>'fresh'", (job,))

    async def move(self, job: str, before: Iterable[Freshness], after: Freshness) -> None:
        """Moves all tasks of a job in these states into another state, and resets them."""
        states = tuple(before)
        marks = ", ".join("?" * len(states))
        await self._database.execute(
            f"UPDATE task SET state=?, tries=0, error='', not_before=0 WHERE job=? AND state IN ({marks})",
            (after, job, *states),
        )
