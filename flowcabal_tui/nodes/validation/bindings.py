"""Checks the bindings and conditions of a node's parameters against the nodes and names that they read.

Most kinds list their bindings. A condition, a loop and a recursive node read paths in places of their own; a loop reads
some of them inside its rounds, where its body and its names are visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.domain import binding_checks, expressions, paths
from flowcabal_tui.domain.bindings import AGG, FROM, as_binding
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.paths import LENGTH
from flowcabal_tui.domain.schemas import Schema, check_path, follow, follow_field, item_types, options_of, types_of
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation.output_schemas import item_schema, schema_at
from flowcabal_tui.nodes.validation.scope import CheckedNode, GraphScope

_NUMERIC: Final = ("sum", "avg", "min", "max")
_NUMBERS: Final = frozenset(("number", "integer"))


def check_bound(read: CheckedNode, scope: GraphScope, inner: GraphScope | None) -> Iterator[Problem]:
    """The errors in the paths that a node reads; `inner` is the scope of its body, if it has one."""
    params: Any = read.params
    match read.node.kind:
        case "condition":
            found = _condition(read.node.params, scope, "")
        case "recursive" if params.until is not None:
            verdict = dict.fromkeys(("verdict", "draft", "critique", "round"))
            raw = params.until.model_dump(exclude_unset=True)
            found = _condition(raw, scope, "until", {**scope.roots, **verdict})
        case "loop" if inner is not None:
            found = _loop(params, scope, inner)
        case _ if read.kind is not None:
            found = _tree(read.kind.bound(params), scope, "")
        case _:
            found = iter(())
    yield from (finding.model_copy(update={"node": read.path}) for finding in found)


def _tree(value: Any, scope: GraphScope, place: str) -> Iterator[Problem]:
    yield from binding_checks.check(value, scope.schemas, roots=scope.roots, location=place)


def _condition(
    raw: Mapping[str, Any], scope: GraphScope, place: str, roots: Mapping[str, Schema | None] | None = None
) -> Iterator[Problem]:
    from flowcabal_tui.domain import condition_checks  # loads what only conditions need

    yield from condition_checks.check(raw, scope.schemas, roots=roots or scope.roots, location=place)


def _loop(params: Any, scope: GraphScope, inner: GraphScope) -> Iterator[Problem]:
    """Checks a loop: the source and the start are read outside it; the rest after or between rounds, where the body is
    visible.
    """
    yield from _tree({"source": as_binding(params.source)}, scope, "")
    if params.condition is not None:
        raw = params.condition.model_dump(exclude_unset=True)
        yield from _condition(raw, scope, "condition", inner.roots)
    if params.mode == "for_each" and (path := path_of(params.source)) is not None:
        yield from _is_list(path, scope)
    for number, one in enumerate(params.exports.aggregates):
        found = tuple(_tree(as_binding(one.source), inner, f"exports.aggregates[{number}].source"))
        yield from found or _aggregated(one, inner, f"exports.aggregates[{number}].field")
    if params.exports.items is not None:
        yield from _exported(params.exports.items, inner)
    if params.accumulator is not None:
        yield from _tree(params.accumulator.initial, scope, "accumulator.initial")
        yield from _tree(params.accumulator.set, inner, "accumulator.set")
        for name, text in params.accumulator.compute.items():
            for path in expressions.paths_in(text):
                place = f"accumulator.compute.{name}"
                if finding := check_path(path, inner.schemas, roots=inner.roots, field=place):
                    yield finding


def _is_list(path: str, scope: GraphScope) -> Iterator[Problem]:
    schema = follow(path, scope.schemas, roots=scope.roots)
    if isinstance(schema, Problem) or not schema:
        return
    types = [types_of(option) for option in options_of(schema, schema)]
    if all(one and "array" not in one for one in types):
        shown = _(", ").join(sorted(frozenset().union(*types)))
        message = _("A loop needs a list, and {path} yields: {types}").format(path=path, types=shown)
        yield Problem(code="SCHEMA_MISMATCH", field="source", message=message)


def _aggregated(one: Any, inner: GraphScope, place: str) -> Iterator[Problem]:
    """Checks the field that an aggregate takes of the values, and that they are numbers where it needs numbers."""
    path, schema = path_of(one.source), schema_at(as_binding(one.source), inner)
    if path is None or not schema or one.field == LENGTH:
        return
    found = follow_field(schema, one.field, path=path, field=place) if one.field else schema
    if isinstance(found, Problem):
        if any({"object", "array"} & types_of(option) for option in options_of(schema, schema)):
            yield found
    elif one.kind in _NUMERIC and (types := item_types(found)) and not types & _NUMBERS:
        template = _("{name} is {types}; {kind} needs numbers.")
        message = template.format(name=one.field or path, types=" / ".join(sorted(types)), kind=one.kind)
        yield Problem(code="SCHEMA_MISMATCH", message=message, field=place, severity="warning")


def _exported(items: Any, inner: GraphScope) -> Iterator[Problem]:
    """Checks the fields that are exported from the output of a node of the body."""
    if items.from_node not in inner.own or not (schema := inner.schemas[items.from_node]):
        return
    if items.list_field:
        inside = follow_field(schema, items.list_field, path=items.from_node, field="exports.items.list_field")
        if isinstance(inside, Problem):
            yield inside
            return
        schema = item_schema(inside) or {}
    for name in items.fields if schema else ():
        found = follow_field(schema, name, path=items.from_node, field="exports.items.fields")
        if isinstance(found, Problem):
            yield found


def path_of(value: Any) -> str | None:
    """The path in a value that is only a path, in any of the three forms; None for text, aggregates and the like."""
    if isinstance(value, Mapping):
        value = value.get(FROM) if value.get(AGG, "identity") == "identity" else None
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        paths.parse(value)
    except BindingError:
        return None
    return paths.unwrap(value.strip())
