"""`condition`: chooses a branch by the outputs of earlier nodes."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import ConfigDict

from flowcabal_tui.domain import conditions
from flowcabal_tui.domain.conditions import Condition
from flowcabal_tui.domain.workflow import Node, Problem
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema
from flowcabal_tui.nodes.kinds.bodies import as_bound

_BANDED = ("multi_band", "max_in_range")
_WHOLE = ("list_not_empty", "is_empty", "not_empty", "is_not_empty", "equals", "not_equals", "regex_match")
"""Kinds that look at the source as a whole, not at values in it."""


class ConditionParams(Condition):
    """A comparison; edges with the condition "true", "false" or a band's label lead to the branches."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ConditionNode(NodeKind):
    """Yields the label of the branch, with the compared values."""

    name: ClassVar[str] = "condition"
    params: ClassVar[type[ConditionParams]] = ConditionParams

    def bound(self, params: ConditionParams) -> Any:
        return as_bound(conditions.paths_in(params), (), ())

    def labels(self, params: ConditionParams) -> tuple[str, ...]:
        if params.kind not in _BANDED:
            return ("true", "false")
        return tuple(dict.fromkeys((*(band.label for band in params.bands), "false")))

    def output_schema(self, params: ConditionParams) -> Schema:
        fields: dict[str, Schema] = {"label": {"type": "string", "enum": list(self.labels(params))}}
        fields["result"] = {"type": "boolean"}
        if params.source is not None:
            fields["resolved_value"] = {}
            if params.kind not in _WHOLE:
                fields["evaluated_values"] = {"type": "array"}
        return {"type": "object", "properties": fields, "additionalProperties": False}

    def check(self, params: ConditionParams, node: Node) -> tuple[Problem, ...]:
        return tuple(conditions.check_shape(params))

    async def run(self, context: NodeContext, params: ConditionParams) -> Produced:
        outcome = conditions.check(params, context.names)
        value: dict[str, Any] = {"label": outcome.label, "result": outcome.result}
        if params.source is not None:
            value["resolved_value"] = outcome.resolved_value
            if outcome.evaluated_values is not None:
                value["evaluated_values"] = outcome.evaluated_values
        return Produced(value)


KIND = ConditionNode()
