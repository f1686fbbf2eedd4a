"""A graph ready to run: kinds, checked parameters, dependencies, longest paths. Prepared once, run many times."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import BaseModel

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.reaching import reached
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.workflow import Edge, Node
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.graph import dependents, kind_and_params, needs_of
from flowcabal_tui.nodes.size import MAX_NODES


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """A node with its kind. `needs` are its data, in declared order; `controls` the edges that lead to it."""

    node: Node
    kind: NodeKind
    params: BaseModel
    needs: tuple[NodeId, ...]
    outer: tuple[NodeId, ...]
    """Nodes outside the graph that it refers to."""
    controls: tuple[Edge, ...]
    sources: tuple[NodeId, ...]
    """`needs` and the sources of `controls`, without doubles."""
    digest: Digest
    """The digest of kind, version and parameters."""
    reads_state: bool
    """True when a binding names the state."""


@dataclass(frozen=True)
class Plan:
    """The steps of a graph by id, in the document's order."""

    steps: Mapping[NodeId, PlannedNode]
    durations: Mapping[NodeId, float] = field(default_factory=dict)
    """Recent durations of nodes, in seconds; for the critical path."""

    @cached_property
    def dependents(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        found = dependents({node: step.sources for node, step in self.steps.items()})
        return {node: tuple(found.get(node, ())) for node in self.steps}

    @cached_property
    def order(self) -> tuple[NodeId, ...]:
        """Every node after its sources; the document's order among equals. Raises WorkflowError on a cycle."""
        place = {node: number for number, node in enumerate(self.steps)}
        missing = {node: len(step.sources) for node, step in self.steps.items()}
        ready = [number for node, number in place.items() if not missing[node]]
        names = tuple(self.steps)
        found: list[NodeId] = []
        while ready:
            node = names[heapq.heappop(ready)]
            found.append(node)
            for after in self.dependents[node]:
                missing[after] -= 1
                if not missing[after]:
                    heapq.heappush(ready, place[after])
        if len(found) < len(self.steps):
            raise circle(self._circle(missing))
        return tuple(found)

    def _circle(self, missing: Mapping[NodeId, int]) -> list[NodeId]:
        """One cycle among the nodes that never became ready: following sources from any of them must return to it."""
        node = next(node for node, count in missing.items() if count)
        way: list[NodeId] = []
        while node not in way:
            way.append(node)
            node = next(source for source in self.steps[node].sources if missing[source])
        return [node, *reversed(way[way.index(node) :])]

    @cached_property
    def ranks(self) -> Mapping[NodeId, float]:
        """For each node, the duration of the longest path from it to an end, in seconds or, if unknown, in steps."""
        mean = sum(self.durations.values()) / len(self.durations) if self.durations else 1.0
        rank: dict[NodeId, float] = {}
        for node in reversed(self.order):
            behind = max((rank[after] for after in self.dependents[node]), default=0.0)
            rank[node] = behind + self.durations.get(node, mean)
        return rank

    @cached_property
    def levels(self) -> Mapping[NodeId, int]:
        """The number of nodes above each node on the longest path to it."""
        found: dict[NodeId, int] = {}
        for node in self.order:
            found[node] = max((found[source] + 1 for source in self.steps[node].sources), default=0)
        return found

    @property
    def ends(self) -> tuple[NodeId, ...]:
        """Nodes that nothing depends on."""
        return tuple(node for node, after in self.dependents.items() if not after)

    def part(self, targets: Collection[NodeId]) -> Plan:
        """The plan of the targets and everything above them; without targets, the whole plan."""
        if not targets:
            return self
        wanted = reached(targets, lambda node: self.steps[node].sources)
        return Plan({node: step for node, step in self.steps.items() if node in wanted}, self.durations)


def plan(
    nodes: Sequence[Node],
    edges: Iterable[Edge] = (),
    *,
    durations: Mapping[NodeId, float] | None = None,
    outside: Callable[[NodeId], bool] = lambda _node: False,
) -> Plan:
    """Prepares a graph. `outside` is True for nodes of a graph around.

    Raises WorkflowError for a bad node, a reference to a missing node, or a cycle, and for a graph that is too large or
    too deep.
    """
    if len(nodes) > MAX_NODES:
        raise WorkflowError(_("A graph has {n} nodes; {most} can run.").format(n=len(nodes), most=MAX_NODES))
    try:
        return _planned(nodes, edges, durations or {}, outside)
    except RecursionError as error:
        raise WorkflowError(_("Too many graphs are nested.")) from error


def _planned(
    nodes: Sequence[Node],
    edges: Iterable[Edge],
    durations: Mapping[NodeId, float],
    outside: Callable[[NodeId], bool],
) -> Plan:
    known = {node.id for node in nodes}
    leading: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        leading.setdefault(edge.target, []).append(edge)
    steps: dict[NodeId, PlannedNode] = {}
    for node in nodes:
        kind, params = kind_and_params(node)
        named, reads_state = needs_of(kind, params, known)
        needs = tuple(each for each in named if each in known)
        outer = tuple(each for each in named if each not in known)
        controls = tuple(leading.get(node.id, ()))
        unknown = [each for each in (*(edge.source for edge in controls), *outer) if each not in known]
        if lost := [each for each in unknown if not outside(each)]:
            raise WorkflowError(
                _("Node {node} needs {source}, which is not in the workflow.").format(node=node.id, source=lost[0])
            )
        steps[node.id] = PlannedNode(
            node=node,
            kind=kind,
            params=params,
            needs=needs,
            outer=outer,
            controls=controls,
            sources=tuple(dict.fromkeys((*needs, *(edge.source for edge in controls)))),
            digest=digest_of([kind.name, kind.version, node.params]),
            reads_state=reads_state,
        )
    made = Plan(steps, durations)
    made.ranks  # noqa: B018  # computed now, not while the run waits for it
    return made


def circle(nodes: Sequence[NodeId]) -> WorkflowError:
    """The error for a graph with a cycle."""
    return WorkflowError(
        _("The workflow contains a cycle."),
        " → ".join(nodes),
        _("Nothing was run. Remove one of these references."),
    )
