"""Runs as the history and the queue of questions list them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.journal import EventKind
from flowcabal_tui.domain.run import (
    ANY_RUN,
    NodeState,
    Question,
    RunFilter,
    RunRequest,
    RunState,
    RunSummary,
    node_state_in,
)
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Clock, Database, Row, StorePart
from flowcabal_tui.store.file.lock import UNKNOWN, Holder
from flowcabal_tui.store.file.reading import decodes, read_json, readable

_STATES: Final[dict[EventKind, NodeState]] = {
    "act-started": "running",
    "attempt-started": "running",
    "asked": "waiting",
    "answered": "running",
    "node-done": "done",
    "node-skipped": "skipped",
    "node-failed": "failed",
    "node-blocked": "blocked",
    "cancelled": "cancelled",
}
_RUN_KINDS: Final = "('run-started', 'run-resumed', 'run-ended')"
_MARKS: Final = ", ".join(f"'{kind}'" for kind in _STATES)


_LAST: Final = (
    f"(SELECT kind FROM event WHERE run=run.id AND node='' AND kind IN {_RUN_KINDS} ORDER BY seq DESC LIMIT 1)"
)


def _conditions(where: RunFilter) -> str:
    """The WHERE clause of a query on `run`; its parameters are fields of the filter."""
    wished = {
        "chapter IS :chapter": where.chapter != "any",
        f"{_LAST}<>'run-ended'": where.unended,
        "number<(SELECT number FROM run WHERE id=:before)": where.before is not None,
        "id=:run": where.run is not None,
    }
    return " AND ".join(condition for condition, holds in wished.items() if holds) or "1"


def _node_states(marks: list[Row], resumed: int) -> tuple[list[tuple[NodeId, NodeState]], str]:
    """The states of the nodes, and the title of the last error. `resumed`: the event that resumed the run, or 0."""
    states: list[tuple[NodeId, NodeState]] = []
    error = ""
    for node, kind, failure, seq, _first in marks:
        state = _STATES[kind]
        if seq < resumed and state not in ("done", "skipped", "waiting"):
            state = "pending"
        states.append((NodeId(node), state))
        if state == "failed":
            error = json.loads(unpack(failure))["title"]
    return states, error


@decodes
def _is_done(ended: str | bytes) -> bool:
    return bool(json.loads(unpack(ended))["state"] == "done")


@decodes
def _served_marks(row: Row) -> list[Row]:
    """A mark for each node of a `nodes-served` event."""
    run, payload, seq = row
    return [(run, node, "node-done", None, seq, seq) for node in json.loads(unpack(payload))["nodes"]]


class Runs(StorePart):
    """Queries over runs. `live` are those that this process started or resumed (`Journal.live`); `holder` returns the
    process that writes to the project now."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        language: str,
        live: Collection[RunId],
        holder: Callable[[], Holder | None],
    ) -> None:
        super().__init__(database, clock, language)
        self._live, self._holder = live, holder

    async def summaries(self, limit: int = 50, where: RunFilter = ANY_RUN) -> tuple[RunSummary, ...]:
        """The runs that match the filter, newest first; `limit` -1: all of them."""
        rows = await self._database.rows(
            f"SELECT id, workflow, chapter, at, generation FROM run WHERE {_conditions(where)}"
            " ORDER BY number DESC LIMIT :limit",
            {"limit": limit, "run": where.run, "chapter": where.chapter, "before": where.before},
        )
        wanted, newest = {"runs": json.dumps([row[0] for row in rows])}, "SELECT value FROM json_each(:runs)"
        ends = await self._database.rows(
            f"SELECT run, kind, payload, at, max(seq) FROM event WHERE run IN ({newest})"
            f" AND node='' AND kind IN {_RUN_KINDS} GROUP BY run",
            wanted,
        )
        marks = await self._database.rows(
            "SELECT run, node, kind, CASE kind WHEN 'node-failed' THEN payload END, max(seq),"
            " (SELECT min(seq) FROM event AS first WHERE first.run=event.run AND first.node=event.node)"
            f" FROM event WHERE run IN ({newest}) AND node<>'' AND kind IN ({_MARKS}) GROUP BY run, node",
            wanted,
        )
        served = await self._database.rows(
            f"SELECT run, payload, seq FROM event WHERE run IN ({newest}) AND node='' AND kind='nodes-served'", wanted
        )
        for found in readable(_served_marks, served):
            marks += found
        nodes: defaultdict[RunId, list[Row]] = defaultdict(list)
        for run, *marked in sorted(marks, key=lambda row: row[5]):
            nodes[run].append(tuple(marked))
        last = {run: tuple(end) for run, *end in ends}
        return self._database.readable(
            mark("runs"), decodes(lambda row: self._summary(row, last[row[0]], nodes[row[0]])), rows
        )

    async def summary(self, run: RunId) -> RunSummary:
        """One run. Raises Gone if there is none."""
        found = await self.summaries(1, RunFilter(run=run))
        if not found:
            raise Gone(run)
        return found[0]

    async def is_interrupted(self, run: RunId) -> bool:
        """True when the run has no end and no process executes it."""
        if self._database.read_only:
            return (await self.summary(run)).state == "interrupted"
        last = await self._database.row(
            f"SELECT kind FROM event WHERE run=? AND node='' AND kind IN {_RUN_KINDS} ORDER BY seq DESC LIMIT 1", (run,)
        )
        return last is not None and last[0] != "run-ended" and run not in self._live

    def _summary(self, row: Row, end: Row, marks: list[Row]) -> RunSummary:
        run, workflow, chapter, at, generation = row
        kind, ended, entered, resumed = end
        states, error = _node_states(marks, resumed if kind == "run-resumed" else 0)
        has_ended = kind == "run-ended"
        run_state: RunState = json.loads(unpack(ended))["state"] if has_ended else self._unended(run, entered, states)
        return RunSummary(
            id=run,
            workflow=workflow,
            chapter=chapter,
            state=run_state,
            started_at=datetime.fromisoformat(at),
            generation=generation,
            nodes=tuple((node, node_state_in(run_state, known)) for node, known in states),
            error=error,
        )

    def _unended(self, run: RunId, entered: str, states: list[tuple[NodeId, NodeState]]) -> RunState:
        now = {state for _node, state in states}
        waits = "waiting" in now and "running" not in now
        if self._database.read_only:
            return "waiting" if waits else "running" if self._is_carried_on(entered) else "interrupted"
        if run not in self._live:
            return "interrupted"
        return "waiting" if waits else "running"

    def _is_carried_on(self, entered: str) -> bool:
        """True when the process that writes to the project executes a run that was begun or resumed at `entered`."""
        holder = self._holder()
        return holder is not None and (holder.since == UNKNOWN or entered >= holder.since)

    async def open_questions(self) -> tuple[Question, ...]:
        """Unanswered questions, oldest first."""
        rows = await self._database.rows(
            "SELECT body FROM question WHERE decision IS NULL AND NOT withdrawn ORDER BY asked_at, rowid"
        )
        return self._database.readable(mark("questions of runs"), lambda row: read_json(Question, unpack(row[0])), rows)

    async def question(self, question: QuestionId) -> Question:
        """A question, answered or not. Raises Gone if there is none."""
        row = await self._database.one("SELECT body FROM question WHERE id=?", (question,), question)
        return read_json(Question, unpack(row[0]))

    async def run_request(self, run: RunId) -> RunRequest:
        """The request of a run. Raises Gone if there is no such run."""
        return read_json(RunRequest, (await self._run(run))[0])

    async def workflow_of(self, run: RunId) -> Workflow:
        """The document of a run as of its start. Raises Gone if there is no such run."""
        return read_json(Workflow, unpack((await self._run(run))[1]))

    async def generation_of(self, run: RunId) -> Generation:
        """The generation of the memory that the run reads. Raises Gone if there is no such run."""
        return Generation((await self._run(run))[2])

    async def last_generation(self, workflow: str, chapter: ChapterId | None) -> tuple[Generation, RunId] | None:
        """The pinned generation, and the id, of the last run of this workflow (`id@version`) for this chapter."""
        row = await self._database.row(
            "SELECT generation, id FROM run WHERE workflow=? AND chapter IS ? ORDER BY number DESC LIMIT 1",
            (workflow, chapter),
        )
        return (Generation(row[0]), RunId(row[1])) if row else None

    async def last_request(self, workflow: str, chapter: ChapterId | None) -> RunRequest | None:
        """The request of the last run of this workflow (its id, in any version) for this chapter."""
        row = await self._database.row(
            "SELECT request FROM run WHERE workflow>=? AND workflow<? AND chapter IS ? ORDER BY number DESC LIMIT 1",
            (f"{workflow}@", f"{workflow}A", chapter),
        )
        return read_json(RunRequest, row[0]) if row else None

    async def settled_or_live(self, workflow: str, chapter: ChapterId | None) -> tuple[RunRequest, ...]:
        """The requests of the runs of this workflow (its id) for this chapter that are done, in progress or waiting."""
        rows = await self._database.rows(
            "SELECT id, request, (SELECT payload FROM event WHERE run=run.id AND node='' AND kind='run-ended'"
            " ORDER BY seq DESC LIMIT 1) FROM run WHERE workflow>=? AND workflow<? AND chapter IS ?",
            (f"{workflow}@", f"{workflow}A", chapter),
        )
        return tuple(
            read_json(RunRequest, request)
            for run, request, ended in rows
            if run in self._live or (ended is not None and _is_done(ended))
        )

    async def has_overrides(self, request: RunRequest) -> bool:
        """True when an earlier run had the same overrides."""
        wanted = json.loads(to_json(request))["overrides"]
        rows = await self._database.rows(
            "SELECT DISTINCT json_extract(request, '$.overrides') FROM run WHERE json_valid(request)"
        )
        return any(text is not None and read_json(object, text) == wanted for (text,) in rows)

    async def _run(self, run: RunId) -> Row:
        whole = "SELECT request, body, generation FROM run JOIN blob ON digest=document WHERE id=?"
        return await self._database.one(whole, (run,), run)
