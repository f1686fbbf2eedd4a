"""The interfaces that the runner needs from other packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from flowcabal_tui.domain.context import NOTHING_ABOUT, About, Injection
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import LimitReached
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import RunEvent, StoredResult
from flowcabal_tui.domain.model_calls import ModelRequest, Role, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.run import Decision, Evaluation, Question, RunRequest
from flowcabal_tui.domain.state import StateEntry
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow


class Caller(Protocol):
    """The node on whose behalf this task calls models."""

    async def ask_at_limit(self, reached: LimitReached) -> None:
        """Asks a person whether the run may cost more than agreed. Returns when the call may be tried again; raises
        BudgetExceeded when the person declines."""

    def call_waits(self, seconds: float, reason: str, attempt: int) -> None:
        """Reports that a call waits before its next try, whose number is `attempt`; no reason: the wait is over."""


CALLER: Final[ContextVar[Caller | None]] = ContextVar("CALLER", default=None)


class JournalPort(Protocol):
    """The durable side of a run. Every awaited write is on disk when it returns."""

    async def begin_run(self, run: RunId, request: RunRequest, workflow: Workflow, generation: Generation) -> None: ...

    async def record(self, *events: RunEvent) -> None:
        """Appends events, all or none."""

    async def history(self, run: RunId) -> tuple[RunEvent, ...]: ...

    async def result(self, key: Digest) -> StoredResult | None: ...

    async def keep_result(self, result: StoredResult, *events: RunEvent) -> None:
        """Stores a result and the events that announce it in one transaction; an existing key is not overwritten."""

    async def outcome(self, key: Digest) -> StoredResult | None:
        """The current output of an equal node, by its key."""

    async def remember_outcome(self, key: Digest, result: StoredResult) -> None:
        """Makes this result the current output of the key; earlier ones stay in the history."""

    async def text(self, digest: Digest) -> str:
        """A stored text. Raises Gone if there is none."""

    async def texts(self, digests: Sequence[Digest]) -> Mapping[Digest, str]:
        """Stored texts, in one query. Raises Gone if one is missing."""

    def stored_result(self, key: Digest) -> StoredResult | None:
        """Like `outcome`, but the usage may be left out: a lookup of microseconds, without a thread."""

    async def keep_output(
        self,
        output: Output,
        *events: RunEvent,
        outcome: tuple[Digest, StoredResult] | None = None,
        state: Sequence[StateEntry] = (),
    ) -> None:
        """Stores, in one transaction, a text, the events that announce it, the key under which it is current, and
        changes of the state."""

    def post(self, *events: RunEvent) -> None:
        """Queues events whose loss costs nothing. Does not wait."""

    async def put_text(self, text: str) -> Digest: ...

    def journal_text(self, run: RunId, node: NodeId, attempt: int, offset: int, text: str) -> None:
        """Queues a piece of streamed text; does not wait. A piece at offset 0 replaces the attempt's text."""

    async def partial_text(self, run: RunId, node: NodeId, attempt: int) -> str:
        """The streamed text of an attempt that did not finish; "" if there is none."""

    async def ask(self, question: Question, *events: RunEvent) -> None: ...

    async def answer(self, question: QuestionId, decision: Decision, *events: RunEvent) -> bool:
        """Records the answer once; False if the question was answered before, withdrawn, or does not exist."""

    async def decision(self, question: QuestionId) -> Decision | None: ...


class ActionsPort(Protocol):
    """Actions, functions and workflows of the project, by name."""

    def gated(self, action: str) -> bool:
        """True when a person must permit the action. Raises FlowCabalError for an unknown action."""

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        """Carries out an action and returns its JSON result. Raises FlowCabalError."""

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Calls an allow-listed function. Raises FlowCabalError naming the available functions."""

    async def workflow(self, reference: str) -> Workflow:
        """A workflow by `id@version` or id. Raises WorkflowError."""


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
        about: About = NOTHING_ABOUT,
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

    def question_tokens(self, endpoint: Endpoint, draft: int, questions: int) -> int:
        """The highest number of tokens of one of the questions about a draft of `draft` tokens, with its tools and
        without the draft."""

    def defence_tokens(self, endpoint: Endpoint) -> int:
        """The highest number of tokens of a question about the doubts that a check leaves, without the draft."""

    def parts_at_most(self, endpoint: Endpoint, draft: int) -> int:
        """The highest number of parts into which a draft of `draft` tokens is divided for a check."""


class DoubtsPort(Protocol):
    """Checks answers without a model."""

    async def doubt(
        self,
        workflow: Workflow | None,
        node: NodeId,
        params: PromptParams,
        given: Sequence[str],
        text: str,
        chapter: ChapterId | None,
        generation: Generation,
    ) -> str:
        """The reason why a person should read the answer; "" for none.

        `given` are the texts of the prompt, without outputs of other nodes. `workflow` is None for a node in the body
        of another one.
        """


class SpendPort(Protocol):
    """Books spending, and decides whether more is permitted."""

    def require_budget(self) -> None:
        """Raises BudgetExceeded when the hard cap is reached."""

    def reserved(
        self, endpoint: Endpoint, request: ModelRequest, role: Role, purpose: str, *, attempt: int = 0, before: str = ""
    ) -> AbstractAsyncContextManager[Any]:
        """Reserves the highest possible cost of one try of the request, from before it is sent until it is booked.

        `attempt` is the attempt of the node that streams a text, `before` the text that it continues. Yields the
        argument of `require_again`. Raises BudgetExceeded, or LimitReached for the limit of the run.
        """

    def count_piece(self, reservation: Any, piece: str) -> None:
        """Counts a piece of the answer or of its thoughts against the reservation.

        Raises as `reserved` does when the answer grows too long.
        """

    def require_again(self, reservation: Any) -> None:
        """Checks the budget before a failed try is repeated. Raises as `reserved` does."""

    def fits(self, reached: LimitReached) -> bool:
        """True when a call that reached a limit before would fit now."""

    async def answered(self, run: RunId, reached: LimitReached, *, more: bool) -> None:
        """Records a person's answer; with `more`, the run may cost the agreed amount once again."""

    async def spent(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books one paid call."""

    async def book(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books the cost of a call that gave no answer."""

    async def book_estimate(
        self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, arrived: str
    ) -> None:
        """Books the estimated cost of a call that ended before the provider reported its usage.

        `arrived` is the text that was received, thoughts included.
        """


class ModelsPort(Protocol):
    """Returns the model of a role."""

    def model(self, role: Role, name: str | None = None) -> ModelPort:
        """The model of a role. Raises ModelError(NOT_CONFIGURED or NOT_CONFIRMED)."""
