"""The exports of a loop: items as a list, and aggregates such as a sum or a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.aggregates import COMPARE, Comparison
from flowcabal_tui.domain.bindings import paths_in, references, resolve
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.formats import MISSING, picked, text_of
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import Schema

AggregateKind = Literal["count", "sum", "avg", "min", "max", "count_if", "join", "collect"]
_NUMERIC: Final = ("sum", "avg", "min", "max")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ItemsExport(_Frozen):
    """The output of one node of the body, collected over the rounds."""

    from_node: NodeId = Field(description="The node of the body; a round in which it was skipped adds nothing.")
    fields: tuple[str, ...] = Field((), description="The fields that are taken; default: the whole output.")
    mode: Literal["collect", "first", "last"] = Field("collect", description="All rounds, or the first or last only.")
    list_field: str | None = Field(None, description="A list in the output whose entries are the items.")


class AggregateExport(_Frozen):
    """One value built from all rounds."""

    name: str = Field(min_length=1, description="Its name in the output.")
    kind: AggregateKind = Field(description="How the values are combined; collect: a list of them.")
    source: Any = Field(
        description="A path or binding, read after each round; the entries of a list are added one by one."
    )
    field: str | None = Field(None, description="The field of each value that is collected.")
    op: Comparison = Field("==", description="The operator of count_if.")
    value: Any = Field(None, description="The value that count_if compares with.")
    sep: str = Field("\n", description="What join inserts between the items.")


class LoopExports(_Frozen):
    """The values collected from the rounds."""

    items: ItemsExport | None = Field(None, description="A list of objects, one or more per round.")
    aggregates: tuple[AggregateExport, ...] = Field((), description="Values built from all rounds.")


class Gathered:
    """Collects the exports, round by round, in the order of the rounds."""

    def __init__(self, exports: LoopExports, inside: Collection[NodeId]) -> None:
        self._exports, self._inside = exports, frozenset(inside)
        self._rounds: list[list[Any]] = []
        self._values: dict[str, list[Any]] = {one.name: [] for one in exports.aggregates}

    def add(self, outputs: Mapping[NodeId, Output], names: Mapping[str, Any]) -> None:
        """Adds a completed round; `names` holds its outputs. Raises BindingError."""
        items = self._exports.items
        if items is not None and items.from_node in outputs:
            self._rounds.append(_entries(items, outputs[items.from_node].value))
        for one in self._exports.aggregates:
            referenced = references(_as_binding(one.source), self._inside)
            if all(node in outputs for node in referenced if node in self._inside):
                self._values[one.name] += _taken(one, resolve(_as_binding(one.source), names))

    @property
    def items(self) -> list[Any]:
        """The items. Raises BindingError when no round has one of the fields."""
        export = self._exports.items
        if export is None:
            return []
        rounds = {"collect": self._rounds, "first": self._rounds[:1], "last": self._rounds[-1:]}[export.mode]
        found = [entry for entries in rounds for entry in entries]
        for field in export.fields if found else ():
            if all(picked(entry, field, MISSING) is MISSING for entry in found):
                there = dict.fromkeys(key for entry in found if isinstance(entry, dict) for key in entry)
                raise BindingError(field, _("no output of {node} contains it.").format(node=export.from_node), there)
        if not export.fields:
            return found
        return [{field: picked(entry, field) for field in export.fields} for entry in found]

    @property
    def aggregates(self) -> dict[str, Any]:
        """The values by name. Raises BindingError when they are of the wrong type."""
        return {one.name: aggregated(one, self._values[one.name]) for one in self._exports.aggregates}


def aggregated(export: AggregateExport, values: Sequence[Any]) -> Any:
    """The aggregate of the values; 0, "", an empty list or None without values.

    Texts that are numbers count as numbers. Raises BindingError for other texts where numbers are needed.
    """
    match export.kind:
        case "collect":
            return list(values)
        case "count":
            return len(values)
        case "join":
            return export.sep.join(map(text_of, values))
        case "count_if":
            return sum(_fulfils(value, export) for value in values)
    numbers = [_number(value, export) for value in values]
    match export.kind:
        case "sum":
            return sum(numbers)
        case "avg":
            return sum(numbers) / len(numbers) if numbers else None
        case "min":
            return min(numbers, default=None)
        case _:
            return max(numbers, default=None)


def check(exports: LoopExports, inside: Collection[NodeId]) -> Iterator[Problem]:
    """The errors of exports, given the nodes of the body."""
    known = _(", ").join(list(inside)[:20])
    if exports.items is not None and exports.items.from_node not in inside:
        message = _("{node} is not in the body. Nodes: {names}")
        yield Problem(
            code="UNKNOWN_NODE",
            message=message.format(node=exports.items.from_node, names=known),
            field="exports.items.from_node",
        )
    for name, count in Counter(one.name for one in exports.aggregates).items():
        if count > 1:
            message = _("{n} aggregates are called {name}.").format(n=count, name=name)
            yield Problem(code="DUPLICATE_SYMBOL", message=message, field="exports.aggregates")
    for number, one in enumerate(exports.aggregates):
        if not paths_in(_as_binding(one.source)):
            message = _("The source of an aggregate must be a path or a binding.")
            yield Problem(code="SCHEMA_MISMATCH", message=message, field=f"exports.aggregates[{number}].source")


def paths_of(exports: LoopExports) -> tuple[tuple[str, str], ...]:
    """The paths that the aggregates read, with their places."""
    return tuple(
        found
        for number, one in enumerate(exports.aggregates)
        for found in paths_in(_as_binding(one.source), location=f"exports.aggregates[{number}].source")
    )


def schema_of(exports: LoopExports) -> dict[str, Schema]:
    """JSON Schemas of the exports, by name. Nothing else can be read."""
    item: Schema = {}
    if exports.items is not None and exports.items.fields:
        item = {"type": "object", "properties": {field: {} for field in exports.items.fields}}
        item = {**item, "additionalProperties": False}
    kinds: Mapping[str, Schema] = {
        **{kind: {"type": "integer"} for kind in ("count", "count_if")},
        **{kind: {"type": "number"} for kind in _NUMERIC},
        "join": {"type": "string"},
        "collect": {"type": "array"},
    }
    found: dict[str, Schema] = {}
    if exports.items is not None:
        found["items"] = {"type": "array", "items": item}
    if exports.aggregates:
        totals = {one.name: kinds[one.kind] for one in exports.aggregates}
        found["aggregates"] = {"type": "object", "properties": totals, "additionalProperties": False}
    return found


def _as_binding(source: Any) -> Any:
    """A source given as text is a whole path, even when it begins with an alias."""
    return {"__from__": source} if isinstance(source, str) and "{" not in source else source


def _entries(export: ItemsExport, value: Any) -> list[Any]:
    """The items in one output: its entries if it is a list."""
    if export.list_field is None:
        return value if isinstance(value, list) else [value]
    found = picked(value, export.list_field, MISSING)
    if not isinstance(found, list):
        kind = _("nothing") if found is MISSING else paths.kind(found)
        raise BindingError(
            export.list_field,
            _("in the output of {node} it is not a list but {kind}.").format(node=export.from_node, kind=kind),
            value if isinstance(value, dict) else (),
        )
    return found


def _taken(export: AggregateExport, value: Any) -> list[Any]:
    """The values in one round: the entries of a list, or the value, or their field where they have it."""
    many = value if isinstance(value, list) else [value]
    if export.field is None:
        return many
    if export.field == "length" and isinstance(value, list):
        return [len(value)]
    given = [picked(one, export.field, MISSING) if isinstance(one, dict) else one for one in many]
    return [one for one in given if one is not MISSING]


def _numeric(value: Any) -> int | float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    try:
        return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() else float(value)
    except (TypeError, ValueError):
        return None


def _number(value: Any, export: AggregateExport) -> int | float:
    number = None if isinstance(value, bool) else _numeric(value)
    if number is None or number != number or number in (float("inf"), float("-inf")):
        raise BindingError(
            f"aggregates.{export.name}",
            _("{kind} needs numbers, but got {value}.").format(kind=export.kind, value=text_of(value)[:60]),
        )
    return number


def _fulfils(value: Any, export: AggregateExport) -> bool:
    """True when the value meets the comparison.

    A text that is a number is compared as a number; a value without an order does not meet it.
    """
    target = export.value
    if isinstance(target, (int, float)) and not isinstance(target, bool) and isinstance(value, str):
        value = value if (number := _numeric(value)) is None else number
    try:
        return COMPARE[export.op](value, target)
    except TypeError:
        return False
