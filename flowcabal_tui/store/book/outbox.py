"""Pending background work: rows written in the transaction of the change that causes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.memory import LONGEST_WAIT, TASK_KINDS, BackgroundTask, Freshness, TaskKind
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.rows.generations import NEWEST
from flowcabal_tui.store.rows.tasks import AS_NEW, READABLE, TASK_FIELDS, add_tasks, task_of

_IS_DUE: Final = f"not (:now<not_before AND not_before<=:now+{LONGEST_WAIT})"
"""See `BackgroundTask.is_due`."""
_OPEN: Final[tuple[Freshness, ...]] = ("waiting", "running", "stale", "failed", "cancelled")


class Outbox:
    """Background tasks by state; other code executes them."""

    def __init__(self, database: Database, is_left: Callable[[], bool] = lambda: False) -> None:
        """When `is_left` returns True (no process writes to the project), tasks that a killed process had begun are
        reported as waiting."""
        self._database, self._is_left = database, is_left

    async def add(self, tasks: Iterable[BackgroundTask]) -> None:
        """Adds tasks (their ids and states are ignored); an existing one that did not fail is left unchanged."""
        given = tuple(tasks)
        await self._database.do(lambda connection: add_tasks(connection, given))

    async def next(
        self, limit: int, now: float, kinds: Iterable[TaskKind] = TASK_KINDS, *, after: Iterable[TaskKind] = ()
    ) -> tuple[BackgroundTask, ...]:
        """Tasks that are due at the time `now` (seconds): mirror first, then index, then by id, checks last.

        None while a task of the kinds `after` is due or running. Tasks of paid jobs are excluded.
        """
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE state='waiting' AND {_IS_DUE} AND job='' AND {READABLE}"
            " AND kind IN (SELECT value FROM json_each(:kinds))"
            " AND NOT EXISTS (SELECT 1 FROM task WHERE kind IN (SELECT value FROM json_each(:after)) AND job=''"
            f" AND (state='running' OR state='waiting' AND {_IS_DUE}))"
            " ORDER BY CASE kind WHEN 'mirror' THEN 0 WHEN 'index' THEN 1 WHEN 'check' THEN 3 ELSE 2 END, id"
            " LIMIT :limit",
            {"now": now, "kinds": json.dumps([*kinds]), "after": json.dumps([*after]), "limit": limit},
        )
        return tuple(task_of(row) for row in rows)

    async def begin(self, task: int) -> bool:
        """Marks a task as running, and stores the generation that it works on.

        Returns False when it is no longer waiting: it was cancelled, or replaced by a newer one.
        """
        begun = await self._database.execute(
            f"UPDATE task SET state='running', pinned=coalesce(pinned, {NEWEST}) WHERE id=? AND state='waiting'",
            (task,),
        )
        return bool(begun)

    async def has(self, task: int) -> bool:
        """False when the task was deleted, usually since one for another source of its subject has replaced it."""
        return await self._database.row("SELECT 1 FROM task WHERE id=?", (task,)) is not None

    async def begin_later(self, task: int) -> None:
        """Returns a running task to those that wait, behind all others."""
        await self._database.execute(
            f"UPDATE task SET {AS_NEW}, id=(SELECT max(id)+1 FROM task) WHERE id=? AND state='running'", (task,)
        )

    async def move(
        self,
        before: Iterable[Freshness],
        after: Freshness,
        task: int | None = None,
        kinds: Iterable[TaskKind] = TASK_KINDS,
    ) -> int:
        """Moves all tasks in these states and of these kinds (or one of them) into another state and resets them.
        Returns their number.

        Tasks of a paid job stay, unless one is given.
        """
        values = (after, json.dumps([*before]), json.dumps([*kinds]), task, task)
        return await self._database.execute(
            f"UPDATE task SET {AS_NEW}, state=? WHERE state IN (SELECT value FROM json_each(?))"
            " AND kind IN (SELECT value FROM json_each(?)) AND (? IS NULL AND job='' OR id=?)",
            values,
        )

    async def again(
        self, kinds: Iterable[TaskKind], subjects: Iterable[str] | None = None, *, as_then: bool = True
    ) -> int:
        """Sets completed tasks (of these subjects, or of all) to waiting. Returns the number; waiting and failed ones
        count too.

        For results that may have been lost. With `as_then` each task runs on the generation of its earlier run.
        """
        wanted = None if subjects is None else json.dumps([*subjects])
        values = (as_then, json.dumps([*kinds]), wanted, wanted)
        return await self._database.execute(
            "UPDATE task SET state='waiting', tries=0, error='', not_before=0,"
            " pinned=CASE WHEN ? AND state='fresh'"
            f" THEN coalesce(pinned, {NEWEST}) END"
            " WHERE state<>'running' AND job='' AND kind IN (SELECT value FROM json_each(?))"
            " AND (? IS NULL OR subject IN (SELECT value FROM json_each(?)))",
            values,
        )

    async def set_state(
        self,
        task: int,
        state: Freshness,
        error: str = "",
        not_before: float = 0.0,
        pinned: Generation | None = None,
    ) -> None:
        """Stores the state of a task; a return to waiting, or a failure, counts as a try.

        The next try works on the generation `pinned` (None: the newest by then); a task of a paid job keeps its own.
        """
        tried = state in ("waiting", "failed")
        values = (state, error, not_before, tried, tried, pinned, task)
        await self._database.execute(
            "UPDATE task SET state=?, error=?, not_before=?, tries=tries+?,"
            " pinned=CASE WHEN job='' AND ? THEN ? ELSE pinned END WHERE id=?",
            values,
        )

    async def all(self, states: Iterable[Freshness] = _OPEN) -> tuple[BackgroundTask, ...]:
        """Tasks in these states (by default all that are not fresh), by id."""
        wanted = set(states)
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE state IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps([*(wanted | {"running"} if self._is_left() else wanted)]),),
        )
        tasks = self._database.readable(mark("background tasks"), task_of, rows)
        return tuple(task for task in map(self._as_it_is, tasks) if task.state in wanted)

    async def ending(self, kind: TaskKind, end: str) -> tuple[BackgroundTask, ...]:
        """The tasks of a kind, in any state, whose subjects end in `end`, by id; without those of paid jobs."""
        rows = await self._database.rows(
            f"SELECT {TASK_FIELDS} FROM task WHERE kind=? AND job='' AND substr(subject, -length(?))=? ORDER BY id",
            (kind, end, end),
        )
        return self._database.readable(mark("background tasks"), task_of, rows)

    def _as_it_is(self, task: BackgroundTask) -> BackgroundTask:
        return replace(task, state="waiting") if task.state == "running" and self._is_left() else task

    async def counts(self, kinds: Collection[TaskKind] = TASK_KINDS) -> dict[Freshness, int]:
        """The number of tasks of these kinds in each state, without those of paid jobs."""
        (counts,) = await self.counts_of([kinds])
        return counts

    async def counts_of(self, lanes: Sequence[Collection[TaskKind]]) -> list[dict[Freshness, int]]:
        """See `counts`, of several sets of kinds at the same moment."""
        rows = await self._database.rows(
            f"SELECT kind, state, count(*) FROM task WHERE job='' AND {READABLE} GROUP BY kind, state ORDER BY state"
        )
        found: list[dict[Freshness, int]] = [{} for _lane in lanes]
        for counts, kinds in zip(found, lanes, strict=True):
            for kind, stored, number in rows:
                if kind in kinds:
                    state: Freshness = "waiting" if stored == "running" and self._is_left() else stored
                    counts[state] = counts.get(state, 0) + number
        return found

    async def hasten(self) -> None:
        """Makes all waiting tasks due now, as if they had not been tried."""
        await self._database.execute(
            "UPDATE task SET not_before=0, tries=0 WHERE state='waiting' AND job='' AND not_before>0"
        )

    async def waits(self, kind: TaskKind) -> bool:
        """True when a task of this kind waits or runs."""
        row = await self._database.row(
            "SELECT 1 FROM task WHERE state IN ('waiting', 'running') AND kind=? LIMIT 1", (kind,)
        )
        return row is not None

    async def reset_running(self) -> None:
        """Sets to waiting the tasks that were running when the last process ended, and the failed ones that cost
        nothing and that other work relies on: writes of manuscript files, and the index."""
        await self._database.execute(
            "UPDATE task SET state='waiting', pinned=CASE job WHEN '' THEN NULL ELSE pinned END"
            " WHERE state='running' OR state='failed' AND kind IN ('mirror', 'index')"
        )
