"""Aggregates: the function (`__agg__` with its parameters) that a binding applies to the value that it reads.

Names of parameters and their aliases are those of VelvetFlow. A comparison value may be 0, "" or False. Comparing
values without an order is an error, except in `count_if`, which does not count such items.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.formats import MISSING, formatted, picked, text_of
from flowcabal_tui.locale import _

Comparison = Literal["==", "!=", ">", ">=", "<", "<="]
FilterComparison = Literal["==", "!=", ">", ">=", "<", "<=", "always"]
COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def _separator(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) else value


def _or_equal(value: Any) -> Any:
    return value or "=="


def _or_always(value: Any) -> Any:
    return value or "always"


Separator = Annotated[str, BeforeValidator(_separator)]


class _Parameters(BaseModel):
    model_config = ConfigDict(frozen=True)


class Identity(_Parameters):
    """The value unchanged."""

    agg: Literal["identity"] = Field("identity", alias="__agg__")


class Count(_Parameters):
    """The number of items or fields; 0 for null, 1 for any other value."""

    agg: Literal["count"] = Field(alias="__agg__")


class CountIf(_Parameters):
    """The number of list items that satisfy a comparison; without `field` the items themselves are compared."""

    agg: Literal["count_if"] = Field(alias="__agg__")
    field: str | None = Field(None, validation_alias=AliasChoices("field", "filter_field"))
    op: Annotated[Comparison, BeforeValidator(_or_equal)] = Field(
        "==", validation_alias=AliasChoices("op", "filter_op")
    )
    value: Any = Field(None, validation_alias=AliasChoices("value", "filter_value"))


class Join(_Parameters):
    """The items as one text."""

    agg: Literal["join"] = Field(alias="__agg__")
    separator: Separator = Field("", validation_alias=AliasChoices("separator", "sep"))

    @model_validator(mode="before")
    @classmethod
    def _no_separator_is_sep(cls, raw: Any) -> Any:
        given = isinstance(raw, Mapping) and raw.get("separator") is None
        return {name: value for name, value in raw.items() if name != "separator"} if given else raw


class FormatJoin(_Parameters):
    """Each item through a format such as `{name}: {score}`, joined; unknown placeholders stay."""

    agg: Literal["format_join"] = Field(alias="__agg__")
    format: str | None = None
    field: str | None = None
    sep: Separator = "\n"


class FilterMap(_Parameters):
    """The objects of a list that satisfy a comparison (all, if none is given), through a format or a field, joined."""

    agg: Literal["filter_map"] = Field(alias="__agg__")
    filter_field: str | None = None
    filter_op: Annotated[FilterComparison, BeforeValidator(_or_always)] = "=="
    filter_value: Any = None
    map_field: str | None = None
    format: str | None = None
    sep: Separator = "\n"


class FilterStep(_Parameters):
    """Keeps the items that satisfy a comparison; a value that is not a list passes unchanged."""

    op: Literal["filter"]
    field: str | None = Field(None, validation_alias=AliasChoices("field", "filter_field"))
    cmp: Annotated[FilterComparison, BeforeValidator(_or_equal)] = Field(
        "==", validation_alias=AliasChoices("cmp", "filter_op", "operator")
    )
    value: Any = Field(None, validation_alias=AliasChoices("value", "filter_value"))


class MapStep(_Parameters):
    """The field of every item (items without it are left out), or every item through a format."""

    op: Literal["map"]
    field: str | None = Field(None, validation_alias=AliasChoices("field", "map_field"))
    format: str | None = None


class FormatJoinStep(_Parameters):
    """Makes one text, like the aggregate of the same name."""

    op: Literal["format_join"]
    format: str | None = None
    field: str | None = None
    sep: Separator = "\n"


class SortStep(_Parameters):
    """Sorts a list by a field or by the items themselves; items without the field come last, equal items keep their
    order."""

    op: Literal["sort"]
    field: str | None = Field(None, validation_alias=AliasChoices("field", "by", "key"))
    order: Literal["asc", "desc"] = "asc"
    reverse: bool = Field(False, validation_alias=AliasChoices("reverse", "desc", "descending"))


class LimitStep(_Parameters):
    """The first items of a list."""

    op: Literal["limit"]
    value: int = Field(ge=0, validation_alias=AliasChoices("value", "count", "limit", "n"))


Step = Annotated[FilterStep | MapStep | FormatJoinStep | SortStep | LimitStep, Field(discriminator="op")]


class Pipeline(_Parameters):
    """Steps, one after the other."""

    agg: Literal["pipeline"] = Field(alias="__agg__")
    steps: tuple[Step, ...] = ()


Aggregate = Annotated[Identity | Count | CountIf | Join | FormatJoin | FilterMap | Pipeline, Field(discriminator="agg")]
AGGREGATES: Final = ("identity", "count", "count_if", "join", "filter_map", "format_join", "pipeline")
STEPS: Final = ("filter", "map", "format_join", "sort", "limit")
READER: Final[TypeAdapter[Aggregate]] = TypeAdapter(Aggregate)


def aggregate(spec: Aggregate, value: Any) -> Any:
    """The value after applying `spec` to it. Raises BindingError for a value that `spec` does not accept."""
    match spec:
        case Identity():
            return value
        case Count():
            return len(value) if isinstance(value, (list, dict)) else int(value is not None)
        case CountIf():
            return _count_if(spec, value)
        case Join():
            return spec.separator.join(map(text_of, value)) if isinstance(value, list) else text_of(value)
        case FormatJoin():
            return _format_join(spec.format, spec.field, spec.sep, value)
        case FilterMap():
            return _filter_map(spec, value)
        case Pipeline():
            for number, step in enumerate(spec.steps, 1):
                value = _step(step, value, f"pipeline {number} ({step.op})")
            return value


def _count_if(spec: CountIf, value: Any) -> int:
    if not isinstance(value, list):
        return 0
    count = 0
    for item in value:
        try:
            count += _fulfils(picked(item, spec.field) if isinstance(item, dict) else item, spec.op, spec.value)
        except TypeError:
            continue
    return count


def _filter_map(spec: FilterMap, value: Any) -> str:
    if not isinstance(value, list):
        return _rendered(value, spec.format, spec.map_field)
    chosen = _kept(
        [item for item in value if isinstance(item, dict)],
        spec.filter_field,
        spec.filter_op,
        spec.filter_value,
        "filter_map",
    )
    return spec.sep.join(_rendered(item, spec.format, spec.map_field) for item in chosen)


def _step(step: Step, value: Any, where: str) -> Any:
    match step:
        case FormatJoinStep():
            return _format_join(step.format, step.field, step.sep, value)
        case FilterStep():
            return _kept(value, step.field, step.cmp, step.value, where) if isinstance(value, list) else value
    if not isinstance(value, list):
        raise BindingError(where, _("it needs a list, but got {kind}.").format(kind=paths.kind(value)))
    match step:
        case MapStep():
            return _mapped(step, value)
        case SortStep():
            return _sorted(step, value, where)
        case LimitStep():
            return value[: step.value]


def _mapped(step: MapStep, items: list[Any]) -> list[Any]:
    if step.format is not None:
        return [_rendered(item, step.format, step.field) for item in items]
    return [found for item in items if (found := picked(item, step.field, MISSING)) is not MISSING]


def _sorted(step: SortStep, items: list[Any], where: str) -> list[Any]:
    keyed = [(picked(item, step.field), item) for item in items]
    try:
        ranked = sorted(
            ((key, item) for key, item in keyed if key is not None),
            key=lambda pair: pair[0],
            reverse=step.reverse or step.order == "desc",
        )
    except TypeError as error:
        raise BindingError(where, _("the values cannot be ordered.")) from error
    return [item for key, item in ranked] + [item for key, item in keyed if key is None]


def _kept(items: list[Any], field: str | None, op: str, target: Any, where: str) -> list[Any]:
    if field:
        items = [item for item in items if isinstance(item, dict)]
    elif target is None and op == "==":
        return items
    try:
        return [item for item in items if op == "always" or _fulfils(picked(item, field), op, target)]
    except TypeError as error:
        raise BindingError(
            where,
            _("{field} cannot be compared ({op}) with {value}.").format(
                field=field or _("an item"), op=op, value=text_of(target)[:60]
            ),
        ) from error


def _fulfils(value: Any, op: str, target: Any) -> bool:
    if value is None and op not in ("==", "!="):
        return False
    return COMPARE[op](value, target)


def _format_join(template: str | None, field: str | None, sep: str, value: Any) -> str:
    if isinstance(value, list):
        return sep.join(_rendered(item, template, field) for item in value)
    return _rendered(value, template, field)


def _rendered(item: Any, template: str | None, field: str | None) -> str:
    """An item through a format, or its field; as text when neither is given, or when the format cannot be read."""
    chosen = picked(item, field, MISSING)
    if template:
        try:
            return formatted(template, item)
        except (ValueError, TypeError):
            chosen = picked(item, field) if isinstance(item, dict) else item
    return f"{{{field}}}" if chosen is MISSING else text_of(chosen)
