"""Checks the bindings in a node's parameters against node outputs: their form, paths and fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from flowcabal_tui.domain import bindings
from flowcabal_tui.domain.aggregate_checks import read
from flowcabal_tui.domain.aggregates import (
    Aggregate,
    CountIf,
    FilterMap,
    FilterStep,
    FormatJoin,
    FormatJoinStep,
    MapStep,
    Pipeline,
    SortStep,
)
from flowcabal_tui.domain.formats import placeholders
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.schemas import Schema, check_path, follow, follow_field, options_of, types_of
from flowcabal_tui.domain.workflow import Problem

_WITH_FIELDS = frozenset(("array", "object"))


def check(
    value: Any,
    schemas: Mapping[NodeId, Schema | None],
    *,
    roots: Mapping[str, Schema | None] | None = None,
    location: str = "",
) -> tuple[Problem, ...]:
    """All errors in the bindings of a tree of parameters; `schemas` and `roots` as in `schemas.follow`.

    A field that a format names and no item has is only a warning: its placeholder stays in the text.
    """
    named: Collection[str] = bindings.ROOTS if roots is None else roots
    found = list(bindings.check_shape(value, location=location))
    for place, path in bindings.paths_in(value, schemas, roots=named, location=location):
        if finding := check_path(path, schemas, roots=roots, field=place):
            found.append(finding)
    if not any(finding.severity == "error" for finding in found):
        for place, binding in bindings.bindings_in(value, location=location):
            found += _fields(binding, place, schemas, roots)
    return tuple(found)


def _fields(
    binding: Mapping[str, Any],
    place: str,
    schemas: Mapping[NodeId, Schema | None],
    roots: Mapping[str, Schema | None] | None,
) -> Iterator[Problem]:
    """Checks the fields that an aggregate reads, where it reads one path with a known schema."""
    path = binding[bindings.FROM]
    if not isinstance(path, str):
        return
    schema = follow(path, schemas, roots=roots)
    if isinstance(schema, Problem) or not schema:
        return
    if not any(not types_of(one) or types_of(one) & _WITH_FIELDS for one in options_of(schema, schema)):
        return  # an aggregate leaves other values as they are
    for name, severity in _named(read({key: part for key, part in binding.items() if key != bindings.FROM})):
        if name and isinstance(finding := follow_field(schema, name, path=path, field=place), Problem):
            yield finding.model_copy(update={"severity": severity})


def _named(spec: Aggregate) -> Iterator[tuple[str | None, str]]:
    """The fields that an aggregate reads from its input, each with the severity of a missing one."""
    match spec:
        case CountIf():
            yield spec.field, "error"
        case FilterMap():
            yield spec.filter_field, "error"
            yield from _shown(spec.format, spec.map_field)
        case FormatJoin():
            yield from _shown(spec.format, spec.field)
        case Pipeline():
            for step in spec.steps:
                if isinstance(step, (FilterStep, SortStep)):
                    yield step.field, "error"
                elif isinstance(step, FormatJoinStep) or (isinstance(step, MapStep) and step.format):
                    yield from _shown(step.format, step.field)
                    return
                elif isinstance(step, MapStep):
                    yield step.field, "error"
                    return


def _shown(template: str | None, field: str | None) -> Iterator[tuple[str | None, str]]:
    try:
        yield from ((name, "warning") for name in placeholders(template or ""))
    except ValueError:
        return
    if not template:
        yield field, "warning"
