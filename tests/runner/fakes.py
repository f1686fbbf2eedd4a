"""Fakes for tests of the runner: a journal in memory, a model that says what the test wants, a monitor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import BudgetExceeded, LimitReached
from flowcabal_tui.domain.ids import Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.journal import RunEvent, StoredResult
from flowcabal_tui.domain.model_calls import (
    Answer,
    Finish,
    Finished,
    ModelEvent,
    ModelRequest,
    RetryWait,
    Role,
    TextDelta,
    Usage,
)
from flowcabal_tui.domain.run import Decision, Evaluation, Question, RunRequest
from flowcabal_tui.domain.state import StateEntry
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, TextBlock, VirtualBlock, Workflow
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.runner.fold import RunFold, fold
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunPorts, RunScope

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class FakeJournal:
    """What a store would keep, in dictionaries; survives a `Run`, as a file survives a process."""

    def __init__(self) -> None:
        self.events: list[RunEvent] = []
        self.results: dict[Digest, StoredResult] = {}
        self.outcomes: dict[Digest, StoredResult] = {}
        self.kept: dict[Digest, str] = {}
        self.states: dict[str, StateEntry] = {}
        self.partials: dict[tuple[str, str, int], str] = {}
        self.questions: dict[QuestionId, Question] = {}
        self.answers: dict[QuestionId, Decision] = {}
        self.withdrawn: set[QuestionId] = set()

    async def begin_run(self, run: RunId, request: RunRequest, workflow: Workflow, generation: Generation) -> None:
        await self.record(RunEvent(run, "run-started"))

    async def record(self, *events: RunEvent) -> None:
        """Written even if the caller is cancelled while it waits, as in the store."""
        self._append(events)
        await asyncio.sleep(0)

    def _append(self, events: Sequence[RunEvent]) -> None:
        self.events += [event._replace(seq=len(self.events) + n) for n, event in enumerate(events, 1)]
        for event in events:
            if event.kind == "attempt-reset":
                self.partials.pop((event.run, event.node, event.attempt), None)
            if event.kind in ("cancelled", "run-ended"):
                self.withdrawn |= {
                    known.id
                    for known in self.questions.values()
                    if known.run == event.run and event.node in ("", known.node) and known.id not in self.answers
                }

    async def history(self, run: RunId) -> tuple[RunEvent, ...]:
        return tuple(event for event in self.events if event.run == run)

    async def result(self, key: Digest) -> StoredResult | None:
        return self.results.get(key)

    async def keep_result(self, result: StoredResult, *events: RunEvent) -> None:
        self.results.setdefault(result.key, result)
        self.kept[digest(result.text)] = result.text
        await self.record(*events)

    async def outcome(self, key: Digest) -> StoredResult | None:
        return self.outcomes.get(key)

    async def remember_outcome(self, key: Digest, result: StoredResult) -> None:
        self.kept[digest(result.text)] = result.text
        self.outcomes[key] = result

    def stored_result(self, key: Digest) -> StoredResult | None:
        return self.outcomes.get(key)

    async def keep_output(self, output, *events, outcome=None, state=()) -> None:
        self.kept[output.digest] = output.stored
        if outcome:
            self.outcomes[outcome[0]] = outcome[1]
        self.states |= {entry.key: entry for entry in state}
        await self.record(*events)

    def post(self, *events: RunEvent) -> None:
        self._append(events)

    async def texts(self, digests):
        return {each: self.kept[each] for each in digests}

    async def text(self, wanted: Digest) -> str:
        return self.kept[wanted]

    async def put_text(self, text: str) -> Digest:
        self.kept[digest(text)] = text
        return digest(text)

    def journal_text(self, run: RunId, node: NodeId, attempt: int, offset: int, text: str) -> None:
        place = (run, node, attempt)
        before = self.partials.get(place, "") if offset else ""
        assert len(before) == offset
        self.partials[place] = before + text

    async def partial_text(self, run: RunId, node: NodeId, attempt: int) -> str:
        return self.partials.get((run, node, attempt), "")

    async def ask(self, question: Question, *events: RunEvent) -> None:
        assert question.id not in self.questions or question.id in self.withdrawn
        self.withdrawn.discard(question.id)
        self.questions[question.id] = question
        await self.record(*events)

    async def answer(self, question: QuestionId, decision: Decision, *events: RunEvent) -> bool:
        if question in self.answers or question not in self.questions or question in self.withdrawn:
            return False
        self.answers[question] = decision
        await self.record(*events)
        return True

    async def decision(self, question: QuestionId) -> Decision | None:
        return self.answers.get(question)


@dataclass
class FakeModel:
    """Answers with what `says` makes of a request; counts calls and how many go on side by side."""

    says: Callable[[ModelRequest], str | Exception]
    endpoint: Endpoint = Endpoint(
        provider="openai", model="fake", max_output=5_000, retries=0, price_in=Decimal(1), price_out=Decimal(2)
    )
    finish: Finish = "stop"
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    """A call whose prompt contains the key waits for the event after its first piece."""
    calls: list[ModelRequest] = field(default_factory=list)
    going: int = 0
    most: int = 0
    waits: tuple[RetryWait, ...] = ()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.calls.append(request)
        self.going += 1
        self.most = max(self.most, self.going)
        try:
            for wait in self.waits:
                yield wait
            said = self.says(request)
            if isinstance(said, Exception):
                raise said
            half = len(said) // 2
            yield TextDelta(said[:half])
            for word, gate in self.gates.items():
                if word in request.messages[-1].content:
                    await gate.wait()
            await asyncio.sleep(0)
            yield TextDelta(said[half:])
            yield Finished(self.finish, Usage(10, 5), "fake")
        finally:
            self.going -= 1

    async def answer(self, request: ModelRequest) -> Answer:
        raise NotImplementedError

    async def structured(self, request: ModelRequest, shape: type) -> tuple[object, Answer]:
        raise NotImplementedError


@dataclass
class FakeMonitor:
    """Says of each text what `judges` makes of it."""

    judges: Callable[[str, int], Evaluation]
    seen: list[str] = field(default_factory=list)

    async def evaluate(self, node: Node, params: object, draft: str, chapter: object, generation: object, attempt: int):
        self.seen.append(draft)
        return self.judges(draft, attempt)

    def question_tokens(self, endpoint: Endpoint, draft: int, questions: int) -> int:
        return 100

    def defence_tokens(self, endpoint: Endpoint) -> int:
        return 100

    def parts_at_most(self, endpoint: Endpoint, draft: int) -> int:
        return 1


@dataclass
class FakeSpend:
    """Books calls; refuses when `left` is used up."""

    left: int = 1_000
    booked: int = 0
    cut_off: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def reserved(
        self, endpoint: Endpoint, request: ModelRequest, role: Role, purpose: str, *, attempt: int = 0, before: str = ""
    ) -> AsyncIterator[None]:
        self.require_budget()
        yield

    def count_piece(self, asked: object, piece: str) -> None:
        """Nothing is reserved."""

    def require_again(self, asked: object) -> None:
        self.require_budget()

    def fits(self, reached: LimitReached) -> bool:
        return True

    async def answered(self, run: RunId, reached: LimitReached, *, more: bool) -> None:
        """No limit is held."""

    def require_budget(self) -> None:
        if self.left <= 0:
            raise BudgetExceeded("spent")

    async def spent(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        await self.book(role, purpose, endpoint, request, usage)

    async def book(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        self.left -= 1
        self.booked += 1

    async def book_estimate(
        self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, arrived: str
    ) -> None:
        self.left -= 1
        self.cut_off.append(arrived)


@dataclass
class Bench:
    """Runs workflows over one journal, as one project would."""

    model: FakeModel
    monitor: FakeMonitor | None = None
    journal: FakeJournal = field(default_factory=FakeJournal)
    spend: FakeSpend = field(default_factory=FakeSpend)
    concurrency: int = 8
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ports = RunPorts(
            self.journal,
            type("Models", (), {"model": lambda _self, role, name=None: self.model})(),
            self.spend,
            Limits(self.concurrency, pause=0),
            self.events.append,
            lambda: NOON,
            lambda evaluation: f"wrong: {evaluation.reason}",
            None,
            self.monitor,
        )

    async def run(self, workflow: Workflow, run: str = "r1", past: RunFold | None = None, scope=None, **request) -> Run:
        """A run, not yet executed; with the log of an earlier try of the same id if there is one."""
        values = {"input": request.pop("inputs", {})}
        asked = RunRequest(workflow.reference, **request)
        history = await self.journal.history(RunId(run))
        if not history:
            await self.journal.begin_run(RunId(run), asked, workflow, Generation(1))
        shared = RunScope(RunId(run), workflow, asked, Generation(1), values, self.ports, **(scope or {}))
        return Run(shared, past or fold(history))

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def prompt(node: str, *parts: str, **params: object) -> Node:
    """A prompt node; a part `@name` is the output of another node."""
    blocks = [VirtualBlock(node=NodeId(p[1:])) if p.startswith("@") else TextBlock(text=p) for p in parts]
    return Node(id=NodeId(node), params={"prompt": [b.model_dump() for b in blocks], "review": "doubt", **params})


def flow(*nodes: Node, **fields: object) -> Workflow:
    return Workflow(id="flow", nodes=nodes, **fields)


async def until(condition: Callable[[], object]) -> None:
    """Lets other tasks run until the condition holds; fails the test instead of hanging."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came true")


def texts(run: Run) -> dict[str, str]:
    """What the nodes of the workflow gave."""
    return {node: output.text for node, output in run.outputs.items()}
