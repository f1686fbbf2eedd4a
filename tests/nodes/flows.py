"""Running nodes of any kind in tests: a bench with actions, and what a run gave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.protocol.runs import NodeNeedsHuman, WorkflowFailed
from flowcabal_tui.runner.run import Run
from tests.runner.fakes import Bench, FakeModel, until


@dataclass
class FakeActions:
    """Actions as functions of their params; those in `gates` need a person."""

    does: dict[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    gates: set[str] = field(default_factory=set)
    done: list[tuple[str, Any, bool]] = field(default_factory=list)
    holds: dict[str, asyncio.Event] = field(default_factory=dict)
    going: int = 0
    most: int = 0

    def gated(self, action: str) -> bool:
        return action in self.gates

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        self.going += 1
        self.most = max(self.most, self.going)
        try:
            await asyncio.sleep(0)
            if action in self.holds:
                await self.holds[action].wait()
            self.done.append((action, dict(params), approved))
            return self.does.get(action, lambda given: {"did": action})(params)
        finally:
            self.going -= 1

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RunError("no functions")

    async def workflow(self, reference: str) -> Workflow:
        raise RunError("no workflows")


def bench(actions: FakeActions | None = None, says=lambda request: f"[{request.messages[-1].content}]") -> Bench:
    made = Bench(FakeModel(says))
    made.ports = replace(made.ports, actions=actions or FakeActions())
    return made


def node(name: str, kind: str, /, **params: Any) -> Node:
    return Node(id=NodeId(name), kind=kind, params=params)


def edge(source: str, target: str, condition: str | None = None) -> Edge:
    return Edge(source=NodeId(source), target=NodeId(target), condition=condition)


def act(name: str, /, **params: Any) -> Node:
    """An action node; the action is called as the node."""
    return node(name, "action", action=name, params=params)


def body(*nodes: Node, edges: tuple[Edge, ...] = (), leave: str | None = None) -> dict[str, Any]:
    """A graph inside a node; `leave` is its exit."""
    made = {"nodes": [one.model_dump() for one in nodes], "edges": [one.model_dump() for one in edges]}
    return made | ({"exit": leave} if leave else {})


def values(run: Run) -> dict[str, Any]:
    return {name: output.value for name, output in run.outputs.items()}


def failure(made: Bench) -> str:
    """What the first failed node said."""
    first = made.of(WorkflowFailed)[0]
    return f"{first.error} {first.detail}"


async def answered(made: Bench, run: Run, decision: Decision, number: int = 0) -> None:
    """Answers the question asked as `number` (from 0), when it has been asked."""
    await until(lambda: len(made.of(NodeNeedsHuman)) > number)
    question = made.of(NodeNeedsHuman)[number].question
    await made.journal.answer(
        question.id, decision, RunEvent(question.run, "answered", question.node, 0, {"question": question.id})
    )
    run.answer(question.id, decision)
