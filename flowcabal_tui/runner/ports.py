"""What the runner needs from the rest of the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.model_calls import Finish, ModelPort, Role, Usage
from flowcabal_tui.domain.run import Decision, Evaluation, Question, RunRequest
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow

EventKind = Literal[
    "run-started",
    "run-resumed",
    "attempt-started",
    "attempt-reset",
    "retry-wait",
    "attempt-done",
    "evaluated",
    "asked",
    "answered",
    "node-done",
    "node-failed",
    "node-blocked",
    "cancelled",
    "run-ended",
]


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One line of a run's log. The state of a run is the fold of its events, in order of `seq`.

    `payload` by kind: attempt-started {key, receipt}; attempt-done {digest, key, cached}; evaluated {evaluation};
    asked {question}; answered {question, decision}; node-done {attempt, digest}; node-failed {title, detail, fault};
    cancelled {partial}; run-ended {state}.
    """

    run: RunId
    kind: EventKind
    node: NodeId = NodeId("")
    attempt: int = 0
    payload: dict[str, Any] = field(default_factory=dict)
    seq: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A paid output under its content key."""

    key: Digest
    text: str
    digest: Digest
    model: str
    author: Literal["model", "human"]
    finish: Finish
    usage: Usage
    seconds: float


class JournalPort(Protocol):
    """The durable side of a run. Every awaited write is on disk when it returns."""

    async def begin_run(self, run: RunId, request: RunRequest, workflow: Workflow, generation: Generation) -> None: ...

    async def record(self, *events: RunEvent) -> None:
        """Appends events, all or none."""
        ...

    async def history(self, run: RunId) -> tuple[RunEvent, ...]: ...

    async def result(self, key: Digest) -> StoredResult | None: ...

    async def keep_result(self, result: StoredResult, *events: RunEvent) -> None:
        """The result and the events that announce it, in one transaction; an existing key is left as it is."""
        ...

    async def text(self, digest: Digest) -> str:
        """A stored text. KeyError if there is none."""
        ...

    async def put_text(self, text: str) -> Digest: ...

    def journal_text(self, run: RunId, node: NodeId, attempt: int, offset: int, text: str) -> None:
        """Queues a piece of streamed text; does not wait."""
        ...

    async def partial_text(self, run: RunId, node: NodeId, attempt: int) -> str:
        """What was streamed so far, of an attempt that did not finish; "" if nothing."""
        ...

    async def ask(self, question: Question, *events: RunEvent) -> None: ...

    async def answer(self, question: QuestionId, decision: Decision, *events: RunEvent) -> bool:
        """Records the answer once; False if it was answered before or does not exist."""
        ...

    async def decision(self, question: QuestionId) -> Decision | None: ...


class ContextPort(Protocol):
    """The Context agent as the runner sees it: reads, never writes."""

    async def assemble(
        self,
        workflow: Workflow,
        node: Node,
        params: PromptParams,
        prompt: str,
        chapter: ChapterId | None,
        generation: Generation,
        inquiries: Sequence[str],
    ) -> Injection: ...


class MonitorPort(Protocol):
    """The Monitor as the runner sees it."""

    async def evaluate(
        self,
        node: Node,
        params: PromptParams,
        draft: str,
        chapter: ChapterId | None,
        generation: Generation,
        attempt: int,
    ) -> Evaluation: ...


class ModelsPort(Protocol):
    """Which model plays a role."""

    def model(self, role: Role, name: str | None = None) -> ModelPort:
        """Raises ModelError(NOT_CONFIGURED or NOT_CONFIRMED)."""
        ...
