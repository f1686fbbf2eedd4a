"""The durable side of runs: the data that the runner writes and reads while it works."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import RunEvent, StoredResult
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Decision, Question, RunRequest
from flowcabal_tui.domain.state import StateEntry
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.store.file.blobs import is_short, pack_large, put_text, unpack
from flowcabal_tui.store.file.connection import Clock, Database, Row, StorePart, Work, transaction
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.plain import compact_json
from flowcabal_tui.store.runs.states import put_state

_SELECT: Final = (
    "SELECT result, COALESCE(short, (SELECT body FROM blob WHERE blob.digest=outcome.digest)),"
    " digest, model, author, finish, seconds, form, key, number FROM outcome"
)
_ONE: Final = f"{_SELECT} WHERE key=? ORDER BY number DESC LIMIT 1"
_BLOCK: Final = (
    f"{_SELECT} WHERE number BETWEEN ? AND ? AND short IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM outcome later WHERE later.key=outcome.key AND later.number > outcome.number)"
)
_SIZE: Final = 256
_ENOUGH: Final = 3
_MOST: Final = 20_000


class ReadAhead:
    """A cache of rows: after a few single lookups, each reads all short rows of its block.

    The next commit empties the cache.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: dict[str, Row] = {}
        self._as_of: int | None = None
        self._blocks: set[int] = set()
        self._single = 0

    def outcome(self, key: Digest) -> Row | None:
        """(result, body, digest, model, author, finish, seconds, form, key, number) of the current output of a key."""
        commits = self._database.commits
        if commits is None or commits != self._as_of:
            self._rows.clear()
            self._blocks.clear()
            self._as_of, self._single = commits, 0
        if (row := self._rows.pop(key, None)) is not None:
            return row
        found = self._database.at_once(_ONE, (key,))
        if not found:
            return None
        self._single += 1
        start = found[0][-1] - found[0][-1] % _SIZE
        if self._single > _ENOUGH and start not in self._blocks and len(self._rows) < _MOST:
            self._blocks.add(start)
            block = self._database.at_once(_BLOCK, (start, start + _SIZE - 1))
            self._rows.update((each[-2], each) for each in block)
        return found[0]


_NO_USAGE: Final = "{}"
_FREE: Final = Usage()
_OF_ALL_NODES: Final = "('run-resumed', 'run-ended', 'nodes-served')"
_RESULT: Final = "digest, model, author, finish, usage, seconds, form"


class Journal(StorePart):
    """Each awaited write is on disk when it returns. Awaited data costs money or a person's time."""

    def __init__(self, database: Database, clock: Clock, language: str) -> None:
        super().__init__(database, clock, language)
        self._ahead = ReadAhead(database)
        self.live: set[RunId] = set()
        """Runs that this process started or resumed."""

    async def begin_run(self, run: RunId, request: RunRequest, workflow: Workflow, generation: Generation) -> None:
        """Pins the document and the generation of the memory, and records `run-started`.

        A saved version is stored once: it never changes.
        """
        self.live.add(run)
        row = (run, workflow.reference, to_json(request), request.chapter, generation, self._now())

        def begin(connection: Connection) -> None:
            saved = connection.execute(
                "SELECT document FROM workflow WHERE id=? AND version=?", (workflow.id, workflow.version)
            ).fetchone()
            document = saved[0] if saved else put_text(connection, to_json(workflow))
            connection.execute(
                "INSERT INTO run (id, workflow, document, request, chapter, generation, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*row[:2], document, *row[2:]),
            )
            self._append(connection, (RunEvent(run, "run-started"),))

        await self._database.do(begin)

    async def record(self, *events: RunEvent) -> None:
        """Appends events, all or none."""
        self.live.update(event.run for event in events if event.kind == "run-resumed")
        await self._database.do(lambda connection: self._append(connection, events))

    async def history(self, run: RunId) -> tuple[RunEvent, ...]:
        """All events of a run, in order."""
        rows = await self._database.rows(
            "SELECT kind, node, attempt, payload, seq, at FROM event WHERE run=? ORDER BY seq", (run,)
        )
        return tuple(_event(run, row) for row in rows)

    async def node_history(self, run: RunId, node: NodeId) -> tuple[RunEvent, ...]:
        """The events of one node, and those of the whole run that concern it, in order."""
        select = "SELECT kind, node, attempt, payload, seq, at FROM event WHERE run=:run"
        rows = await self._database.rows(
            f"{select} AND node=:node UNION ALL {select} AND node='' AND kind IN {_OF_ALL_NODES} ORDER BY seq",
            {"run": run, "node": node},
        )
        named = json.dumps(node, ensure_ascii=False)
        return tuple(_event(run, row, node) for row in rows if row[0] != "nodes-served" or named in unpack(row[3]))

    async def result(self, key: Digest) -> StoredResult | None:
        """The paid output under a content key."""
        row = await self._database.row(
            f"SELECT key, body, {_RESULT} FROM result JOIN blob USING (digest) WHERE key=?", (key,)
        )
        return _result(row) if row else None

    @transaction
    def keep_result(self, connection: Connection, result: StoredResult, *events: RunEvent) -> None:
        """Stores the result and the events that announce it, in one transaction; an existing key is left unchanged."""
        put_text(connection, result.text, result.digest)
        connection.execute(
            f"INSERT OR IGNORE INTO result (key, {_RESULT}, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (result.key, *_fields(result), self._now()),
        )
        self._append(connection, events)

    async def outcome(self, key: Digest) -> StoredResult | None:
        """The current output of an equal node, as stored last."""
        row = await self._database.row(
            "SELECT result, COALESCE(short, (SELECT body FROM blob WHERE blob.digest=outcome.digest)),"
            f" {_RESULT} FROM outcome WHERE key=? ORDER BY number DESC LIMIT 1",
            (key,),
        )
        return _result(row) if row else None

    def stored_result(self, key: Digest) -> StoredResult | None:
        """Like `outcome` without its usage, which is booked already: a lookup of microseconds, without a thread."""
        row = self._ahead.outcome(key)
        if row is None:
            return None
        result, body, name, model, author, finish, seconds, form, _key, _number = row
        return StoredResult(result, unpack(body), name, model, author, finish, _FREE, seconds, form)

    async def remember_outcome(self, key: Digest, result: StoredResult) -> None:
        """Makes this output the current one of the key; earlier ones stay in the history."""
        await self._database.do(self.remembering_outcome(key, result))

    def remembering_outcome(self, key: Digest, result: StoredResult) -> Work:
        """Like `remember_outcome`, as a part of a transaction."""

        def remember(connection: Connection) -> None:
            put_text(connection, result.text, result.digest)
            self._set_current(connection, key, result)

        return remember

    @transaction
    def keep_output(
        self,
        connection: Connection,
        output: Output,
        *events: RunEvent,
        outcome: tuple[Digest, StoredResult] | None = None,
        state: Sequence[StateEntry] = (),
    ) -> None:
        """Stores a text, the events that announce it, the key that it is current under, and the state's changes.

        All in one transaction.
        """
        put_text(connection, output.stored, output.digest)
        if outcome is not None:
            self._set_current(connection, *outcome)
        put_state(connection, state)
        self._append(connection, events)

    def _set_current(self, connection: Connection, key: Digest, result: StoredResult) -> None:
        connection.execute(
            f"INSERT INTO outcome (key, result, {_RESULT}, at, short) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (key, result.key, *_fields(result), self._now(), result.text if is_short(result.text) else None),
        )

    def post(self, *events: RunEvent) -> None:
        """Queues events that can be lost without cost. Does not wait."""
        self._database.writer.post(lambda connection: self._append(connection, events))

    async def texts(self, digests: Sequence[Digest]) -> Mapping[Digest, str]:
        """Stored texts, all in one query. Raises Gone if one is missing."""
        rows = await self._database.rows(
            "SELECT digest, body FROM blob WHERE digest IN (SELECT value FROM json_each(?))", (json.dumps(digests),)
        )
        found = {Digest(name): unpack(body) for name, body in rows}
        if lost := set(digests) - set(found):
            raise Gone(min(lost))
        return found

    async def text(self, digest: Digest) -> str:
        """A stored text. Raises Gone if there is none."""
        row = await self._database.row("SELECT body FROM blob WHERE digest=?", (digest,))
        if row is None:
            raise Gone(digest)
        return unpack(row[0])

    async def put_text(self, text: str) -> Digest:
        """Stores a text under its digest."""
        return await self._database.do(lambda connection: put_text(connection, text))

    def journal_text(self, run: RunId, node: NodeId, attempt: int, offset: int, text: str) -> None:
        """Queues a piece of streamed text; does not wait. A piece at offset 0 replaces the attempt's text."""

        def journal(connection: Connection) -> None:
            if not offset:
                _forget_chunks(connection, run, node, attempt)
            connection.execute(
                "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?, ?)", (run, node, attempt, offset, pack_large(text))
            )

        self._database.writer.post(journal)

    async def partial_text(self, run: RunId, node: NodeId, attempt: int) -> str:
        """The streamed text of an attempt that did not finish; "" if there is none.

        Read in the writer's thread, which sees pieces still in its queue.
        """
        place = (run, node, attempt)
        sql = "SELECT start, body FROM chunk WHERE run=? AND node=? AND attempt=? ORDER BY start"
        if self._database.read_only:
            return _joined(await self._database.rows(sql, place))
        return _joined(await self._database.do(lambda connection: connection.execute(sql, place).fetchall()))

    @transaction
    def ask(self, connection: Connection, question: Question, *events: RunEvent) -> None:
        """Stores a durable question. One that a cancel withdrew may be asked again."""
        row = (question.id, question.run, question.node, pack_large(to_json(question)), question.asked_at.isoformat())
        connection.execute(
            "INSERT INTO question (id, run, node, body, asked_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET body=excluded.body, asked_at=excluded.asked_at, withdrawn=0"
            " WHERE decision IS NULL",
            row,
        )
        self._append(connection, events)

    @transaction
    def answer(
        self,
        connection: Connection,
        question: QuestionId,
        decision: Decision,
        *events: RunEvent,
        beside: Work = lambda _connection: None,
    ) -> bool:
        """Stores the answer once, with what `beside` writes. Returns False, and writes nothing, if it was answered
        before, withdrawn, or does not exist."""
        answered = connection.execute(
            "UPDATE question SET decision=?, answered_at=? WHERE id=? AND decision IS NULL AND NOT withdrawn",
            (to_json(decision), self._now(), question),
        )
        if answered.rowcount:
            self._append(connection, events)
            beside(connection)
        return bool(answered.rowcount)

    async def decision(self, question: QuestionId) -> Decision | None:
        """The answer to a question, if there is one."""
        row = await self._database.row("SELECT decision FROM question WHERE id=? AND decision IS NOT NULL", (question,))
        return read_json(Decision, row[0]) if row else None

    def _append(self, connection: Connection, events: Iterable[RunEvent]) -> None:
        for event in events:
            payload = compact_json(event.payload)
            at = (event.at or self._clock()).isoformat()
            connection.execute(
                "INSERT INTO event (run, node, attempt, kind, payload, at) VALUES (?, ?, ?, ?, ?, ?)",
                (event.run, event.node, event.attempt, event.kind, pack_large(payload), at),
            )
            if event.kind in ("attempt-done", "attempt-reset"):
                _forget_chunks(connection, event.run, event.node, event.attempt)
            elif event.kind in ("cancelled", "run-ended"):
                connection.execute(
                    "UPDATE question SET withdrawn=1 WHERE run=? AND (node=? OR ?='') AND decision IS NULL",
                    (event.run, event.node, event.node),
                )


class PaidAnswers:
    """Paid answers of models to the agents, stored among the results."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, key: Digest) -> str | None:
        """The stored answer; None if there is none."""
        result = await self._journal.result(key)
        return result.text if result else None

    async def put(self, key: Digest, text: str, model: str, usage: Usage) -> None:
        """Stores an answer; an existing one stays."""
        await self._journal.keep_result(StoredResult(key, text, digest(text), model, "model", "stop", usage, 0.0))


@decodes
def _event(run: RunId, row: Row, only: NodeId | None = None) -> RunEvent:
    """The event of a row; with `only`, a `nodes-served` event is reduced to that node."""
    kind, node, attempt, body, seq, at = row
    payload = read_json(dict[str, Any], unpack(body))
    if only is not None and kind == "nodes-served":
        payload["nodes"] = {path: served for path, served in payload["nodes"].items() if path == only}
    return RunEvent(run, kind, NodeId(node), attempt, payload, seq, datetime.fromisoformat(at))


def _forget_chunks(connection: Connection, run: RunId, node: NodeId, attempt: int) -> None:
    connection.execute("DELETE FROM chunk WHERE run=? AND node=? AND attempt=?", (run, node, attempt))


def _joined(rows: Iterable[Row]) -> str:
    """The pieces up to the first missing one (a lost piece must not be skipped)."""
    text = ""
    for start, body in rows:
        if start != len(text):
            break
        text += unpack(body)
    return text


def _fields(result: StoredResult) -> Row:
    usage = _NO_USAGE if result.usage == Usage() else to_json(result.usage)
    return (result.digest, result.model, result.author, result.finish, usage, result.seconds, result.form)


def _result(row: Row) -> StoredResult:
    key, body, digest, model, author, finish, usage, seconds, form = row
    return StoredResult(key, unpack(body), digest, model, author, finish, _usage(usage), seconds, form)


def _usage(text: str) -> Usage:
    """The stored usage; empty for a program's output, and for one whose cost was booked when it was made."""
    return _FREE if text == _NO_USAGE else read_json(Usage, text)
