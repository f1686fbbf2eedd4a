"""The outputs of nodes as seen in their own graph: the exports of loops and the values of conditions, as schemas.

A kind knows only its parameters; the graph resolves the paths in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flowcabal_tui.domain.bindings import AGG, FROM, as_binding, paths_in
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import LENGTH
from flowcabal_tui.domain.schemas import ANYTHING, Schema, follow, follow_field, literal, options_of, types_of
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.nodes.validation.params import read_node
from flowcabal_tui.nodes.validation.scope import ActionShape, CheckedNode, GraphScope, NodeSchemas

_NUMBER: Final[Schema] = {"type": "integer"}
_TEXT: Final[Schema] = {"type": "string"}
_MADE: Final[Mapping[str, Schema]] = {
    **dict.fromkeys(("count", "count_if"), _NUMBER),
    **dict.fromkeys(("join", "format_join", "filter_map"), _TEXT),
}


@dataclass
class OutputSchemas:
    """The schemas of the nodes of one graph, computed on first use."""

    scope: GraphScope
    actions: Mapping[str, ActionShape] | None
    _known: dict[NodeId, Schema | None] = field(default_factory=dict)

    def __call__(self, read: CheckedNode) -> Schema | None:
        """The schema of a node's output; None: anything. A recursive request for the same node returns an open
        schema."""
        if read.node.id not in self._known:
            self._known[read.node.id] = read.schema
            self._known[read.node.id] = self._refined(read)
        return self._known[read.node.id]

    def _refined(self, read: CheckedNode) -> Schema | None:
        if read.params is None or read.schema is None:
            return read.schema
        match read.node.kind:
            case "loop":
                return self._loop(read)
            case "condition":
                return self._condition(read)
        return read.schema

    def _condition(self, read: CheckedNode) -> Schema:
        """The schema of a condition's output, with the type of its source."""
        schema, params = read.schema or ANYTHING, read.params
        source = getattr(params, "source", None)
        return _with(schema, resolved_value=schema_at(as_binding(source), self.scope)) if source is not None else schema

    def _loop(self, read: CheckedNode) -> Schema:
        params: Any = read.params
        inner = inside(read, self.scope, self.actions)
        taken: dict[str, Schema] = {}
        if params.exports.items is not None:
            taken["items"] = {"type": "array", "items": _items(params.exports.items, inner)}
        if params.exports.aggregates:
            schema = dict(read.schema or ANYTHING)["properties"]["aggregates"]
            collected = {
                one.name: {"type": "array", "items": _values(one, inner)}
                for one in params.exports.aggregates
                if one.kind == "collect"
            }
            taken["aggregates"] = _with(schema, **collected)
        roots = loop_roots(params, self.scope)
        leaving = params.body.exit or params.body.nodes[-1].id
        left = inner.schemas[leaving] if params.body.exit and leaving in inner.schemas else None
        turn = {"index": _NUMBER, "item": roots.get("item") or ANYTHING, "exit_result": left or ANYTHING}
        turns = {"type": "array", "items": {"type": "object", "properties": turn, "additionalProperties": False}}
        exports = {"type": "object", "properties": taken, "additionalProperties": False}
        return _with(
            read.schema or ANYTHING, **taken, exports=exports, iterations=turns, accumulator=_accumulator(params)
        )


def inside(read: CheckedNode, scope: GraphScope, actions: Mapping[str, ActionShape] | None) -> GraphScope:
    """The names available to the nodes in the body of a loop."""
    params: Any = read.params
    own: dict[NodeId, CheckedNode] = {}
    for node in params.body.nodes:
        own.setdefault(node.id, read_node(node, f"{read.path}/{node.id}", actions)[0])
    return scope_of(own, scope, {**scope.roots, **loop_roots(params, scope)}, read.path, "body", actions)


def scope_of(
    own: Mapping[NodeId, CheckedNode],
    around: GraphScope | None,
    roots: Mapping[str, Schema | None],
    owner: str,
    place: str,
    actions: Mapping[str, ActionShape] | None,
) -> GraphScope:
    """The scope of a graph: its nodes (`own`), the scope `around` it, and its root names.

    `owner` is the path of the node that contains the graph, `place` the field of its parameters. The schemas of the
    outputs are computed on first use.
    """
    seen = NodeSchemas(own, around.schemas if around else None)
    scope = GraphScope(own, seen, roots, owner, place)
    seen.of = OutputSchemas(scope, actions)
    return scope


def loop_roots(params: Any, scope: GraphScope) -> dict[str, Schema | None]:
    """The names in the scope of a loop's body, with their schemas."""
    turn: dict[str, Schema | None] = {"index": _NUMBER, "size": _NUMBER}
    if params.mode == "for_each":
        item = item_schema(schema_at(as_binding(params.source), scope))
        turn |= {"item": item, **({params.item: item} if params.item else {})}
    fields = {name: schema or ANYTHING for name, schema in turn.items()}
    fields |= {"last": ANYTHING} if params.mode == "while" else {}
    if "loop" in scope.roots:
        fields["outer"] = scope.roots["loop"] or ANYTHING
    fields["accumulator"] = _accumulator(params)
    return {**turn, "loop": {"type": "object", "properties": fields, "additionalProperties": False}}


def item_schema(schema: Schema | None) -> Schema | None:
    """The schema of the items of a list; None: anything."""
    found: list[Schema] = []
    for option in options_of(schema, schema) if schema else ():
        items = option.get("items")
        if "array" not in types_of(option) or not isinstance(items, Mapping) or not items:
            return None
        found.append(items)
    top = {key: schema[key] for key in ("$defs", "definitions") if schema and key in schema}
    return {**(found[0] if len(found) == 1 else {"anyOf": found}), **top} if found else None


def schema_at(value: Any, scope: GraphScope) -> Schema:
    """The schema of a parameter: that of its binding's target, or of the literal value."""
    if isinstance(value, Mapping) and FROM in value:
        made, path = str(value.get(AGG, "identity")), value[FROM]
        if made != "identity":
            return _MADE.get(made, ANYTHING)
        if not isinstance(path, str):
            return {"type": "array"}
        found = follow(path, scope.schemas, roots=scope.roots)
        return ANYTHING if isinstance(found, Problem) else found
    if isinstance(value, str) and (read := paths_in(value, scope.schemas, roots=scope.roots)):
        whole = len(read) == 1 and value.strip().startswith("{{") and value.strip().endswith("}}")
        return schema_at({FROM: read[0][1]}, scope) if whole else {"type": "string"}
    return literal(value, open_text=lambda text: bool(paths_in(text, scope.schemas, roots=scope.roots)))


def _items(items: Any, inner: GraphScope) -> Schema:
    """The schema of one exported item: the fields taken from a node's output."""
    whole = inner.schemas.get(items.from_node)
    if whole and items.list_field:
        found = follow_field(whole, items.list_field, path=items.from_node)
        whole = None if isinstance(found, Problem) else item_schema(found)
    elif whole and all("array" in types_of(option) for option in options_of(whole, whole)):
        whole = item_schema(whole)
    if not items.fields:
        return whole or ANYTHING
    fields = {}
    for name in items.fields:
        part = follow_field(whole, name, path=items.from_node) if whole else ANYTHING
        fields[name] = ANYTHING if isinstance(part, Problem) else part
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _values(export: Any, inner: GraphScope) -> Schema:
    """The schema of one value that an aggregate takes from a round; the entries of a list count individually."""
    schema = schema_at(as_binding(export.source), inner)
    if export.field == LENGTH:
        return _NUMBER
    options = [one for option in options_of(schema, schema) for one in _entries(option)]
    if export.field and schema:
        found = follow_field(schema, export.field, path="", field="")
        options = (
            [] if isinstance(found, Problem) else [one for each in options_of(found, found) for one in _entries(each)]
        )
    if not options or any(not option for option in options):
        return ANYTHING
    return options[0] if len(options) == 1 else {"anyOf": options}


def _entries(schema: Schema) -> Iterator[Schema]:
    if "array" in types_of(schema):
        items = schema.get("items")
        yield items if isinstance(items, Mapping) else ANYTHING
    else:
        yield schema


def _accumulator(params: Any) -> Schema:
    """The schema of the accumulator: that of its initial value."""
    began = params.accumulator.initial if params.accumulator else {}
    fields: dict[str, Schema] = dict.fromkeys(began, ANYTHING)
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _with(schema: Schema, **fields: Schema) -> Schema:
    """An object's schema with more precise schemas for some fields."""
    return {**schema, "properties": {**schema.get("properties", {}), **fields}}
