"""`subflow`: runs another workflow as one node; it may call itself while an input that bounds the depth falls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import FROM, resolve
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema
from flowcabal_tui.nodes.calls import SubflowParams, calls, check_calls, depth_name
from flowcabal_tui.nodes.graph import dependencies, last_nodes
from flowcabal_tui.nodes.size import too_large

MAX_DEPTH: Final = 10
"""Most sub-flows inside each other, over all workflows."""


class Subflow(NodeKind):
    """Yields the values of `outputs`, else the output of the last node of the called workflow.

    The last node is the last in its document that was not skipped and that no other depends on.
    """

    name: ClassVar[str] = "subflow"
    params: ClassVar[type[SubflowParams]] = SubflowParams
    reusable: ClassVar[bool] = False

    def bound(self, params: SubflowParams) -> Any:
        depth = depth_name(params.depth)
        return {
            "inputs": params.inputs,
            **({"depth": {FROM: paths.shown(("input", depth))}, "bottom": params.bottom} if depth else {}),
        }

    def output_schema(self, params: SubflowParams) -> Schema | None:
        if not params.outputs or params.depth is not None:
            return None
        return {"type": "object", "properties": {name: {} for name in params.outputs}}

    async def run(self, context: NodeContext, params: SubflowParams) -> Produced:
        left, name, around = None, depth_name(params.depth), context.names_at("begin")
        if name is not None:
            left = _levels(context.bind({FROM: paths.shown(("input", name))}), name)
            if left == 0:
                return Produced(resolve(params.bottom, around))
        if context.depth >= MAX_DEPTH:
            raise WorkflowError(
                _("Workflows call each other more than {n} levels deep.").format(n=MAX_DEPTH),
                params.ref,
                _("Give the call a smaller depth."),
            )
        workflow = await context.workflow(params.ref)
        if (refused := too_large(workflow)) is not None:
            raise WorkflowError(_("The workflow {ref} cannot run.").format(ref=params.ref), refused.message)
        await _refuse_endless(context, workflow)
        inputs = {**resolve(params.inputs, around), **({name: left - 1} if name is not None and left else {})}
        outputs = await context.flow(workflow, "flow", inputs, own_state=not params.share_state)
        if not params.outputs:
            return Produced(_last(workflow, outputs))
        names = {paths.RESULT: {str(node): output.value for node, output in outputs.items()}, "input": inputs}
        return Produced(resolve(params.outputs, names))


def _levels(value: Any, name: str) -> int:
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 0:
        raise WorkflowError(_("input.{name} must be a whole number from 0.").format(name=name), repr(value)[:60])
    return whole


async def _refuse_endless(context: NodeContext, workflow: Workflow) -> None:
    """Raises WorkflowError when the calls that begin here could recur without a decreasing depth."""
    library, waiting = {workflow.reference: workflow}, [workflow]
    while waiting:
        for call in calls(waiting.pop()):
            if call.ref in library:
                continue
            try:
                called = await context.workflow(call.ref)
            except WorkflowError:  # its own node says so, if it ever runs
                continue
            library[call.ref] = library[called.reference] = called
            waiting.append(called)
    endless = [finding for finding in check_calls(workflow, library) if finding.code == "ENDLESS_CALLS"]
    if endless:
        raise WorkflowError(
            _("The workflow {ref} would call itself endlessly.").format(ref=workflow.reference),
            "\n".join(f"{finding.node}: {finding.message}" for finding in endless),
            _("Give the node that calls again a depth, such as input.depth."),
        )


def _last(workflow: Workflow, outputs: Mapping[NodeId, Output]) -> Any:
    ends = [node for node in last_nodes(dependencies(workflow)) if node in outputs]
    return outputs[ends[-1]].value if ends else None


KIND = Subflow()
