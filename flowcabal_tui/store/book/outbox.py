"""The background work that is still to be done: rows written with the change that asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.memory import TASK_KINDS, BackgroundTask, Freshness, TaskKind
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.rows.tasks import AS_NEW, TASK_FIELDS, add_tasks, task_of

_OPEN: Final[tuple[Freshness, ...]] = ("waiting", "running", "stale", "failed", "cancelled")


class Outbox:
    """Tasks by state; doing them is somebody else's work."""

    def __init__(self, database: Database, is_left: Callable[[], bool] = lambda: False) -> None:
        """Where `is_left` says that nobody works on the project, what a killed process had begun is told as waiting."""
        self._database, self._is_left = database, is_left

    async def add(self, tasks: Iterable[BackgroundTask]) -> None:
        """Adds tasks (their ids and states do not matter); one that is there and did not fail is left as it is."""
        given = tuple(tasks)
        await self._database.do(lambda connection: add_tasks(connection, given))

    async def next(self, limit: int, now: float, kinds: Iterable[TaskKind] = TASK_KINDS) -> tuple[BackgroundTask, ...]:
        """Tasks to do at the time `now` (seconds): mirror first, then index, then in the order of their ids,
        checks last.

        Those of a paid job are not among them.
        """
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE state='waiting' AND not_before<=? AND job=''"
            " AND kind IN (SELECT value FROM json_each(?))"
            " ORDER BY CASE kind WHEN 'mirror' THEN 0 WHEN 'index' THEN 1 WHEN 'check' THEN 3 ELSE 2 END, id LIMIT ?",
            (now, json.dumps([*kinds]), limit),
        )
        return tuple(task_of(row) for row in rows)

    async def begin(self, task: int) -> bool:
        """Notes that a task runs, and of which generation, which is remembered with it.

        False when it waits no longer: it was cancelled, or a newer one took its place.
        """
        return await self._database.do(
            lambda connection: bool(
                connection.execute(
                    "UPDATE task SET state='running',"
                    " pinned=coalesce(pinned, (SELECT coalesce(max(id), 0) FROM generation))"
                    " WHERE id=? AND state='waiting'",
                    (task,),
                ).rowcount
            )
        )

    async def move(self, before: Iterable[Freshness], after: Freshness, task: int | None = None) -> int:
        """Puts all tasks in these states (or one of them) into another at once, as if they were new; how many.

        Those of a paid job stay as they are, unless one is named.
        """
        values = (after, json.dumps([*before]), task, task)
        return await self._database.do(
            lambda connection: (
                connection.execute(
                    f"UPDATE task SET {AS_NEW}, state=?"
                    " WHERE state IN (SELECT value FROM json_each(?)) AND (? IS NULL AND job='' OR id=?)",
                    values,
                ).rowcount
            )
        )

    async def again(
        self, kinds: Iterable[TaskKind], subjects: Iterable[str] | None = None, *, as_then: bool = True
    ) -> int:
        """What was done waits once more (of these subjects, or of all); how many. What waits or failed already counts.

        Used where the outcome may have been lost since. With `as_then` what was done is done as it was: of the
        generation of then.
        """
        wanted = None if subjects is None else json.dumps([*subjects])
        values = (as_then, json.dumps([*kinds]), wanted, wanted)
        return await self._database.do(
            lambda connection: (
                connection.execute(
                    "UPDATE task SET state='waiting', tries=0, error='', not_before=0,"
                    " pinned=CASE WHEN ? AND state='fresh'"
                    " THEN coalesce(pinned, (SELECT coalesce(max(id), 0) FROM generation)) END"
                    " WHERE state<>'running' AND job='' AND kind IN (SELECT value FROM json_each(?))"
                    " AND (? IS NULL OR subject IN (SELECT value FROM json_each(?)))",
                    values,
                ).rowcount
            )
        )

    async def set_state(
        self,
        task: int,
        state: Freshness,
        error: str = "",
        not_before: float = 0.0,
        pinned: Generation | None = None,
    ) -> None:
        """Notes what became of a task; going back to waiting, or failing, counts as a try.

        The next try is of the generation `pinned` (None: the newest by then); one of a paid job stays of its own.
        """
        tried = state in ("waiting", "failed")
        values = (state, error, not_before, tried, tried, pinned, task)
        await self._database.do(
            lambda connection: connection.execute(
                "UPDATE task SET state=?, error=?, not_before=?, tries=tries+?,"
                " pinned=CASE WHEN job='' AND ? THEN ? ELSE pinned END WHERE id=?",
                values,
            ).close()
        )

    async def all(self, states: Iterable[Freshness] = _OPEN) -> tuple[BackgroundTask, ...]:
        """Tasks in these states (those that are not fresh, if none are named), by id."""
        wanted = set(states)
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE state IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps([*(wanted | {"running"} if self._is_left() else wanted)]),),
        )
        return tuple(task for task in map(self._as_it_is, map(task_of, rows)) if task.state in wanted)

    async def ending(self, kind: TaskKind, end: str) -> tuple[BackgroundTask, ...]:
        """The tasks of a kind, in whatever state, whose subjects end so, by id; without those of paid jobs."""
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE kind=? AND job='' AND substr(subject, -length(?))=? ORDER BY id",
            (kind, end, end),
        )
        return tuple(map(task_of, rows))

    def _as_it_is(self, task: BackgroundTask) -> BackgroundTask:
        return replace(task, state="waiting") if task.state == "running" and self._is_left() else task

    async def counts(self, kinds: Iterable[TaskKind] = TASK_KINDS) -> dict[Freshness, int]:
        """How many tasks of these kinds there are in each state, those of a paid job left out."""
        rows = await self._database.rows(
            "SELECT state, count(*) FROM task WHERE job='' AND kind IN (SELECT value FROM json_each(?))"
            " GROUP BY state ORDER BY state",
            (json.dumps([*kinds]),),
        )
        counts: dict[Freshness, int] = dict(rows)
        if self._is_left() and (begun := counts.pop("running", 0)):
            counts["waiting"] = counts.get("waiting", 0) + begun
        return counts

    async def waits(self, kind: TaskKind) -> bool:
        """Is there a task of this kind that waits or runs?"""
        row = await self._database.row(
            "SELECT 1 FROM task WHERE state IN ('waiting', 'running') AND kind=? LIMIT 1", (kind,)
        )
        return row is not None

    async def reset_running(self) -> None:
        """What ran when the last process ended waits again, and a file that could not be written."""
        await self._database.do(
            lambda connection: connection.execute(
                "UPDATE task SET state='waiting', pinned=CASE job WHEN '' THEN NULL ELSE pinned END"
                " WHERE state='running' OR state='failed' AND kind='mirror'"
            ).close()
        )
