"""`map`: sets fields of each item to the results of JMESPath expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from pydantic import Field

from flowcabal_tui.domain.expressions import check_query, query
from flowcabal_tui.domain.workflow import Node, Problem
from flowcabal_tui.nodes.kinds.item_kinds import Item, ItemKind, ItemParams


class MapParams(ItemParams):
    """The fields to set, with their expressions."""

    set: dict[str, str] = Field(
        default_factory=dict,
        description="Field to JMESPath expression. Every expression sees the item as it arrived, not what the "
        "others set.",
    )
    overwrite: bool = Field(True, description="Replace fields that the item already has.")
    missing: Literal["null", "skip"] = Field(
        "null", description="If there is nothing to copy: set the field to null, or leave it unset."
    )


class Map(ItemKind):
    """One item in, one item out. One bad expression leaves the whole item unchanged."""

    name: ClassVar[str] = "map"
    params: ClassVar[type[MapParams]] = MapParams

    def check(self, params: MapParams, node: Node) -> tuple[Problem, ...]:
        found = (check_query(expression, field=f"set.{field}") for field, expression in params.set.items())
        return tuple(finding for finding in found if finding)

    def make(self, params: MapParams, item: Item) -> Iterable[Item]:
        made: dict[str, Any] = {}
        for field, expression in params.set.items():
            value = query(expression, item)
            absent = value is None and params.missing == "skip" and expression.strip('"') not in item
            if not absent and (params.overwrite or field not in item):
                made[field] = value
        return ({**item, **made},)


KIND = Map()
