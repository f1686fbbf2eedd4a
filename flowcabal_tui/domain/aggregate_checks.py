"""Reads the aggregate of a binding, and lists all errors in it that can be found without a value."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ValidationError

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.aggregates import AGGREGATES, READER, STEPS, Aggregate, CountIf, Pipeline
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.formats import placeholders
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _


@dataclass(frozen=True, slots=True)
class AggregateProblem:
    """An error in the parameters of an aggregate; `place` is the parameter, such as `steps[0].op`."""

    place: str
    message: str
    severity: Literal["error", "warning"] = "error"
    fix: str = ""


def read(binding: Mapping[str, Any]) -> Aggregate:
    """The aggregate of a binding; raises BindingError that names its first problem."""
    try:
        return READER.validate_python({"__agg__": "identity", **binding})
    except ValidationError as error:
        first = problems_of(error)[0]
        raise BindingError(first.place, first.message) from error


def problems(binding: Mapping[str, Any]) -> tuple[AggregateProblem, ...]:
    """All errors in the aggregate of a binding that can be found without a value."""
    try:
        spec = READER.validate_python({"__agg__": "identity", **binding})
    except ValidationError as error:
        return problems_of(error)
    found = [*_unknown(spec, binding, ""), *_formats(spec)]
    if isinstance(spec, CountIf):
        found += _count_if_problems(binding)
    if isinstance(spec, Pipeline):
        if not spec.steps:
            found.append(AggregateProblem("steps", _("A pipeline needs at least one step.")))
        for number, (step, raw) in enumerate(zip(spec.steps, binding.get("steps", ()), strict=True)):
            found += _unknown(step, raw, f"steps[{number}].")
    return tuple(found)


def problems_of(error: ValidationError) -> tuple[AggregateProblem, ...]:
    """The validation errors of pydantic in the user's words."""
    return tuple(_problem(one["loc"], one["type"], one.get("ctx", {}), one["msg"]) for one in error.errors())


def _problem(loc: tuple[int | str, ...], kind: str, context: Mapping[str, Any], message: str) -> AggregateProblem:
    names = [part for part in loc if part not in (*AGGREGATES, *STEPS) or part == loc[-1]]
    place = paths.shown(names)
    if kind == "union_tag_invalid":
        tag, choices = str(context.get("tag")), STEPS if "steps" in loc else AGGREGATES
        close = difflib.get_close_matches(tag, choices, 1)
        template = _("{tag} is not supported. Possible: {names}").format(tag=tag[:60], names=_(", ").join(choices))
        return AggregateProblem(place + ".op" if "steps" in loc else "__agg__", template, fix=close[0] if close else "")
    if kind == "union_tag_not_found":
        return AggregateProblem(place + ".op", _("op is missing. Possible: {names}").format(names=_(", ").join(STEPS)))
    if kind == "missing":
        return AggregateProblem(place, _("{name} is missing.").format(name=place))
    return AggregateProblem(place, message)


def _count_if_problems(binding: Mapping[str, Any]) -> Iterator[AggregateProblem]:
    if not {"value", "filter_value"} & binding.keys():
        yield AggregateProblem("value", _("count_if needs field, op and value: value is missing."))
    for name, alias in (("field", "filter_field"), ("op", "filter_op"), ("value", "filter_value")):
        if name not in binding and (alias in binding or name != "value"):
            message = _("count_if needs field, op and value; without {name}, {default} is used.")
            default = {"field": _("the item itself"), "op": "=="}.get(name, alias)
            yield AggregateProblem(
                name, message.format(name=name, default=alias if alias in binding else default), severity="warning"
            )


def _unknown(spec: BaseModel, raw: Mapping[str, Any], place: str) -> Iterator[AggregateProblem]:
    known = set() if place else {"__from__", "__agg__"}
    for name, field in type(spec).model_fields.items():
        choices = field.validation_alias
        known |= {str(choice) for choice in choices.choices} if isinstance(choices, AliasChoices) else {name} - {"agg"}
    for name in raw:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, 1)
            message = _("{name} has no meaning here. Known: {names}")
            yield AggregateProblem(
                f"{place}{name}",
                message.format(name=str(name)[:60], names=_(", ").join(sorted(known))),
                severity="warning",
                fix=close[0] if close else "",
            )


def _formats(spec: Aggregate) -> Iterator[AggregateProblem]:
    templates = {"format": getattr(spec, "format", None)}
    if isinstance(spec, Pipeline):
        templates = {f"steps[{n}].format": getattr(step, "format", None) for n, step in enumerate(spec.steps)}
    for place, template in templates.items():
        try:
            placeholders(template or "")
        except ValueError:
            yield AggregateProblem(
                place, _("The format cannot be read; the items are shown as they are."), severity="warning"
            )
