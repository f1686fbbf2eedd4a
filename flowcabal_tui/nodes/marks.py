"""Which outputs an edit makes stale, and what is still to be done for the nodes that the writer wants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.nodes.plan import Plan

Stale = Literal["direct", "propagated"]
"""direct: the node itself was edited; propagated: something above it was."""
Marks = Mapping[NodeId, Stale]


def _every(_node: NodeId) -> bool:
    return True


def stale_after_edit(
    plan: Plan, node: NodeId, before: Marks | None = None, *, has_output: Callable[[NodeId], bool] = _every
) -> dict[NodeId, Stale]:
    """The marks after `node` was edited: itself direct, all behind it propagated, and those of `before`.

    A direct mark is never made less. A node without an output cannot be stale.
    """
    marks = _behind(plan, node, before, has_output)
    return marks | {node: "direct"} if has_output(node) else marks


def stale_after_run(
    plan: Plan, node: NodeId, before: Marks | None = None, *, has_output: Callable[[NodeId], bool] = _every
) -> dict[NodeId, Stale]:
    """The marks after `node` gave another output than before: its own is gone, all behind it are propagated.

    It is the same when the node is taken out: then `plan` is the one that still holds it.
    """
    marks = _behind(plan, node, before, has_output)
    marks.pop(node, None)
    return marks


def _behind(
    plan: Plan, node: NodeId, before: Marks | None, has_output: Callable[[NodeId], bool]
) -> dict[NodeId, Stale]:
    marks = dict(before or {})
    seen, waiting = {node}, [node]
    while waiting:
        for after in plan.dependents[waiting.pop()]:
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    for each in plan.steps:
        if each in seen and each != node and has_output(each):
            marks.setdefault(each, "propagated")
    return marks


def todo(
    plan: Plan, targets: Collection[NodeId], has_output: Callable[[NodeId], bool]
) -> tuple[tuple[NodeId, ...], ...]:
    """What a run for the targets does, level by level; the nodes of one level can run side by side.

    These are the targets themselves, and above them what has no output: an output that is there is used, and what
    stands above it is not looked at. Who must not use stale outputs says that they are not there.
    Raises WorkflowError when the graph goes in a circle.
    """
    wanted: set[NodeId] = set()
    waiting = list(targets)
    while waiting:
        node = waiting.pop()
        if node not in wanted:
            wanted.add(node)
            waiting += (source for source in plan.steps[node].sources if not has_output(source))
    level: dict[NodeId, int] = {}
    for node in plan.order:
        if node in wanted:
            level[node] = 1 + max((level[source] for source in plan.steps[node].sources if source in wanted), default=0)
    return tuple(
        tuple(node for node in level if level[node] == depth) for depth in range(1, max(level.values(), default=0) + 1)
    )


def stays_as_edited(graph: Plan, node: NodeId) -> bool:
    """Does what a person wrote for the node stay, whatever its inputs become, until they say otherwise?

    So it is with what they always approve before others build on it: a plan.
    """
    step = graph.steps.get(node)
    if step is None or not isinstance(step.params, PromptParams) or step.params.review != "always":
        return False
    return any(node in other.sources for other in graph.steps.values())
