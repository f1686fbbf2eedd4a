"""Conditions that choose a branch or end a loop: their evaluation.

Kinds and parameters are those of VelvetFlow; the form `{source, op, value}` of its README is read too. On a list,
`greater_than`, `less_than`, `between` and `compare` hold when they hold for any item. The field `length` is the length
of a list, a text or an object that has no such field.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import regex

from flowcabal_tui.domain import bindings, expressions, paths
from flowcabal_tui.domain.aggregates import COMPARE
from flowcabal_tui.domain.condition_forms import (
    KINDS,
    REQUIRED,
    Band,
    Condition,
    check_shape,
    paths_in,
    pattern_problem,
)
from flowcabal_tui.domain.errors import BindingError, ConditionError
from flowcabal_tui.domain.formats import MISSING, text_of
from flowcabal_tui.locale import _

__all__ = ["KINDS", "Band", "Condition", "ConditionResult", "check", "check_shape", "paths_in"]
_PATTERN_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """`label` names the branch: "true", "false", or a band; `evaluated_values` are the compared values, if items were
    compared."""

    result: bool
    label: str
    resolved_value: Any = None
    evaluated_values: list[Any] | None = None


def check(condition: Condition, names: Mapping[str, Any]) -> ConditionResult:
    """Evaluates a condition against the values in `names`.

    Raises BindingError for a source that cannot be resolved or a field that no item has, ExpressionError, and
    ConditionError for values that cannot be ordered.
    """
    return _Check(condition, names).result()


class _Check:
    def __init__(self, condition: Condition, names: Mapping[str, Any]) -> None:
        self.condition, self.names = condition, names

    def result(self) -> ConditionResult:
        condition = self.condition
        if condition.kind not in KINDS:
            raise _unknown_kind(condition.kind)
        self.condition = condition = self.with_values()
        data = self.looked_up(condition.source)
        match condition.kind:
            case "list_not_empty":
                return _result(isinstance(data, list) and bool(data), data)
            case "is_empty":
                return _result(_empty(data), data)
            case "not_empty" | "is_not_empty":
                return _result(not _empty(data), data)
            case "equals":
                return _result(data == condition.value, data)
            case "not_equals":
                return _result(data != condition.value, data)
            case "contains":
                return self.contains(data)
            case "regex_match":
                return _result(self.matches(data), data)
            case "expression":
                return self.expression(data)
        return self.compared(data, self.values(data))

    def compared(self, data: Any, values: list[Any]) -> ConditionResult:
        """Evaluates the kinds that compare the items of the source, or the source itself."""
        condition, there = self.condition, [value for value in values if value is not None]
        match condition.kind:
            case "greater_than" | "any_greater_than":
                holds = any(self.ordered(value, ">", condition.threshold) for value in there)
            case "less_than":
                holds = any(self.ordered(value, "<", condition.threshold) for value in there)
            case "all_less_than":
                holds, values = bool(there) and all(self.ordered(v, "<", condition.threshold) for v in there), there
            case "between":
                holds, values = any(self.within(v, condition.min, condition.max) for v in there), there
            case "compare":
                holds = any(self.compares(value) for value in values)
            case _:
                return self.banded(data, values, there)
        return _result(holds, data, values)

    def banded(self, data: Any, values: list[Any], there: list[Any]) -> ConditionResult:
        """The first band, from the lowest, that holds a value; for `max_in_range` the last band if none does."""
        bands = sorted(self.condition.bands, key=lambda band: float("inf") if band.max is None else band.max)
        for band in bands:
            if any(self.within(value, band.min, band.max) for value in there):
                return ConditionResult(True, band.label, data, values)
        if bands and self.condition.kind == "max_in_range":
            return ConditionResult(False, bands[-1].label, data, values)
        return _result(False, data, values)

    def with_values(self) -> Condition:
        """The condition with bindings in its values filled in; raises ConditionError if it lacks a parameter."""
        condition, given = self.condition, self.condition.model_fields_set
        if missing := [name for name in REQUIRED[condition.kind] if name not in given]:
            raise ConditionError(
                _("The condition {kind} lacks {names}.").format(kind=condition.kind, names=_(", ").join(missing)),
                "",
                _("Give the missing values."),
            )
        bound = {
            name: bindings.resolve(value, self.names)
            for name in ("value", "threshold", "min", "max")
            if isinstance(value := getattr(condition, name), (str, Mapping, list))
        }
        return condition.model_copy(update=bound)

    def looked_up(self, source: Any) -> Any:
        if isinstance(source, (list, tuple)):
            return [self.looked_up(one) for one in source]
        if isinstance(source, str):
            return bindings.resolve(source, self.names) if "{" in source else paths.look_up(source, self.names)
        return bindings.resolve(source, self.names) if isinstance(source, Mapping) else source

    def values(self, data: Any) -> list[Any]:
        """The values to compare: the items of a list, their field, or the source itself; None for a missing field."""
        wanted = self.condition.field
        if data is None:
            return []
        if wanted == "length" and isinstance(data, list):
            return [len(data)]
        found = [_field(item, wanted) for item in (data if isinstance(data, list) else [data])]
        if found and all(value is MISSING for value in found):
            there: dict[str, None] = {
                str(key): None
                for item in (data if isinstance(data, list) else [data])
                if isinstance(item, Mapping)
                for key in item
            }
            raise BindingError(wanted or "", _("the compared value has no such field."), there)
        return [None if value is MISSING else value for value in found]

    def ordered(self, value: Any, op: str, target: Any) -> bool:
        try:
            return COMPARE[op](value, target)
        except TypeError as error:
            raise ConditionError(
                _("{value} cannot be compared ({op}) with {target}.").format(
                    value=_short(value), op=op, target=_short(target)
                ),
                _("The condition is of the kind {kind}.").format(kind=self.condition.kind),
                _("Compare numbers with numbers and texts with texts; give the field you mean."),
            ) from error

    def within(self, value: Any, low: Any, high: Any) -> bool:
        above = low is None or self.ordered(value, ">=", low)
        return above and (high is None or self.ordered(value, "<=", high))

    def compares(self, value: Any) -> bool:
        op, target = self.condition.op, self.condition.value
        if op in ("in", "not_in"):
            return _member(value, target) is (op == "in") if isinstance(target, (list, str, dict)) else False
        if value is None and op not in ("==", "!="):
            return False
        return self.ordered(value, op, target)

    def contains(self, data: Any) -> ConditionResult:
        target, wanted = self.condition.value, self.condition.field
        if isinstance(data, list) and wanted:
            values = self.values(data)
            return _result(target in values, data, values)
        if isinstance(data, list):
            return _result(target in data, data)
        if isinstance(data, Mapping) and wanted:
            (whole,) = self.values(data)
            return _result(isinstance(whole, (list, str)) and _member(target, whole), data)
        if isinstance(data, Mapping):
            raise ConditionError(_("contains needs the field of the object that is searched."))
        if isinstance(data, str) and not isinstance(target, str):
            raise ConditionError(_("A text can only contain a text, not {value}.").format(value=_short(target)))
        return _result(isinstance(data, str) and target in data, data)

    def matches(self, data: Any) -> bool:
        texts = [one for one in (data if isinstance(data, list) else [data]) if isinstance(one, str)]
        pattern = self.condition.pattern
        problem = pattern_problem(pattern)
        if problem or pattern is None:
            raise ConditionError(problem, (pattern or "")[:200])
        end = time.thread_time() + _PATTERN_SECONDS
        try:
            return any(regex.search(pattern, text, timeout=max(end - time.thread_time(), 0.001)) for text in texts)
        except TimeoutError as error:
            raise ConditionError(
                _("The pattern takes too long on this text."), pattern[:200], _("Write a simpler pattern.")
            ) from error

    def expression(self, data: Any) -> ConditionResult:
        condition = self.condition
        values = self.values(data)
        names = {**self.names, "values": values, "data": data}
        holds = any(
            expressions.truth(condition.expression or "", {**names, "value": one})
            for one in (values if condition.field else [data])
        )
        return _result(holds, data, values)


def _unknown_kind(kind: str) -> ConditionError:
    return ConditionError(
        _("The condition has an unknown kind: {kind}").format(kind=kind[:60] or "-"),
        _("Possible: {names}").format(names=_(", ").join(KINDS)),
        _("Give the condition one of these kinds."),
    )


def _result(holds: bool, data: Any, values: list[Any] | None = None) -> ConditionResult:
    return ConditionResult(holds, "true" if holds else "false", data, values)


def _empty(data: Any) -> bool:
    return data is None or (isinstance(data, (list, dict, str)) and not data)


def _member(value: Any, whole: Any) -> bool:
    return value in whole if not isinstance(whole, str) else isinstance(value, str) and value in whole


def _field(item: Any, wanted: str | None) -> Any:
    """A field of a value, by a path into it; MISSING if it has none."""
    for part in paths.parse(wanted).parts if wanted else ():
        if isinstance(part, int):
            item = item[part] if isinstance(item, list) and part < len(item) else MISSING
        elif isinstance(item, Mapping) and part in item:
            item = item[part]
        elif part == "length" and isinstance(item, (list, str, Mapping)):
            item = len(item)
        else:
            return MISSING
    return item


def _short(value: Any) -> str:
    return text_of(value)[:60] or _("nothing")
