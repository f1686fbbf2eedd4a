"""A run: a node starts the moment its own inputs are final; failure blocks descendants only."""

from __future__ import annotations

import asyncio
import heapq
import logging
from functools import partial
from graphlib import TopologicalSorter

from flowcabal_tui.domain.errors import FlowCabalError, ModelError, RunError
from flowcabal_tui.domain.ids import NodeId, QuestionId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import Attempt, Decision, RunState
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import Rejected
from flowcabal_tui.nodes.graph import Dependencies, dependencies, kind_and_params, last_nodes, needed_for
from flowcabal_tui.protocol import (
    NodeCompleted,
    NodeStateChanged,
    QuestionAnswered,
    RunStarted,
    RunStateChanged,
    WorkflowCompleted,
    WorkflowFailed,
)
from flowcabal_tui.runner.fold import RunFold
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.scope import RunScope

log = logging.getLogger(__name__)


class Run:
    """Executes one run. `past` is the fold of its log: empty for a new run."""

    def __init__(self, scope: RunScope, past: RunFold) -> None:
        self.scope, self._past = scope, past
        graph = dependencies(scope.workflow)
        wanted = needed_for(graph, scope.request.targets)
        self._graph: Dependencies = {node: sources for node, sources in graph.items() if node in wanted}
        self._rank = _longest_ways(self._graph)
        self._resumed = bool(past.nodes)
        for known in past.nodes.values():
            known.state = "done" if known.state == "done" else "pending"
        self._tasks: dict[NodeId, asyncio.Task[None]] = {}
        self._ended: asyncio.Queue[NodeId] = asyncio.Queue()
        self._waiting: set[NodeId] = set()
        self._unwritten: FlowCabalError | None = None
        self._failed = False
        self._cancelled = self._stopped = False

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        return tuple(self._graph)

    @property
    def only_waits(self) -> bool:
        """True when nothing but human answers can bring the run on."""
        return bool(self._tasks) and set(self._tasks) == self._waiting

    async def execute(self) -> RunState:
        """Runs to the end and returns the state; what ended earlier is not done again.

        Raises FlowCabalError when the log could not be written: then the run can be resumed.
        """
        services = self.scope.services
        if self._resumed:
            await services.journal.record(RunEvent(self.scope.id, "run-resumed", at=services.now()))
        services.emit(
            RunStarted(
                self.scope.id, self.scope.workflow.reference, self.scope.request.chapter, self.nodes, self._resumed
            )
        )
        await self._schedule()
        if self.scope.closing:
            return "interrupted"
        if self._unwritten is not None:
            raise self._unwritten
        state: RunState = "cancelled" if self._cancelled or self._stopped else "failed" if self._failed else "done"
        await services.journal.record(RunEvent(self.scope.id, "run-ended", payload={"state": state}, at=services.now()))
        if state == "done":
            outputs = tuple((node, self.scope.outputs[node]) for node in last_nodes(self._graph))
            services.emit(WorkflowCompleted(self.scope.id, outputs))
        services.emit(RunStateChanged(self.scope.id, state))  # the last word: a guest may stop listening here
        return state

    async def _schedule(self) -> None:
        sorter = TopologicalSorter(self._graph)
        sorter.prepare()
        ready: list[tuple[int, int, NodeId]] = []
        place = {node: index for index, node in enumerate(self._graph)}
        async with asyncio.TaskGroup() as group:
            while True:
                for node in sorter.get_ready():
                    heapq.heappush(ready, (-self._rank[node], place[node], node))
                while ready and not self._cancelled:
                    node = heapq.heappop(ready)[2]
                    self._tasks[node] = group.create_task(self._node(node), name=f"node {node}")
                    self._tasks[node].add_done_callback(partial(self._has_ended, node))
                if not self._tasks:
                    break
                ended = await self._ended.get()
                self._waiting.discard(ended)
                if self._tasks.pop(ended).cancelled():  # before its first step, or while its end was written
                    await self._was_cancelled(ended)
                if ended in self.scope.outputs:
                    sorter.done(ended)
                self._tell_if_waiting()
        if not self.scope.closing:
            await self._block_the_rest()

    def _has_ended(self, node: NodeId, _task: asyncio.Task[None]) -> None:
        self._ended.put_nowait(node)

    async def _block_the_rest(self) -> None:
        """Marks what could not run because of a failure, a rejection or a cancel above it."""
        ended = {node for node, state in self._past.nodes.items() if state.state in ("failed", "cancelled")}
        blocked = [node for node in self._graph if node not in self.scope.outputs and node not in ended]
        services = self.scope.services
        if blocked:
            events = [RunEvent(self.scope.id, "node-blocked", node, at=services.now()) for node in blocked]
            await self._note(*events)
        for node in blocked:
            self._past.node(node).state = "blocked"
            services.emit(NodeStateChanged(self.scope.id, node, "blocked"))

    def _tell_if_waiting(self) -> None:
        if self.only_waits:
            self.scope.services.emit(RunStateChanged(self.scope.id, "waiting"))

    async def _node(self, node: NodeId) -> None:
        past = self._past.node(node)
        kind, params = kind_and_params(self.scope.workflow.node(node))
        run = NodeRun(self.scope, self.scope.workflow.node(node), kind, past, self._waits)
        try:
            if past.state == "done":
                attempt = await self._restored(node)
            else:
                run.state("ready")
                attempt = await kind.run(run, params)
                await self.scope.services.journal.record(run.event("node-done", attempt.number, digest=attempt.digest))
                past.state, past.chosen = "done", attempt.number
            self._done(node, attempt)
        except asyncio.CancelledError:
            await self._was_cancelled(node)
        except Rejected:
            self._failed = True
            past.state = "failed"
            await self._note(run.event("node-failed", title="rejected", detail=""))
            run.state("failed", "rejected")
        except FlowCabalError as error:
            await self._was_failed(run, node, error)
        except Exception as error:  # a kind may come from a plug-in: its mistake must not end the other branches
            log.exception("node %s", node)
            await self._was_failed(run, node, RunError(_("The node stopped on a mistake in the program."), repr(error)))

    async def _note(self, *events: RunEvent) -> None:
        """Writes how nodes ended. When that fails the other nodes go on, and the run tells it at its end."""
        try:
            await self.scope.services.journal.record(*events)
        except FlowCabalError as error:
            log.warning("run %s: %s", self.scope.id, error.title)
            self._unwritten = error

    def _waits(self, node: NodeId) -> None:
        self._waiting.add(node)
        self._tell_if_waiting()

    async def _restored(self, node: NodeId) -> Attempt:
        """The output that stood when the node ended in an earlier process."""
        past = self._past.node(node)
        fold = past.attempt(past.chosen)
        return fold.attempt(await self.scope.services.journal.text(fold.done["digest"]))

    def _done(self, node: NodeId, attempt: Attempt) -> None:
        self.scope.outputs[node] = attempt.text
        emit = self.scope.services.emit
        emit(NodeStateChanged(self.scope.id, node, "done"))
        fold = self._past.node(node).attempt(attempt.number)
        emit(
            NodeCompleted(
                self.scope.id,
                node,
                attempt.number,
                attempt.text,
                attempt.cached,
                attempt.evaluation or fold.evaluated(),
                attempt.receipt,
            )
        )

    async def _was_failed(self, run: NodeRun, node: NodeId, error: FlowCabalError) -> None:
        self._failed = True
        past = self._past.node(node)
        past.state, past.error = "failed", error.title
        fault = error.fault.value if isinstance(error, ModelError) else ""
        await self._note(run.event("node-failed", title=error.title, detail=error.detail, fault=fault))
        run.state("failed", error.title)
        self.scope.services.emit(
            WorkflowFailed(self.scope.id, error.title, error.detail, error.advice, node, isinstance(error, ModelError))
        )

    async def _was_cancelled(self, node: NodeId) -> None:
        """A cancel is written before the scope closes; when the process ends, nothing is written: it can be resumed."""
        if self.scope.closing:
            return
        self._past.node(node).state = "cancelled"
        self._stopped = True
        services = self.scope.services
        await self._note(RunEvent(self.scope.id, "cancelled", node, at=services.now()))
        services.emit(NodeStateChanged(self.scope.id, node, "cancelled"))

    def cancel(self, node: NodeId | None = None) -> bool:
        """Stops one node, or all: HTTP streams are closed at once, partial text is journalled.

        False: that node is not running.
        """
        self._cancelled = self._cancelled or node is None
        stopped = [task for name, task in self._tasks.items() if node in (None, name)]
        for task in stopped:
            task.cancel()
        return node is None or bool(stopped)

    def close(self) -> None:
        """Stops without a trace in the log, so that the next process can go on."""
        self.scope.closing = True
        self.cancel()

    def answer(self, question: QuestionId, decision: Decision) -> bool:
        """Hands a recorded answer to the node that waits for it; False if none does."""
        node, answer = self.scope.waiting.get(question, (None, None))
        if node is None or answer is None or answer.done():
            return False
        answer.set_result(decision)
        self._waiting.discard(node)
        self.scope.services.emit(RunStateChanged(self.scope.id, "running"))
        self.scope.services.emit(QuestionAnswered(question, decision))
        return True


def _longest_ways(graph: Dependencies) -> dict[NodeId, int]:
    """For each node the number of nodes on the longest way from it to an end: the critical path goes first."""
    rank = dict.fromkeys(graph, 1)
    for node in reversed(tuple(TopologicalSorter(graph).static_order())):
        for source in graph.get(node, ()):
            rank[source] = max(rank[source], rank[node] + 1)
    return rank
