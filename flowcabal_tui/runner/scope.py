"""The state that all nodes of a run share, and the part that the nodes of one graph share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from flowcabal_tui.domain.context import About
from flowcabal_tui.domain.ids import Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.run import Decision, Evaluation, RunRequest
from flowcabal_tui.domain.state import DualState, StateEffect
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.plan import Plan
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.ports import (
    ActionsPort,
    ContextPort,
    DoubtsPort,
    JournalPort,
    ModelsPort,
    MonitorPort,
    SpendPort,
)

_TITLES: Final = (("project", "name"), ("chapter", "title"), ("chapter", "label"))


@dataclass(frozen=True, slots=True)
class RunPorts:
    """The ports of the project that a run uses. `context`, `monitor`, `doubts` and `actions` are None when switched
    off."""

    journal: JournalPort
    models: ModelsPort
    spend: SpendPort
    limits: Limits
    emit: Callable[[Event], None]
    now: Callable[[], datetime]
    feedback: Callable[[Evaluation], str]
    """The text about the findings that the model receives before it tries again."""
    context: ContextPort | None = None
    monitor: MonitorPort | None = None
    doubts: DoubtsPort | None = None
    actions: ActionsPort | None = None
    context_budget: int = 0
    """Tokens that the context of one prompt may have."""
    seal: str = field(default="", repr=False)
    """Part of the ids of permission questions, so that no file can contain an answer in advance."""


@dataclass(slots=True)
class RunScope:
    """One run: its request, its ports and state, and the nodes that wait for an answer. Outputs are in its frames."""

    id: RunId
    workflow: Workflow
    request: RunRequest
    generation: Generation
    values: Mapping[str, Any]
    """Names for bindings: `input`, `chapter`, `project`, each with its fields."""
    ports: RunPorts
    pins: Mapping[NodeId, Output] = field(default_factory=dict)
    """Frozen outputs: their nodes do not run."""
    durations: Mapping[NodeId, float] = field(default_factory=dict)
    """Recent durations of nodes, in seconds."""
    state: DualState = field(default_factory=DualState)
    effects: Mapping[str, Mapping[NodeId, StateEffect]] = field(default_factory=dict)
    """Changes by an earlier process in states that only the log keeps, by node, by the path of the graph."""
    waiting: dict[QuestionId, tuple[NodeId, asyncio.Future[Decision]]] = field(default_factory=dict)
    edited: set[NodeId] = field(default_factory=set)
    """Nodes whose output a person wrote in answer to a question."""
    limit_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the node that asks whether the run may cost more."""
    limit_refused: bool = False
    """True once a person has declined to exceed the limit."""
    continues: bool = False
    """Texts that were cut off are continued from where they stopped, not written from the start."""
    continue_agreed: bool = False
    """The first call of a continued run may pass the limit: the person was asked already."""
    closing: bool = False
    """True when the process ends: interrupted work stays resumable."""

    @property
    def about(self) -> About:
        """The chapter of the run, for the Context agent."""
        titles = {f"{part}.{name}": str(self.values.get(part, {}).get(name, "")) for part, name in _TITLES}
        return About(str(self.values.get("input", {}).get("instruction", "")), titles)


@dataclass
class Frame:
    """One graph of a run: the workflow's own, the body of a loop's third round, a sub-flow."""

    scope: RunScope
    plan: Plan
    workflow: Workflow
    values: Mapping[str, Any]
    """Names for bindings besides outputs and state."""
    state: DualState
    path: str = ""
    """The prefix of its nodes' ids: "" or such as "loop/3/"."""
    state_of: str = ""
    """The path of the graph to which the state belongs."""
    outer: Frame | None = None
    """The enclosing graph, whose outputs can be named too."""
    depth: int = 0
    """The number of enclosing sub-flows."""
    rank: float = 0.0
    """The duration of the longest path from the node that contains this graph to an end."""
    outputs: dict[NodeId, Output] = field(default_factory=dict)

    def output(self, node: NodeId) -> Output | None:
        """The output of a node of this graph or of a graph around it."""
        found = self.outputs.get(node)
        return found if found is not None or self.outer is None else self.outer.output(node)

    @cached_property
    def names(self) -> BoundNames:
        return BoundNames(self)

    @cached_property
    def digest(self) -> Digest:
        """The digest of everything that bindings can name besides outputs and state."""
        return digest_of(self.values)

    def inside(self) -> Iterator[Frame]:
        """This graph and those around it."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer

    def has_node(self, node: NodeId) -> bool:
        """True when this graph or one around it contains the node."""
        return any(node in frame.plan.steps for frame in self.inside())


class Results(Mapping[str, Any]):
    """The outputs that a frame can name, as JSON values."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def __getitem__(self, node: str) -> Any:
        output = self._frame.output(NodeId(node))
        if output is None:
            raise KeyError(node)
        return output.value

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(node for frame in self._frame.inside() for node in frame.outputs))

    def __len__(self) -> int:
        return sum(1 for _node in self)


class NamesAtMoment(Mapping[str, Any]):
    """The names at one moment; `state` is called when the state is read."""

    def __init__(self, names: Mapping[str, Any], state: Callable[[], Mapping[str, Any]]) -> None:
        self._names, self._state = names, state

    def __getitem__(self, name: str) -> Any:
        return self._state() if name == "state" else self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class BoundNames(Mapping[str, Any]):
    """All names that bindings can use in a frame; the state is read on access."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._results = Results(frame)

    def __getitem__(self, name: str) -> Any:
        if name == "result_of":
            return self._results
        if name == "state":
            return self._frame.state.view(prompt=True)
        return self._frame.values[name]

    def __iter__(self) -> Iterator[str]:
        yield from ("result_of", "state")
        yield from self._frame.values

    def __len__(self) -> int:
        return len(self._frame.values) + 2
