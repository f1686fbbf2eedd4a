"""Reads conditions from a document, and lists all errors that can be found without values."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import regex
from pydantic import BaseModel, Field, ValidationError, model_validator

from flowcabal_tui.domain import bindings, expressions, paths
from flowcabal_tui.domain.aggregate_checks import problems_of
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _

Operator = Literal["==", "!=", ">", ">=", "<", "<=", "in", "not_in"]
OPERATORS: Final[tuple[str, ...]] = ("==", "!=", ">", ">=", "<", "<=", "in", "not_in")
KINDS: Final = (
    *("list_not_empty", "is_empty", "not_empty", "is_not_empty", "equals", "not_equals", "contains", "compare"),
    *("greater_than", "less_than", "any_greater_than", "all_less_than", "between", "multi_band", "max_in_range"),
    *("regex_match", "expression"),
)
THRESHOLD_KINDS: Final = ("greater_than", "less_than", "any_greater_than", "all_less_than")
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("list_not_empty", "is_empty", "not_empty", "is_not_empty"), ("source",)),
    **dict.fromkeys(("equals", "not_equals", "compare", "contains"), ("source", "value")),
    **dict.fromkeys(THRESHOLD_KINDS, ("source", "threshold")),
    "between": ("source", "min", "max"),
    "multi_band": ("source", "bands"),
    "max_in_range": ("source", "bands"),
    "regex_match": ("source", "pattern"),
    "expression": ("expression",),
}
_MAX_PATTERN: Final = 1000


class Band(BaseModel, frozen=True):
    """A named range; a bound that is not given is open."""

    label: str = Field(coerce_numbers_to_str=True, description="The name of the branch.")
    min: int | float | None = Field(None, description="The lower bound of the range.")
    max: int | float | None = Field(None, description="The upper bound of the range.")


class Condition(BaseModel, frozen=True):
    """The values to compare."""

    kind: str = Field("", description="How it is compared.", json_schema_extra={"enum": list(KINDS)})
    source: Any = Field(None, description="A path, a binding, a list of those, or a value.")
    field: str | None = Field(None, description="The field of the source, or of its items, that is compared.")
    value: Any = Field(None, description="The value to compare the source with; a binding or a value.")
    threshold: Any = Field(None, description="The number to compare with.")
    min: Any = Field(None, description="The lower bound of between.")
    max: Any = Field(None, description="The upper bound of between.")
    bands: tuple[Band, ...] = Field((), description="Named ranges; the one that contains the source names the branch.")
    op: Operator = Field("==", description="The operator of compare.")
    pattern: str | None = Field(None, description="The regular expression of regex_match.")
    expression: str | None = Field(None, description="For example, result_of.plan.score > 3 and len(state.open) > 0.")

    @model_validator(mode="before")
    @classmethod
    def _readme_form(cls, raw: Any) -> Any:
        return normalised(raw) if isinstance(raw, Mapping) else raw


def normalised(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A condition with `kind`. In the README form `op` is the kind, and `value` also holds the threshold or bounds."""
    condition = dict(raw)
    if "operator" in condition:
        condition.setdefault("op", condition.pop("operator"))
    if condition.get("kind") or "op" not in condition:
        return condition
    if condition["op"] in OPERATORS:
        return condition | {"kind": "compare"}
    kind, value = condition.pop("op"), condition.get("value")
    condition["kind"] = kind
    if kind in THRESHOLD_KINDS and "value" in condition:
        condition.setdefault("threshold", value)
    if kind == "between" and isinstance(value, (list, tuple)) and len(value) == 2:
        condition.setdefault("min", value[0])
        condition.setdefault("max", value[1])
    return condition


def pattern_problem(pattern: str | None) -> str:
    """The error in a regular expression; empty when it is usable."""
    if pattern is None:
        return _("There is no pattern.")
    if len(pattern) > _MAX_PATTERN:
        return _("The pattern is longer than {n} characters.").format(n=_MAX_PATTERN)
    try:
        regex.compile(pattern)
    except regex.error as error:
        return _("The pattern cannot be read: {reason}").format(reason=error)
    return ""


def check_shape(raw: Mapping[str, Any] | Condition, *, location: str = "") -> tuple[Problem, ...]:
    """All errors in the form of a condition; `field` of a finding is the parameter, below `location`.

    Does not check whether paths resolve.
    """
    condition = normalised(raw.model_dump(exclude_unset=True) if isinstance(raw, Condition) else raw)
    found = _shape(condition)
    return tuple(
        finding.model_copy(update={"field": f"{location}.{finding.field}"}) if location else finding
        for finding in found
    )


def _shape(condition: Mapping[str, Any]) -> Iterator[Problem]:
    kind = condition.get("kind")
    if not kind:
        message = _("The condition has no kind. Possible: {names}").format(names=_(", ").join(KINDS))
        yield Problem(code="MISSING_REQUIRED_PARAM", message=message, field="kind")
        return
    if kind not in KINDS:
        close = difflib.get_close_matches(str(kind), KINDS, 1)
        message = _("{kind} is not a kind of condition. Possible: {names}")
        yield _mismatch("kind", message.format(kind=str(kind)[:60], names=_(", ").join(KINDS)), "".join(close))
        return
    for name in REQUIRED[kind]:
        if name not in condition:
            message = _("A condition of the kind {kind} needs {name}.").format(kind=kind, name=name)
            yield Problem(code="MISSING_REQUIRED_PARAM", message=message, field=name)
    if not isinstance(condition.get("source"), (str, Mapping, list, tuple, int, float, type(None))):
        yield _mismatch("source", _("The source must be a path, a binding, a list of those, or a value."))
    yield from bindings.check_shape(condition.get("source"), location="source")
    for name in ("min", "max") if kind == "between" else ("threshold",) if kind in THRESHOLD_KINDS else ():
        if name in condition and not _number(condition.get(name)):
            yield _mismatch(name, _("{name} must be a number.").format(name=name))
    yield from _readable(condition, kind)


def _readable(condition: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    try:
        Condition.model_validate(condition)
    except ValidationError as error:
        yield from (_mismatch(problem.place, problem.message, problem.fix) for problem in problems_of(error))
        return
    if kind == "regex_match" and "pattern" in condition and (problem := pattern_problem(condition["pattern"])):
        yield _mismatch("pattern", problem)
    if kind == "expression" and isinstance(expression := condition.get("expression"), str):
        finding = expressions.check(expression, field="expression")
        yield from [finding] if finding else []


def _number(value: Any) -> bool:
    """A number, or a binding that may yield one."""
    return isinstance(value, (int, float)) or bool(bindings.paths_in(value))


def _mismatch(name: str, message: str, fix: str = "") -> Problem:
    return Problem(code="SCHEMA_MISMATCH", message=message, field=name, fix=fix)


def paths_in(condition: Mapping[str, Any] | Condition, *, location: str = "") -> tuple[tuple[str, str], ...]:
    """Every path that a condition reads, with the parameter that holds it; a text source is one path."""
    raw = condition.model_dump(exclude_unset=True) if isinstance(condition, Condition) else condition
    place = f"{location}." if location else ""
    sources = raw.get("source")
    found: list[tuple[str, str]] = []
    for source in sources if isinstance(sources, (list, tuple)) else [sources]:
        if isinstance(source, str) and "{" not in source:
            found.append((f"{place}source", source))
        else:
            found += bindings.paths_in(source, location=f"{place}source")
    for name in ("value", "threshold", "min", "max"):
        found += bindings.paths_in(raw.get(name), location=place + name)
    if isinstance(expression := raw.get("expression"), str):
        own = ("value", "values", "data")
        read = (path for path in expressions.paths_in(expression) if paths.parse(path).root not in own)
        found += [(f"{place}expression", path) for path in read]
    return tuple(found)
