"""`merge`: moves the fields of an inner object up into the item, and joins several sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from flowcabal_tui.domain.bindings import references
from flowcabal_tui.domain.items import items_of
from flowcabal_tui.domain.paths import RESULT
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, Produced
from flowcabal_tui.nodes.kinds.item_kinds import Carried, Item, ItemError, ItemKind, ItemParams, lacks


class MergeParams(ItemParams):
    """The sources to merge, and how."""

    from_field: str = Field("", description="The field whose object is moved up; the field itself stays.")
    overwrite: bool = Field(True, description="Replace fields that the item already has.")
    prefix: str = Field("", description="Prefix for the names of the fields that are moved up.")
    sources: tuple[Any, ...] = Field(
        (), description="Several bindings to items, instead of `source`; those from skipped branches are left out."
    )
    how: Literal["all", "first", "match"] = Field(
        "all",
        description="Several sources: all items one after the other; those of the first that was not skipped; or "
        "the first item of each merged into one item, then the second, and so on.",
    )
    fields: dict[str, str] = Field(
        default_factory=dict,
        description="For `match`: which fields are taken from the sources after the first, and their names in "
        "the merged item; default: all.",
    )


class Merge(ItemKind):
    """Joins the items of several `sources`, or moves up the fields of `from_field` in each item; with both, the sources
    are joined first."""

    name: ClassVar[str] = "merge"
    params: ClassVar[type[MergeParams]] = MergeParams
    joins: ClassVar[bool] = True

    def bound(self, params: MergeParams) -> Any:
        return {"sources": list(params.sources)} if params.sources else {"source": params.source}

    def flaw(self, params: MergeParams) -> Problem | None:
        return None if params.from_field or params.sources else lacks(self.name, "from_field")

    async def run(self, context: NodeContext, params: MergeParams) -> Produced:
        if not params.sources:
            return await super().run(context, params)
        there = [items_of(context.bind(source)) for source in params.sources if _has_run(context, source)]
        carried = Carried(params.on_error)
        for number, item in enumerate(_joined(params, there, carried)):
            try:
                made = self.make(params, item) if params.from_field else (item,)
            except ItemError as error:
                carried.failed(item, number, error)
            else:
                carried.add(made)
        return Produced(carried.value)

    def make(self, params: MergeParams, item: Item) -> Iterable[Item]:
        inner = item.get(params.from_field, {})
        if not isinstance(inner, Mapping):
            raise ItemError(_("{field} is not an object.").format(field=params.from_field))
        brought = {f"{params.prefix}{name}": value for name, value in inner.items()}
        return ({**item, **brought} if params.overwrite else {**brought, **item},)


def _has_run(context: NodeContext, source: Any) -> bool:
    results = context.names[RESULT]
    return all(node in results for node in references(source, tuple(results)))


def _joined(params: MergeParams, sources: Sequence[list[dict[str, Any]]], carried: Carried) -> list[dict[str, Any]]:
    if params.how == "first":
        return sources[0] if sources else []
    if params.how == "all" or len(sources) < 2:
        return [item for items in sources for item in items]
    return _matched(params, sources, carried)


def _matched(params: MergeParams, sources: Sequence[list[dict[str, Any]]], carried: Carried) -> list[dict[str, Any]]:
    """Joins items at the same index. The last source determines the number; items without a partner are reported."""
    first, last = sources[0], sources[-1]
    if len(last) < len(first):
        message = _("There are {n} items to match {m}: the last ones are left out.")
        carried.add_error(message.format(n=len(last), m=len(first)))
    if len(last) > len(first):
        message = _("There are {n} items to match {m}: the last ones have only their own fields.")
        carried.add_error(message.format(n=len(last), m=len(first)))
    made: list[dict[str, Any]] = []
    for place in range(len(last)):
        item = dict(first[place]) if place < len(first) else _renamed(last[place], params.fields)
        for items in sources[1:]:
            if place < len(items):
                found = _picked(items[place], params.fields)
                item = {**item, **found} if params.overwrite else {**found, **item}
        made.append(item)
    return made


def _picked(item: Item, fields: Mapping[str, str]) -> dict[str, Any]:
    if not fields:
        return dict(item)
    return {name: item[field] for field, name in fields.items() if field in item}


def _renamed(item: Item, fields: Mapping[str, str]) -> dict[str, Any]:
    """An item without a partner, with its fields under the names that they have in the others."""
    return {field: value for field, value in item.items() if field not in fields}


KIND = Merge()
