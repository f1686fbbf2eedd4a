"""Checks a condition against node outputs: its form, its paths, its field, and whether it compares numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.condition_forms import THRESHOLD_KINDS, check_shape, normalised, paths_in
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.schemas import Schema, check_path, follow, follow_field, item_types, options_of, types_of
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _

_NUMERIC = frozenset(("number", "integer"))
_WITH_LENGTH = frozenset(("array", "string", "object"))


def check(
    raw: Mapping[str, Any],
    schemas: Mapping[NodeId, Schema | None],
    *,
    roots: Mapping[str, Schema | None] | None = None,
    location: str = "",
) -> tuple[Problem, ...]:
    """All errors in a condition as the document holds it; `schemas` and `roots` as in `schemas.follow`."""
    found = list(check_shape(raw, location=location))
    for place, path in paths_in(raw, location=location):
        if finding := check_path(path, schemas, roots=roots, field=place):
            found.append(finding)
    if isinstance(raw.get("source"), (int, float)) and raw.get("field"):
        message = _("The source is a value without fields.")
        found.append(
            Problem(code="SCHEMA_MISMATCH", message=message, field=f"{location}.field" if location else "field")
        )
    if not found:
        prefix = f"{location}." if location else ""
        for path in _sources(raw.get("source")):
            schema = follow(path, schemas, roots=roots)
            if not isinstance(schema, Problem) and schema:
                found += _compared(normalised(raw), path, schema, prefix)
    return tuple(found)


def _sources(source: Any) -> Iterator[str]:
    """The paths of a source whose values are compared directly, without an aggregate."""
    for one in source if isinstance(source, (list, tuple)) else [source]:
        path = one.get(FROM) if isinstance(one, Mapping) and one.get("__agg__", "identity") == "identity" else one
        if isinstance(path, str):
            yield path


def _compared(condition: Mapping[str, Any], path: str, schema: Schema, prefix: str) -> Iterator[Problem]:
    name = condition.get("field")
    if name == "length" and not any("properties" in one for one in options_of(schema, schema)):
        if not any(not types_of(one) or types_of(one) & _WITH_LENGTH for one in options_of(schema, schema)):
            message = _("{path} has no length.").format(path=path)
            yield Problem(code="SCHEMA_MISMATCH", message=message, field=f"{prefix}field")
        return
    read = follow_field(schema, name, path=path, field=f"{prefix}field") if isinstance(name, str) and name else schema
    if isinstance(read, Problem):
        yield read
        return
    types = item_types(read)
    if types and not types & _NUMERIC and condition.get("kind") in (*THRESHOLD_KINDS, "between"):
        message = _("{path} yields {types}, which cannot be compared with a number.").format(
            path=f"{path}.{name}" if name else path, types=_(", ").join(sorted(types))
        )
        yield Problem(code="SCHEMA_MISMATCH", message=message, field=prefix + ("field" if name else "source"))
