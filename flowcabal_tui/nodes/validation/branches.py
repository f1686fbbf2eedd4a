"""Finds nodes that may be skipped because a branch is not taken, and nodes that can never run.

For each node it computes the conditions of its execution: for branching nodes, which of their labels. The union over
several edges is rounded up, so a node is called unreachable only when it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Edge, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependents
from flowcabal_tui.nodes.validation.scope import GraphScope

Holds = Mapping[NodeId, frozenset[str]]
"""For each branching node, the labels of which its output must be one."""
_MOST_KEPT: Final = 32
"""Maximum number of branching nodes in the conditions of a node; those farthest above are dropped."""


def check_branches(
    order: Sequence[NodeId],
    needs: Mapping[NodeId, Collection[NodeId]],
    edges: Iterable[Edge],
    scope: GraphScope,
    path: str,
) -> Iterator[Problem]:
    """Warnings for nodes that can never run, and for references to nodes that may be skipped while the node itself is
    not.

    A branch that ends in a join is meant to be skipped: its nodes get no warning.
    """
    joined = _joined(order, needs, scope)
    leading: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        if edge.source in scope.own and edge.source != edge.target:
            leading.setdefault(edge.target, []).append(edge)
    placed: dict[NodeId, Holds | None] = {}
    """The conditions of the edges alone for each node; None: unreachable."""
    whole: dict[NodeId, Holds | None] = {}
    for node in order:
        read = scope.own[node]
        merges = read.kind is not None and read.kind.joins
        sources = [source for source in needs.get(node, ()) if source in whole]
        placed[node] = by_edges = _by_edges(leading.get(node, ()), whole, scope)
        whole[node] = by_edges if merges else _all_of([by_edges, *(whole[source] for source in sources)])
        lost = [source for source in sources if whole[source] is None]
        if (lost and not merges) or (merges and lost and len(lost) == len(sources)):
            whole[node] = None
        if whole[node] is None:
            yield _unreachable(path + node, lost)
        elif not merges and node not in joined:
            known = by_edges or {}
            joins = len(_ways(sources, leading.get(node, ()), placed)) > 1
            yield from (
                _may_not(path + node, source, known, placed[source] or {}, joins=joins)
                for source in sources
                if _missing(known, placed[source] or {})
            )


def _ways(
    sources: Iterable[NodeId], edges: Iterable[Edge], placed: Mapping[NodeId, Holds | None]
) -> set[tuple[tuple[str, frozenset[str]], ...]]:
    """The conditions of each source and edge that lead to a node, without those that always hold."""
    demands = [dict(placed.get(source) or {}) for source in sources]
    for edge in edges:
        label = {edge.source: frozenset((edge.condition,))} if edge.condition is not None else {}
        demands.append({**(placed.get(edge.source) or {}), **label})
    return {tuple(sorted(demand.items())) for demand in demands if demand}


def _joined(order: Sequence[NodeId], needs: Mapping[NodeId, Collection[NodeId]], scope: GraphScope) -> set[NodeId]:
    """Nodes all of whose outputs lead, directly or through others, into nodes that run without some of their
    sources.
    """
    behind = dependents(needs)
    joins = {node for node, read in scope.own.items() if read.kind is not None and read.kind.joins}
    found: set[NodeId] = set()
    for node in reversed(order):
        if node in behind and all(after in joins or after in found for after in behind[node]):
            found.add(node)
    return found


def _by_edges(controls: Iterable[Edge], whole: Mapping[NodeId, Holds | None], scope: GraphScope) -> Holds | None:
    ways: list[Holds] = []
    several = False
    for edge in controls:
        several = True
        above = whole.get(edge.source, {})
        if above is None or edge.never:
            continue
        if edge.condition is None:
            ways.append(above)
        elif labels := above.get(edge.source, frozenset((edge.condition,))) & {edge.condition}:
            ways.append({**above, edge.source: labels})
    if not several:
        return {}
    return _one_of(ways, scope) if ways else None


def _one_of(ways: list[Holds], scope: GraphScope) -> Holds:
    """The conditions that hold on every path; a branching node with all its labels imposes none."""
    first, *others = ways
    if not others:
        return _kept(first)
    found: dict[NodeId, frozenset[str]] = {}
    for node, labels in first.items():
        if all(node in way for way in others):
            together = labels.union(*(way[node] for way in others))
            if not together.issuperset(scope.own[node].labels or ("",)):
                found[node] = together
    return _kept(found)


def _all_of(parts: Sequence[Holds | None]) -> Holds | None:
    """The conditions that hold when all parts hold; None when they exclude each other."""
    demands = [part for part in parts if part]
    if None in parts or len(demands) < 2:
        return None if None in parts else demands[0] if demands else {}
    found: dict[NodeId, frozenset[str]] = {}
    for part in demands:
        for node, labels in part.items():
            found[node] = found.get(node, labels) & labels
            if not found[node]:
                return None
    return _kept(found)


def _kept(found: Holds) -> Holds:
    return found if len(found) <= _MOST_KEPT else dict(list(found.items())[-_MOST_KEPT:])


def _missing(known: Holds, wanted: Holds) -> NodeId | None:
    """The first branching node whose label may differ between the reader and the node that it reads."""
    return next((node for node, labels in wanted.items() if not (node in known and known[node] <= labels)), None)


def _unreachable(node: str, lost: Collection[NodeId]) -> Problem:
    message = _("It can never run: it needs branches that exclude each other.")
    if lost:
        message = _("It can never run, because {node} never does.").format(node=next(iter(lost)))
    return Problem(code="UNREACHABLE", node=node, message=message, severity="warning")


def _may_not(node: str, source: NodeId, known: Holds, wanted: Holds, *, joins: bool) -> Problem:
    branching = _missing(known, wanted)
    labels = _(", ").join(sorted(wanted[branching])) if branching else ""
    message = _("{source} runs only when {branching} yields {labels}; otherwise this node is skipped too.").format(
        source=source, branching=branching, labels=labels
    )
    code = "SKIPPED_JOIN" if joins else "MAY_NOT_RUN"
    return Problem(code=code, node=node, message=message, severity="warning")
