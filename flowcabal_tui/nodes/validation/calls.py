"""Checks the workflows that a workflow calls: existence, termination, and the outputs taken from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from flowcabal_tui.domain import binding_checks
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.calls import SubflowCall, calls, check_calls
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.size import too_large
from flowcabal_tui.nodes.validation.params import read_node
from flowcabal_tui.nodes.validation.scope import NodeSchemas

Library = Mapping[str, Workflow]
"""Workflows by every reference that may name them."""
MAX_CALLS: Final = 10
"""Workflows inside each other; `subflow` refuses more when it runs."""


def check_library(workflow: Workflow, library: Library | None, paths: Mapping[NodeId, str]) -> Iterator[Problem]:
    """Checks calls: unknown workflows, cycles without a decreasing depth, calls that are too deep, and their outputs.

    Without a library, only calls of the workflow to itself are checked. `paths` are those of its sub-flow nodes; every
    node of the workflow can be read by its kind.
    """
    known = {workflow.id: workflow, **(library or {}), workflow.reference: workflow}
    readable = {name: one for name, one in known.items() if one is workflow or _readable(one)}
    own = calls(workflow)
    found = [finding for finding in check_calls(workflow, readable) if finding.code != "UNKNOWN_WORKFLOW"]
    for call in own:
        if call.ref not in known:
            found += [_unknown(call, known)] if library is not None else []
        elif call.ref in readable:
            found += [*_literal_depth(call, readable), *_outputs(call, readable[call.ref])]
    if not found:
        found += _chain(workflow, own, readable)
    yield from (finding.model_copy(update={"node": paths.get(NodeId(finding.node), finding.node)}) for finding in found)


def _readable(workflow: Workflow) -> bool:
    try:
        return too_large(workflow) is None and calls(workflow) is not None
    except WorkflowError:
        return False


def _unknown(call: SubflowCall, known: Library) -> Problem:
    names = sorted({one.reference for one in known.values()})
    listed = _(", ").join(names[:20])
    message = _("There is no workflow {ref}. Available: {names}").format(ref=call.ref[:80], names=listed)
    fix = nearest(call.ref, tuple(known))
    return Problem(code="UNKNOWN_WORKFLOW", node=call.node.id, field="ref", message=message, fix=fix)


def _literal_depth(call: SubflowCall, known: Library) -> Iterator[Problem]:
    """Reports the depth at which a workflow calls itself, and refuses a depth that cannot run."""
    inputs = call.node.params.get("inputs")
    for name in {inner.bound for inner in calls(known[call.ref]) if inner.bound is not None}:
        depth = inputs.get(name) if isinstance(inputs, Mapping) else None
        if isinstance(depth, int) and depth > MAX_CALLS:
            yield _too_deep(call, f"inputs.{name}")


def _outputs(call: SubflowCall, called: Workflow) -> Iterator[Problem]:
    """Checks what is read inside the called workflow against its own nodes."""
    reads = (read_node(node, node.id, None)[0] for node in called.nodes)
    seen = NodeSchemas({read.node.id: read for read in reads})
    outputs = call.node.params.get("outputs")
    for finding in binding_checks.check(outputs, seen, roots={"input": None}, location="outputs"):
        yield finding.model_copy(update={"node": call.node.id})


def _chain(workflow: Workflow, own: Iterable[SubflowCall], known: Library) -> Iterator[Problem]:
    """Finds chains of workflows that call each other, without a cycle, more deeply than can run."""
    heights: dict[str, int] = {}
    waiting: list[tuple[str, bool]] = [(workflow.reference, False)]
    while waiting:
        reference, below_known = waiting.pop()
        targets = {known[call.ref].reference for call in calls(known[reference]) if call.ref in known} - {reference}
        if below_known:
            heights[reference] = max((heights.get(target, 0) + 1 for target in targets), default=0)
        elif reference not in heights:
            heights[reference] = 0  # seen; a circle ends here
            waiting += [(reference, True), *((target, False) for target in targets)]
    for call in own:
        if call.ref in known and heights.get(known[call.ref].reference, 0) + 1 > MAX_CALLS:
            yield _too_deep(call, "ref")


def _too_deep(call: SubflowCall, field: str) -> Problem:
    message = _("Workflows would call each other more than {n} levels deep through {ref}.").format(
        n=MAX_CALLS, ref=call.ref
    )
    return Problem(code="TOO_DEEP", node=call.node.id, field=field, message=message)
