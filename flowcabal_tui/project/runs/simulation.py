"""A run without a project: the offline model writes, actions answer from templates, questions answer themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from flowcabal_tui.actions.registry import ActionRegistry
from flowcabal_tui.actions.simulation import Simulations, simulate
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import LimitReached, WorkflowError
from flowcabal_tui.domain.ids import Generation, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.model_calls import ModelRequest, Role, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.run import Decision, Question, RunRequest, RunState
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.models.offline import OfflineModel
from flowcabal_tui.nodes.plan import plan
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.runner.fold import RunFold
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.memory_journal import MemoryJournal
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunPorts, RunScope

RUN: Final = RunId("simulation")
CALLS: Final = 8
"""Calls of the offline model at the same time."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """The simulated environment of workflows. Without a registry every action is known and none needs approval."""

    simulations: Simulations = field(default_factory=dict)
    registry: ActionRegistry | None = None
    library: Mapping[str, Workflow] = field(default_factory=dict)
    """Workflows that may be called, by every reference."""

    def gated(self, action: str) -> bool:
        return self.registry is not None and self.registry.get(action).requires_approval

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        if self.registry is not None:
            self.registry.get(action)
        return simulate(action, params, self.simulations)

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """The template with the function's name, else the item unchanged."""
        found = simulate(function, item, self.simulations) if function in self.simulations else item
        return found if isinstance(found, Mapping) else {"value": found}

    async def workflow(self, reference: str) -> Workflow:
        if reference in self.library:
            return self.library[reference]
        raise WorkflowError(
            _("There is no workflow {ref}.").format(ref=reference),
            _("Available: {names}").format(names=_(", ").join(sorted(self.library)) or _("none")),
        )


class _Offline:
    """One embedded model in every role, and no budget to keep."""

    def __init__(self) -> None:
        self._model: ModelPort = OfflineModel(pace=0)

    def model(self, role: Role, name: str | None = None) -> ModelPort:
        return self._model

    def require_budget(self) -> None:
        """Does nothing: nothing costs money."""

    def reserved(
        self, endpoint: Endpoint, request: ModelRequest, role: Role, purpose: str, *, attempt: int = 0, before: str = ""
    ) -> AbstractAsyncContextManager[None]:
        """Reserves nothing."""
        return nullcontext()

    def count_piece(self, reservation: object, piece: str) -> None:
        """Does nothing: answers have no limit."""

    def require_again(self, reservation: object) -> None:
        """Does nothing: there is no budget."""

    def fits(self, reached: LimitReached) -> bool:
        """Always True: there is no limit."""
        return True

    async def answered(self, run: RunId, reached: LimitReached, *, more: bool) -> None:
        """Does nothing: no question about a limit comes up."""

    async def spent(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books nothing."""

    async def book(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books nothing."""

    async def book_estimate(
        self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, arrived: str
    ) -> None:
        """Books nothing."""


class Simulation:
    """One simulated run. `emit` receives its events; `answer` may answer a question, None: the default answer is
    used."""

    def __init__(
        self,
        workflow: Workflow,
        world: Simulated,
        emit: Callable[[Event], None],
        *,
        inputs: Mapping[str, Any],
        answer: Callable[[Question], Decision | None] = lambda _question: None,
    ) -> None:
        """Prepares the run. Raises WorkflowError when the document cannot run."""
        require_valid(workflow)
        self._emit, self._answer = emit, answer
        self._journal, offline = MemoryJournal(), _Offline()
        ports = RunPorts(
            journal=self._journal,
            models=offline,
            spend=offline,
            limits=Limits(CALLS),
            emit=self._follow,
            now=lambda: datetime.now(UTC),
            feedback=lambda evaluation: evaluation.reason,
            actions=world,
        )
        values = {
            "input": {"instruction": ""} | dict(inputs),
            "project": {"name": workflow.name or workflow.id, "language": workflow.language or "en", "author": ""},
            "chapter": {"title": "", "label": "", "number": "1", "volume": "", "length": "", "style": "", "text": ""},
        }
        request = RunRequest(workflow.reference, inputs=tuple(inputs.items()))
        scope = RunScope(RUN, workflow, request, Generation(0), values, ports, state=DualState())
        self._run = Run(scope, RunFold(), plan(workflow.nodes, workflow.edges))
        self._answering: set[asyncio.Task[None]] = set()

    async def execute(self, seconds: float) -> RunState:
        """Runs to the end, or cancels after `seconds` seconds."""
        timer = asyncio.get_running_loop().call_later(seconds, self._run.cancel)
        try:
            return await self._run.execute()
        finally:
            timer.cancel()

    def _follow(self, event: Event) -> None:
        self._emit(event)
        if isinstance(event, NodeNeedsHuman):
            task = asyncio.create_task(self._answered(event.question))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _answered(self, question: Question) -> None:
        decision = self._answer(question) or by_itself(question)
        payload = {"question": question.id, "decision": {"kind": decision.kind, "note": decision.note}}
        event = RunEvent(question.run, "answered", question.node, decision.attempt, payload)
        if await self._journal.answer(question.id, decision, event):
            self._run.answer(question.id, decision)


def by_itself(question: Question) -> Decision:
    """The answer that lets a run continue: the first choice, the proposal, or yes."""
    match question.kind:
        case "choice":
            return Decision("choose", attempt=1)
        case "input" if not question.proposal:
            return Decision("edit", text=_("(simulated answer)"))
        case _:
            return Decision("approve")
