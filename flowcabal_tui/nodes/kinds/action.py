"""`action`: runs an action of the registry; a gated one waits until a person allows exactly this."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from flowcabal_tui.domain.items import canonical, readable
from flowcabal_tui.domain.schemas import ANYTHING
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Rejected, Schema


class ActionParams(BaseModel, frozen=True, extra="forbid"):
    """An action and its parameters."""

    action: str = Field(description="The id of the action in the registry.")
    params: dict[str, Any] = Field(default_factory=dict, description="Its inputs; bindings are filled in.")
    output: dict[str, Any] | None = Field(
        None,
        description="JSON Schema of the result, for checks; default: anything. The registry's schema applies as well.",
    )


class ActionNode(NodeKind):
    """Yields the action's result; an object also has the arguments of the action under `params`."""

    name: ClassVar[str] = "action"
    params: ClassVar[type[ActionParams]] = ActionParams
    reusable: ClassVar[bool] = False

    def bound(self, params: ActionParams) -> Any:
        return {"params": params.params}

    def output_schema(self, params: ActionParams) -> Schema | None:
        if params.output is None or params.output.get("type", "object") != "object":
            return params.output
        given = dict.fromkeys(params.params, ANYTHING)
        sent: Schema = {"type": "object", "properties": given, "additionalProperties": False}
        return {**params.output, "properties": {"params": sent, **params.output.get("properties", {})}}

    def check(self, params: ActionParams, node: Node) -> tuple[Problem, ...]:
        if params.action.strip():
            return ()
        return (Problem(code="MISSING_ACTION", message=_("No action is named."), field="action"),)

    async def run(self, context: NodeContext, params: ActionParams) -> Produced:
        given = context.bind(params.params)
        gated = context.gated(params.action)
        if gated:
            await self._allowed(context, _("Allow {action} to run with these parameters?"), params.action, given, "")
        if context.acted:
            again = _("The program ended while {action} was running: it may have finished. Run it again?")
            await self._allowed(context, again, params.action, given, f"again {context.acted} ")
        await context.acts()
        result = await context.act(params.action, given, approved=gated)
        return Produced({"params": given, **result} if isinstance(result, dict) else result)

    async def _allowed(self, context: NodeContext, reason: str, action: str, given: Any, part: str) -> None:
        """Waits until a person permits this call with exactly these parameters. Raises Rejected."""
        decision = await context.ask(
            "gate",
            reason.format(action=action),
            proposal=readable(given),
            required=True,
            part=part + digest(canonical([action, given])),
        )
        if decision.kind != "approve":
            raise Rejected


KIND = ActionNode()
