"""The bindings and conditions of a node's parameters, against what the nodes and names that they read can give.

Most kinds say what they bind, and that is checked. A condition, a loop and a recursive node read paths in places of
their own; a loop reads some of them inside its rounds, where its body and its names can be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.domain import binding_checks, expressions, paths
from flowcabal_tui.domain.bindings import AGG, FROM
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.schemas import Schema, check_path, follow, follow_field, options_of, types_of
from flowcabal_tui.domain.workflow import Finding
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation.scope import Read, Scope

_NUMBER: Final[Schema] = {"type": "integer"}


def check_bound(read: Read, scope: Scope, inner: Scope | None) -> Iterator[Finding]:
    """Everything wrong with what a node reads; `inner` is the scope of its body, if it has one."""
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


def _tree(value: Any, scope: Scope, place: str) -> Iterator[Finding]:
    yield from binding_checks.check(value, scope.schemas, roots=scope.roots, location=place)


def _condition(
    raw: Mapping[str, Any], scope: Scope, place: str, roots: Mapping[str, Schema | None] | None = None
) -> Iterator[Finding]:
    from flowcabal_tui.domain import condition_checks  # loads what only conditions need

    yield from condition_checks.check(raw, scope.schemas, roots=roots or scope.roots, location=place)


def _loop(params: Any, scope: Scope, inner: Scope) -> Iterator[Finding]:
    """Source and start are read outside; the rest after or between rounds, where the body and its names are there."""
    yield from _tree({"source": _as_path(params.source)}, scope, "")
    if params.condition is not None:
        raw = params.condition.model_dump(exclude_unset=True)
        yield from _condition(raw, scope, "condition", inner.roots)
    if params.mode == "for_each" and (path := path_of(params.source)) is not None:
        yield from _is_list(path, scope)
    for number, one in enumerate(params.exports.aggregates):
        yield from _tree(_as_path(one.source), inner, f"exports.aggregates[{number}].source")
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


def _is_list(path: str, scope: Scope) -> Iterator[Finding]:
    schema = follow(path, scope.schemas, roots=scope.roots)
    if isinstance(schema, Finding) or not schema:
        return
    types = [types_of(option) for option in options_of(schema, schema)]
    if all(one and "array" not in one for one in types):
        shown = ", ".join(sorted(frozenset().union(*types)))
        said = _("A loop needs a list, and {path} yields: {types}").format(path=path, types=shown)
        yield Finding(code="SCHEMA_MISMATCH", field="source", message=said)


def _exported(items: Any, inner: Scope) -> Iterator[Finding]:
    """The fields that are taken of what a node of the body yields."""
    read = inner.own.get(items.from_node)
    if read is None or not (schema := read.schema):
        return
    if items.list_field:
        inside = follow_field(schema, items.list_field, path=items.from_node, field="exports.items.list_field")
        if isinstance(inside, Finding):
            yield inside
            return
        schema = item_schema(inside) or {}
    for name in items.fields if schema else ():
        found = follow_field(schema, name, path=items.from_node, field="exports.items.fields")
        if isinstance(found, Finding):
            yield found


def loop_roots(params: Any, scope: Scope) -> dict[str, Schema | None]:
    """The names that the nodes of a loop's body find, with what they can hold."""
    turn: dict[str, Schema | None] = {"index": _NUMBER, "size": _NUMBER}
    if params.mode == "for_each":
        path = path_of(params.source)
        schema = follow(path, scope.schemas, roots=scope.roots) if path is not None else None
        item = None if schema is None or isinstance(schema, Finding) else item_schema(schema)
        turn |= {"item": item, **({params.item: item} if params.item else {})}
    inside = {name: schema or {} for name, schema in turn.items()}
    loop = {**inside, "last": {}, "accumulator": {}, "outer": {}}
    return {**turn, "loop": {"type": "object", "properties": loop, "additionalProperties": False}}


def item_schema(schema: Schema) -> Schema | None:
    """What the items of a list can be; None: anything."""
    found: list[Schema] = []
    for option in options_of(schema, schema):
        items = option.get("items")
        if "array" not in types_of(option) or not isinstance(items, Mapping) or not items:
            return None
        found.append(items)
    top = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    return {**(found[0] if len(found) == 1 else {"anyOf": found}), **top} if found else None


def path_of(value: Any) -> str | None:
    """The path that a value is as a whole, in any of the three forms; None for text, aggregates and other values."""
    if isinstance(value, Mapping):
        value = value.get(FROM) if value.get(AGG, "identity") == "identity" else None
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        paths.parse(value)
    except BindingError:
        return None
    return paths.unwrap(value.strip())


def _as_path(source: Any) -> Any:
    return {FROM: source} if isinstance(source, str) and "{" not in source else source
