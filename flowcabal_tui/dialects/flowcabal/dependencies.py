"""The errors found by FlowCabal's own sorting of a workflow: references to missing nodes, and cycles."""

from __future__ import annotations

from dataclasses import dataclass
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
    missing = {node: len(sources) for node, sources in needed.items()}
    behind: dict[NodeId, list[NodeId]] = {node: [] for node in needed}
    for node, sources in needed.items():
        for source in sources:
            behind[source].append(node)
    ready = [node for node, count in missing.items() if not count]
    for node in ready:  # it grows
        for after in behind[node]:
            missing[after] -= 1
            if not missing[after]:
                ready.append(after)
    left = tuple(node for node, count in missing.items() if count)
    return DependencyProblem("cycle", left) if left else None
