"""Starts each node of a graph once all nodes before it are settled, those with the longest remaining path first.

A node is settled when it has an output or is skipped: it has edges and none was taken, or an output that it needs is
missing because a node was skipped (all of them, for a kind that joins). An edge is taken when its source has an output;
with a condition, only when the `label` of that output is the condition.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from functools import partial
from typing import Protocol

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.nodes.plan import PlannedNode
from flowcabal_tui.runner.scope import Frame


class Nodes(Protocol):
    """The part of a run that a schedule needs."""

    @property
    def stopped(self) -> bool:
        """True when no new node may start."""

    def at_once(self, frame: Frame, step: PlannedNode, path: NodeId) -> Output | None:
        """The output if it is known without running the node: restored, frozen, or served from an earlier run."""

    async def node(self, frame: Frame, step: PlannedNode, path: NodeId) -> Output | None:
        """Runs a node to its end; None when it has no output. Never raises."""

    def began(self, path: NodeId, stop: Callable[[], None]) -> None:
        """Called when the node has started; `stop` cancels it."""

    async def cancelled(self, path: NodeId) -> None:
        """Called when a task was cancelled before its first step, or while its end was being written."""

    def left(self, path: NodeId) -> None:
        """Called when the node's task has ended."""

    def skipped(self, path: NodeId) -> None:
        """Called when no branch to the node was taken, or an output that it needs is missing for that reason."""

    def refused(self, path: NodeId) -> bool:
        """True when the node was stopped before it began."""


class Schedule:
    """The execution of one graph. `level` holds back deeper nodes, for step mode; None: it holds back nothing."""

    def __init__(self, nodes: Nodes, frame: Frame, level: int | None = None) -> None:
        self._nodes, self._frame, self._plan = nodes, frame, frame.plan
        self.level = level
        self._missing = {node: len(step.sources) for node, step in self._plan.steps.items()}
        self._place = {node: number for number, node in enumerate(self._plan.steps)}
        self._ready: list[tuple[float, int, NodeId]] = []
        self._active: dict[NodeId, asyncio.Task[None]] = {}
        self._skipped: set[NodeId] = set()
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._closing = False
        self._broken: BaseException | None = None
        """An error in the runner itself: it must end the run, not leave it hanging."""

    @property
    def unfinished(self) -> list[NodeId]:
        """Nodes that ended without an output or could not begin; skipped ones are not among them."""
        outputs = self._frame.outputs
        return [node for node in self._plan.steps if node not in outputs and node not in self._skipped]

    @property
    def busy(self) -> bool:
        """True while one of its nodes runs."""
        return bool(self._active)

    @property
    def paused(self) -> bool:
        """True when nodes are ready and none runs: step mode holds them back, or the run was stopped."""
        return bool(self._ready) and not self._active

    def advance(self) -> None:
        """Starts the next level; skips levels in which nothing has to run."""
        self._raise_level()
        self.go_on()
        while self.paused and not self._nodes.stopped:
            self._raise_level()
            self.go_on()

    def _raise_level(self) -> None:
        if self.level is not None and self._ready:
            self.level = max(self.level + 1, min(self._plan.levels[node] for _rank, _place, node in self._ready))

    async def execute(self) -> None:
        """Runs nodes until no further one can begin; when cancelled, returns after every running node has ended."""
        try:
            for node, missing in self._missing.items():
                if not missing:
                    self._is_ready(node)
            self.go_on()
            if self.paused and not self._nodes.stopped:
                self.advance()
            await self._wake.wait()
            if self._broken:
                raise self._broken
        finally:
            self._closing = True
            while self._active:
                for task in self._active.values():
                    task.cancel()
                await asyncio.wait(self._active.values())
                for node in [node for node, task in self._active.items() if task.done()]:  # cancelled before a step
                    del self._active[node]
                    self._nodes.left(NodeId(self._frame.path + node))

    def _is_ready(self, node: NodeId) -> None:
        heapq.heappush(self._ready, (-self._plan.ranks[node], self._place[node], node))

    def go_on(self) -> None:
        """Starts every node that may start; wakes the waiting caller when there is none left."""
        deeper: list[tuple[float, int, NodeId]] = []
        while self._ready and not (self._closing or self._nodes.stopped):
            entry = heapq.heappop(self._ready)
            if self.level is not None and self._plan.levels[entry[2]] > self.level:
                deeper.append(entry)
            else:
                self._begin(entry[2])
        for entry in deeper:
            heapq.heappush(self._ready, entry)
        if not self._active and (not self._ready or self._nodes.stopped):
            self._wake.set()

    def _begin(self, node: NodeId) -> None:
        step = self._plan.steps[node]
        path = NodeId(self._frame.path + node)
        if not self._may_run(step):
            self._skipped.add(node)
            self._nodes.skipped(path)
            self._settle(node)
        elif self._nodes.refused(path):
            return
        elif (output := self._nodes.at_once(self._frame, step, path)) is not None:
            self._frame.outputs[node] = output
            self._settle(node)
        else:
            self._active[node] = self._loop.create_task(self._run(node, path, step))
            self._nodes.began(path, partial(self._stop, node, path))

    def _may_run(self, step: PlannedNode) -> bool:
        """False when a branch was not taken, or when an output that the node needs is missing for that reason."""
        outputs = self._frame.outputs
        gone = self._skipped.intersection(step.needs) if self._skipped else ()
        if gone and not (step.kind.joins and len(gone) < len(step.needs)):
            return False
        return not step.controls or any(
            edge.source in outputs and (edge.condition is None or edge.condition == _label(outputs[edge.source]))
            for edge in step.controls
        )

    async def _run(self, node: NodeId, path: NodeId, step: PlannedNode) -> None:
        try:
            output = await self._nodes.node(self._frame, step, path)
        except Exception as error:  # `node` never raises: any error is reported by the run, which must not hang
            self._broken = self._broken or error
            self._wake.set()
            return
        if output is not None:
            self._frame.outputs[node] = output
        self._leave(node, path)

    def _stop(self, node: NodeId, path: NodeId) -> None:
        task = self._active.get(node)
        if task is not None and task.cancel():
            task.add_done_callback(partial(self._was_stopped, node, path))

    def _was_stopped(self, node: NodeId, path: NodeId, task: asyncio.Task[None]) -> None:
        """Handles a task that was cancelled before its first step, or while its end was being written."""
        if task.cancelled() and not self._closing and self._active.get(node) is task:
            self._active[node] = self._loop.create_task(self._cut(node, path))

    async def _cut(self, node: NodeId, path: NodeId) -> None:
        await self._nodes.cancelled(path)
        self._leave(node, path)

    def _leave(self, node: NodeId, path: NodeId) -> None:
        self._active.pop(node, None)
        if node in self._frame.outputs:
            self._settle(node)
        self.go_on()
        self._nodes.left(path)  # after its successors have begun: only then is it known whether the run waits

    def _settle(self, node: NodeId) -> None:
        for after in self._plan.dependents[node]:
            self._missing[after] -= 1
            if not self._missing[after]:
                self._is_ready(after)


def _label(output: Output) -> str:
    """The branch that an output takes: the `label` of its value; "" when it has none."""
    value = output.value
    label = value.get("label") if isinstance(value, dict) else None
    return str(label) if label is not None else ""
