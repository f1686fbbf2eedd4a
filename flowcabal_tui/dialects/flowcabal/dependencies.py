"""The errors found by FlowCabal's own sorting of a workflow: references to missing nodes, and cycles."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.graph import dependencies


@dataclass(frozen=True, slots=True)
class DependencyProblem:
    """missing: a node and the missing node to which it refers; cycle: all nodes that can never begin."""

    kind: Literal["missing", "cycle"]
    nodes: tuple[NodeId, ...]


def dependency_problem(workflow: Workflow) -> DependencyProblem | None:
    """The reason why the nodes cannot be ordered; None when they can."""
    needed = dependencies(workflow)
    for node, sources in needed.items():
        for source in sources:
            if source not in needed:
                return DependencyProblem("missing", (node, source))
    sorter, ordered = TopologicalSorter(needed), set[NodeId]()
    with suppress(CycleError):
        sorter.prepare()
    while ready := sorter.get_ready():  # in spite of a cycle it gives the nodes that do not depend on it
        ordered.update(ready)
        sorter.done(*ready)
    left = tuple(node for node in needed if node not in ordered)
    return DependencyProblem("cycle", left) if left else None
