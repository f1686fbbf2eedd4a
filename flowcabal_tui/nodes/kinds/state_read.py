"""`state_read`: puts values of the state into each item."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from flowcabal_tui.domain.items import items_of
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema
from flowcabal_tui.nodes.kinds.item_kinds import ITEMS, Carried


class StateReadParams(BaseModel, frozen=True, extra="forbid"):
    """The values to read, and the fields for them."""

    source: Any = Field(None, description="The items: a binding such as result_of.plan; default: one empty item.")
    keys: tuple[str, ...] | None = Field(
        None, description="The keys of the state; default: all. A missing key is left out."
    )
    into: str = Field("state", description="The field of the item that contains the values.")
    for_prompt: bool = Field(False, description="Read the last stable value of keys that are being rewritten.")


class StateRead(NodeKind):
    """Its output depends on the state at the moment when it runs: add an edge if the order matters."""

    name: ClassVar[str] = "state_read"
    params: ClassVar[type[StateReadParams]] = StateReadParams

    def bound(self, params: StateReadParams) -> Any:
        return {"source": params.source}

    def output_schema(self, params: StateReadParams) -> Schema:
        return ITEMS

    def fingerprint(self, context: NodeContext, params: StateReadParams) -> Any:
        return [context.memory.read(params.keys, prompt=params.for_prompt)]

    async def run(self, context: NodeContext, params: StateReadParams) -> Produced:
        values = context.memory.read(params.keys, prompt=params.for_prompt)
        items = [{}] if params.source is None else items_of(context.bind(params.source))
        carried = Carried()
        carried.add({**item, params.into: values} for item in items)
        return Produced(carried.value)


KIND = StateRead()
