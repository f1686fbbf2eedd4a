"""One graph as a whole: its ids, its edges, and its cycles."""

from __future__ import annotations

import heapq
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import shown
from flowcabal_tui.domain.schemas import check_path
from flowcabal_tui.domain.workflow import Edge, Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependents
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.validation.scope import GraphScope

_MOST_CIRCLES: Final = 10
Graph = Mapping[NodeId, Collection[NodeId]]
DROP: Final = "drop"
"""The suggested fix that removes a superfluous edge."""


def check_ids(nodes: Sequence[Node], path: str) -> Iterator[Problem]:
    """Duplicate ids, and ids that cannot be part of a path. `path` is that of the graph."""
    for node, count in Counter(node.id for node in nodes).items():
        if count > 1:
            yield Problem(code="DUPLICATE_ID", node=path + node, message=_("{n} nodes have this id.").format(n=count))
        if "/" in node or node != node.strip() or any(unicodedata.category(char) in ("Cc", "Cs") for char in node):
            message = _("An id must not contain a slash or control characters, or begin or end with a space.")
            yield Problem(code="BAD_ID", node=path + node, field="id", message=message)


def check_edges(edges: Sequence[Edge], scope: GraphScope) -> Iterator[Problem]:
    """Edges with a missing node or branch, edges to their own source, and duplicates."""
    seen: set[Edge] = set()
    for number, edge in enumerate(edges):
        place = scope.place(f"edges[{number}]")
        for end, name in (("source", edge.source), ("target", edge.target)):
            if name not in scope.own:
                message = _("An edge names the unknown node {node}.").format(node=name)
                fix = nearest(name, scope.own)
                yield Problem(code="UNKNOWN_NODE", node=scope.owner, field=f"{place}.{end}", message=message, fix=fix)
        if edge.source == edge.target:
            message = _("An edge leads from {node} to itself.").format(node=edge.source)
            yield Problem(code="SELF_REFERENCE", node=scope.owner, field=place, message=message, fix=DROP)
        elif edge in seen:
            message = _("The edge from {source} to {target} is defined twice.").format(
                source=edge.source, target=edge.target
            )
            yield Problem(
                code="DOUBLE_EDGE", node=scope.owner, field=place, message=message, fix=DROP, severity="warning"
            )
        seen.add(edge)
        if edge.condition is not None and not edge.never and edge.source in scope.own:
            yield from _branch(edge, edge.condition, scope, f"{place}.condition")


def _branch(edge: Edge, label: str, scope: GraphScope, place: str) -> Iterator[Problem]:
    read = scope.own[edge.source]
    if read.params is None:
        return
    if labels := read.labels:
        if label not in labels:
            message = _("{node} has no branch {label}. Available: {names}").format(
                node=edge.source, label=label, names=_(", ").join(labels[:20])
            )
            fix = nearest(label, labels)
            yield Problem(code="UNKNOWN_BRANCH", node=scope.owner, field=place, message=message, fix=fix)
    elif check_path(shown(("result_of", edge.source, "label")), scope.schemas):
        message = _("{node} has no branches: a node of the kind {kind} does not choose one.").format(
            node=edge.source, kind=read.node.kind
        )
        yield Problem(code="UNKNOWN_BRANCH", node=scope.owner, field=place, message=message)


def order_of(graph: Graph) -> tuple[tuple[NodeId, ...], tuple[tuple[NodeId, ...], ...]]:
    """Every node after its sources, without those in cycles; and up to ten cycles, each closed by its first node."""
    sources = {node: {each for each in needed if each in graph and each != node} for node, needed in graph.items()}
    behind = dependents(sources)
    place = {node: number for number, node in enumerate(graph)}
    names, missing = tuple(graph), {node: len(needed) for node, needed in sources.items()}
    ready = [place[node] for node, count in missing.items() if not count]
    order: list[NodeId] = []
    circles: list[tuple[NodeId, ...]] = []
    while True:
        while ready:
            node = names[heapq.heappop(ready)]
            order.append(node)
            for after in behind.get(node, ()):
                missing[after] -= 1
                if not missing[after]:
                    heapq.heappush(ready, place[after])
        left = next((node for node, count in missing.items() if count > 0), None)
        if left is None or len(circles) == _MOST_CIRCLES:
            return tuple(order), tuple(circles)
        circle = _circle(left, sources, missing)
        circles.append(circle)
        for node in circle[:-1]:  # removed completely, so that the next search finds another cycle
            missing[node] = 0
            for after in behind.get(node, ()):
                missing[after] -= missing[after] > 0
                if not missing[after] and after not in circle:
                    heapq.heappush(ready, place[after])


def _circle(start: NodeId, sources: Graph, missing: Mapping[NodeId, int]) -> tuple[NodeId, ...]:
    """A cycle, found by following sources from a node that never became ready."""
    way: dict[NodeId, int] = {}
    node = start
    while node not in way:
        way[node] = len(way)
        node = next(source for source in sorted(sources[node]) if missing[source] > 0)
    around = [each for each, number in way.items() if number >= way[node]]
    return (node, *reversed(around))


def check_circles(circles: Sequence[Sequence[NodeId]], path: str) -> Iterator[Problem]:
    """A finding for each cycle, which lists its nodes."""
    for circle in circles:
        shown_part = circle if len(circle) <= 20 else [*circle[:18], "…", circle[-1]]
        message = _("The workflow contains a cycle: {nodes}").format(nodes=" → ".join(shown_part))
        yield Problem(code="CYCLE", node=path + circle[0], message=message)
