"""Shared by the kinds that process items one by one: the source of items, and the handling of bad ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from flowcabal_tui.domain.errors import FlowCabalError, StepFailed, available
from flowcabal_tui.domain.items import items_of
from flowcabal_tui.domain.sizes import SizeBudget
from flowcabal_tui.domain.workflow import Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema

Item = Mapping[str, Any]
OnError = Literal["keep", "drop", "fail"]
ERRORS: Final[Schema] = {
    "type": "array",
    "items": {"type": "object", "properties": {"item": {"type": ["integer", "null"]}, "message": {"type": "string"}}},
}
ITEMS: Final[Schema] = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "object"}}, "errors": ERRORS},
}


class ItemParams(BaseModel, frozen=True, extra="forbid"):
    """The source of the items."""

    source: Any = Field(
        "input.items", description="The items: a binding such as result_of.plan. An object is one item, a list several."
    )
    on_error: OnError = Field(
        "keep",
        description="An item that cannot be processed stays as it was (keep), is left out (drop), or stops the "
        "node (fail). What was kept or dropped is listed in `errors`.",
    )


class ItemError(FlowCabalError):
    """An item that cannot be processed."""


class Carried:
    """Items on their way to an output, with the errors; limited in size like bindings."""

    def __init__(self, on_error: OnError = "keep") -> None:
        self.on_error = on_error
        self.items: list[Item] = []
        self.errors: list[dict[str, Any]] = []
        self._budget = SizeBudget()

    def add(self, items: Iterable[Item]) -> None:
        """Adds items. Raises TooLarge."""
        for item in items:
            self.items.append(self._budget.keep(item))

    def failed(self, item: Item, number: int, error: FlowCabalError) -> None:
        """Handles a bad item as set in the params; `number` counts from 0. Raises StepFailed with `on_error` "fail"."""
        if self.on_error == "fail":
            raise StepFailed(
                _("Item {n}: {reason}").format(n=number + 1, reason=error.title), error.detail, error.advice
            ) from error
        if self.on_error == "keep":
            self.add((item,))
        self.add_error(str(error), number)

    def add_error(self, message: str, number: int | None = None) -> None:
        """Records an error, of an item or, without a number, of all."""
        self.errors.append({"item": number, "message": message})

    @property
    def value(self) -> dict[str, Any]:
        return {"items": self.items, "errors": self.errors}


class ItemKind(NodeKind):
    """Makes each item into none, one or several. Yields `{"items": [...], "errors": [{"item": 0, "message": ...}]}`."""

    params: ClassVar[type[ItemParams]]

    def bound(self, params: Any) -> Any:
        return {"source": params.source}

    def output_schema(self, params: Any) -> Schema:
        return ITEMS

    def flaw(self, params: Any) -> Problem | None:
        """The reason why these params cannot work; the items then pass unchanged, with the reason in `errors`."""
        return None

    def check(self, params: Any, node: Node) -> tuple[Problem, ...]:
        flaw = self.flaw(params)
        return (flaw,) if flaw else ()

    def make(self, params: Any, item: Item) -> Iterable[Item]:
        """The items made from one item, which is not modified. Raises FlowCabalError."""
        raise NotImplementedError

    async def work(self, context: NodeContext, params: Any, item: Item) -> Iterable[Item]:
        """Like `make`, for kinds that await other services."""
        return self.make(params, item)

    async def run(self, context: NodeContext, params: Any) -> Produced:
        carried = Carried(params.on_error)
        items = items_of(context.bind(params.source))
        if flaw := self.flaw(params):
            carried.add(items)
            carried.add_error(flaw.message)
            return Produced(carried.value)
        for number, item in enumerate(items):
            try:
                made = await self.work(context, params, item)
            except FlowCabalError as error:
                carried.failed(item, number, error)
            else:
                carried.add(made)
        return Produced(carried.value)


def lacks(name: str, field: str) -> Problem:
    """The finding for a missing parameter that the kind cannot work without."""
    return Problem(code="MISSING_PARAM", message=_("{kind} needs {field}.").format(kind=name, field=field), field=field)


def field_of(item: Item, name: str) -> Any:
    """A field of an item. Raises ItemError with the available names."""
    if name not in item:
        raise ItemError(
            _("The item has no field {name}.").format(name=name[:60]),
            available(str(key)[:60] for key in list(item)[:20]),
        )
    return item[name]
