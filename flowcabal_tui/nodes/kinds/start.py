"""`start`: the beginning of a workflow; yields the inputs of the run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema


class StartParams(BaseModel):
    """The start node; it has no parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Start(NodeKind):
    """Yields the inputs of the run."""

    name: ClassVar[str] = "start"
    params: ClassVar[type[StartParams]] = StartParams

    def output_schema(self, params: StartParams) -> Schema:
        return {"type": "object"}

    async def run(self, context: NodeContext, params: StartParams) -> Produced:
        return Produced(dict(context.names.get("input", {})))


KIND = Start()
