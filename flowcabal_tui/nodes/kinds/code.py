"""`code`: gives each item to a function that the project or a plug-in allows; never to text of a document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from flowcabal_tui.domain.items import canonical
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext
from flowcabal_tui.nodes.kinds.item_kinds import Item, ItemError, ItemKind, ItemParams, OnError, lacks


class CodeParams(ItemParams):
    """The function, and the results to keep."""

    function: str = Field("", description="The name under which the function was registered.")
    outputs: tuple[str, ...] = Field((), description="The fields taken from the result; default: all.")
    on_error: OnError = Field("fail", description="As for every item kind; a function that fails stops the node.")


class Code(ItemKind):
    """The fields that the function returns are set in the item; a function that is not allowed is an error."""

    name: ClassVar[str] = "code"
    params: ClassVar[type[CodeParams]] = CodeParams
    reusable: ClassVar[bool] = False

    def flaw(self, params: CodeParams) -> Problem | None:
        return None if params.function else lacks(self.name, "function")

    async def work(self, context: NodeContext, params: CodeParams, item: Item) -> Iterable[Item]:
        returned = await context.call(params.function, item)
        wanted = params.outputs or tuple(returned)
        made = {**item, **{field: returned[field] for field in wanted if field in returned}}
        try:
            canonical(made)
        except (TypeError, ValueError) as error:
            raise ItemError(
                _("{function} returned something that is not JSON.").format(function=params.function), str(error)
            ) from error
        return (made,)


KIND = Code()
