"""`end`: the end of a workflow; yields its output."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from flowcabal_tui.domain.schemas import literal
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema


class EndParams(BaseModel, frozen=True, extra="forbid"):
    """The end, with the output of the workflow."""

    value: Any = Field(None, description="A binding or a value; default: an empty object.")


class End(NodeKind):
    """Yields its value, bindings filled in."""

    name: ClassVar[str] = "end"
    params: ClassVar[type[EndParams]] = EndParams

    def bound(self, params: EndParams) -> Any:
        return {"value": params.value}

    def output_schema(self, params: EndParams) -> Schema:
        value = {} if params.value is None else params.value
        return literal(value, open_text=lambda text: any(sign in text for sign in "{.["))

    async def run(self, context: NodeContext, params: EndParams) -> Produced:
        return Produced({} if params.value is None else context.bind(params.value))


KIND = End()
