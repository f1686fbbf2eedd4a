"""Marks the outputs that an edit makes out of date, and lists the nodes to run for the writer's targets."""

from __future__ import annotations

from collections.abc import Callable, Collection

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.reaching import reached
from flowcabal_tui.domain.versions import StaleKind
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.nodes.plan import Plan


def _every(_node: NodeId) -> bool:
    return True


def stale_after_edit(
    plan: Plan, node: NodeId, *, has_output: Callable[[NodeId], bool] = _every
) -> dict[NodeId, StaleKind]:
    """The marks after `node` was edited: direct for the node, propagated for all nodes after it.

    A node without an output cannot be stale.
    """
    marks = stale_after_run(plan, node, has_output=has_output)
    return marks | {node: "direct"} if has_output(node) else marks


def stale_after_run(
    plan: Plan, node: NodeId, *, has_output: Callable[[NodeId], bool] = _every
) -> dict[NodeId, StaleKind]:
    """The marks after the output of `node` changed: all nodes after it are marked as propagated.

    The same applies when the node is deleted: then `plan` is the one that still contains it.
    """
    seen = reached([node], plan.dependents.__getitem__)
    return {each: "propagated" for each in plan.steps if each in seen and each != node and has_output(each)}


def todo(
    plan: Plan, targets: Collection[NodeId], has_output: Callable[[NodeId], bool]
) -> tuple[tuple[NodeId, ...], ...]:
    """The nodes that a run for the targets executes, level by level; the nodes of one level can run in parallel.

    These are the targets themselves, and above them the nodes without an output: an existing output is used, and the
    nodes above it are not examined. `has_output` must be False for outputs out of date that may not be used. Raises
    WorkflowError for a cycle.
    """
    wanted = reached(targets, lambda node: (each for each in plan.steps[node].sources if not has_output(each)))
    level: dict[NodeId, int] = {}
    for node in plan.order:
        if node in wanted:
            level[node] = 1 + max((level[source] for source in plan.steps[node].sources if source in wanted), default=0)
    return tuple(
        tuple(node for node in level if level[node] == depth) for depth in range(1, max(level.values(), default=0) + 1)
    )


def stays_as_edited(graph: Plan, node: NodeId) -> bool:
    """True when a person's text for the node stays current until they decide otherwise, even if its inputs change.

    This holds for a text that is always approved before others build on it, such as a plan.
    """
    step = graph.steps.get(node)
    if step is None or not isinstance(step.params, PromptParams) or step.params.review != "always":
        return False
    return any(node in other.sources for other in graph.steps.values())
