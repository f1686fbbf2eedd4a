"""`state_write`: changes the state, in one transaction with the node's own end; items pass as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from flowcabal_tui.domain.items import items_of, readable
from flowcabal_tui.domain.state import StateEffect
from flowcabal_tui.domain.workflow import Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema
from flowcabal_tui.nodes.kinds.item_kinds import ITEMS, Carried, ItemError, field_of


class StateWriteParams(BaseModel, frozen=True, extra="forbid"):
    """The values to write, and the mode."""

    source: Any = Field(
        None, description="A binding to the items that pass; default: no items. `from_item` reads the first."
    )
    updates: dict[str, Any] = Field(default_factory=dict, description="Key to value; bindings are filled in.")
    from_item: dict[str, str] = Field(
        default_factory=dict, description="Key to a field of the first item; goes before `updates`."
    )
    increment: tuple[str, ...] = Field((), description="Counters that go up by one; a missing counter is 0.")
    mode: Literal["write", "working", "start", "complete", "fail"] = Field(
        "write",
        description="write: settled values. working: drafts that prompts do not see while the key is pending. "
        "start: `keys` become pending, prompts see their last stable value. complete: settled, no "
        "longer pending. fail: `keys` are no longer pending and return to their stable value.",
    )
    keys: tuple[str, ...] = Field((), description="The keys of start and fail; for complete, the drafts to settle.")


class StateWrite(NodeKind):
    """Yields the items, the `written` values, and `errors` such as a field that the first item does not have."""

    name: ClassVar[str] = "state_write"
    params: ClassVar[type[StateWriteParams]] = StateWriteParams
    reusable: ClassVar[bool] = False

    def bound(self, params: StateWriteParams) -> Any:
        return {"source": params.source, "updates": params.updates}

    def output_schema(self, params: StateWriteParams) -> Schema:
        return {"type": "object", "properties": {**ITEMS["properties"], "written": {"type": "object"}}}

    def check(self, params: StateWriteParams, node: Node) -> tuple[Problem, ...]:
        return tuple(Problem(code=code, field=field, message=message) for code, field, message in _flaws(params))

    async def run(self, context: NodeContext, params: StateWriteParams) -> Produced:
        carried = Carried()
        carried.add(items_of(context.bind(params.source)))
        updates: dict[str, Any] = {**context.bind(params.updates)}
        known = context.memory.read(params.increment)
        for key in params.increment:
            try:
                updates[key] = int(known.get(key, 0)) + 1
            except (TypeError, ValueError):
                carried.add_error(_("{key} is not a counter: {value}").format(key=key, value=readable(known[key])[:60]))
        for key, field in params.from_item.items() if carried.items else ():
            try:
                updates[key] = field_of(carried.items[0], field)
            except ItemError as error:
                carried.add_error(str(error), 0)
        value = {**carried.value, "written": updates}
        writes = bool(updates or params.keys)
        return Produced(value, StateEffect(params.mode, updates, params.keys) if writes else None)


def _flaws(params: StateWriteParams) -> Iterator[tuple[str, str, str]]:
    values = bool(params.updates or params.from_item or params.increment)
    if params.mode in ("start", "fail"):
        if values:
            yield "UNUSED_PARAM", "updates", _("{mode} writes no values.").format(mode=params.mode)
        if not params.keys:
            yield "MISSING_PARAM", "keys", _("{mode} needs keys.").format(mode=params.mode)
    elif params.keys and params.mode != "complete":
        yield "UNUSED_PARAM", "keys", _("{mode} takes no keys.").format(mode=params.mode)


KIND = StateWrite()
