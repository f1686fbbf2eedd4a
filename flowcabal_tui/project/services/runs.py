"""Runs: starting, stopping, answering, quoting, and reading the history."""

from __future__ import annotations

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.run import ANY_RUN, Question, Quote, RunFilter, RunRequest, RunSummary
from flowcabal_tui.domain.run_details import RunDetails
from flowcabal_tui.domain.versions import VersionTrace
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.project.commands import Service, handles, passed_on
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import AdvanceRun, CancelRun, Decide, ResumeRun, RunWorkflow


class RunService(Service):
    """Questions and commands about runs. Lives on the engine's loop."""

    passes_on = (
        passed_on(RunWorkflow, lambda parts, command: parts.runs.manager.start(command.request), hurries=True),
        passed_on(
            ResumeRun,
            lambda parts, command: parts.runs.manager.resume(command.run, continues=command.continues),
            hurries=True,
        ),
        passed_on(
            CancelRun,
            lambda parts, command: parts.runs.manager.cancel(command.run, command.node, branch=command.branch),
        ),
        passed_on(Decide, lambda parts, command: parts.runs.manager.decide(command.question, command.decision)),
    )

    async def summaries(self, limit: int = 50, where: RunFilter = ANY_RUN) -> tuple[RunSummary, ...]:
        """The matching runs, newest first."""
        return await self._parts.runs.summaries(limit, where)

    async def run_workflow(self, run: RunId) -> Workflow:
        """The workflow document as it was when the run started."""
        return await self._store.runs.workflow_of(run)

    async def run_details(self, run: RunId) -> RunDetails:
        """A run of the history with its nodes, tokens and money."""
        return await self._parts.runs.history.details(run)

    async def replay(self, run: RunId) -> tuple[Event, ...]:
        """The events of a run in their order, from its log; makes no calls and costs nothing."""
        return await self._parts.runs.history.replay(run)

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        """A node of a run with the texts of all its attempts."""
        return await self._parts.runs.queries.node(run, node)

    async def version_trace(self, run: RunId, node: NodeId, attempt: int = 0) -> VersionTrace:
        """The request of an attempt (0: the chosen one), rebuilt from the log; costs nothing."""
        return await self._parts.runs.queries.trace(await self._parts.runs.manager.past(run), node, attempt)

    async def questions(self) -> tuple[Question, ...]:
        """The questions that wait for the writer, oldest first."""
        return await self._store.runs.open_questions()

    async def quote(self, request: RunRequest) -> Quote:
        """The likely and the highest price of a run; starts nothing."""
        return await self._parts.runs.quotes.quote(await self._parts.runs.manager.imagined(request))

    async def require_unlocked(self, request: RunRequest) -> None:
        """Raises ChapterLocked when the output could not be kept in its chapter now."""
        workflow = await self._store.workflows.get(request.workflow)
        if locked := await self._parts.runs.quotes.locked(workflow, request):
            raise locked

    async def preview_context(self, request: RunRequest, node: NodeId) -> Receipt:
        """The receipt that the node would get now; spends nothing."""
        return await self._parts.runs.quotes.preview(await self._parts.runs.manager.imagined(request), node)

    async def totals(self) -> Totals:
        """Tokens and money of the project."""
        return await self._store.usage.totals()

    @handles(AdvanceRun)
    async def advance(self, command: AdvanceRun) -> None:
        self._parts.runs.manager.advance(command.run)
