"""`filter`: keeps the items for which a JMESPath expression holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from flowcabal_tui.domain.expressions import check_query, query
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.nodes.kinds.item_kinds import Item, ItemKind, ItemParams, lacks


class FilterParams(ItemParams):
    """The condition for items to keep."""

    where: str = Field("", description="JMESPath. An item is kept unless the result is false, null, 0 or empty.")


class Filter(ItemKind):
    """An item whose expression cannot be evaluated is kept, with an entry in `errors`."""

    name: ClassVar[str] = "filter"
    params: ClassVar[type[FilterParams]] = FilterParams

    def flaw(self, params: FilterParams) -> Problem | None:
        return check_query(params.where, field="where") if params.where.strip() else lacks(self.name, "where")

    def make(self, params: FilterParams, item: Item) -> Iterable[Item]:
        return (item,) if query(params.where, item) else ()


KIND = Filter()
