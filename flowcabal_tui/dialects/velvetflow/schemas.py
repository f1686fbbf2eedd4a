"""What the nodes of a VelvetFlow document yield, as JSON Schemas, and what can be named where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import FROM, RUN_ROOTS
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.schemas import ANYTHING, Schema, follow, follow_field, options_of
from flowcabal_tui.domain.workflow import Finding

_SILENT: Final = ("start", "end")
"""Types that leave no result."""
_NUMBER: Final[Schema] = {"type": "number"}


class Action(Protocol):
    """What the checks need to know of an action."""

    @property
    def arg_schema(self) -> dict[str, Any]: ...

    @property
    def output_schema(self) -> dict[str, Any]: ...


Registry = Mapping[str, Action]


@dataclass(frozen=True)
class Names:
    """What can be named at one place: nodes with what they yield (None: anything), and other names."""

    nodes: Mapping[NodeId, Schema | None]
    roots: Mapping[str, Schema | None] = field(default_factory=lambda: dict.fromkeys(RUN_ROOTS))

    def of(self, path: str) -> Schema:
        """The schema of what a path yields; empty when that is open or the path is wrong."""
        found = follow(path, self.nodes, roots=self.roots)
        return ANYTHING if isinstance(found, Finding) else found


def well_formed(nodes: Any) -> list[Document]:
    """The nodes of a list that are objects with an id."""
    many = nodes if isinstance(nodes, list) else []
    return [node for node in many if isinstance(node, dict) and isinstance(node.get("id"), str) and node["id"]]


def names_of(nodes: Any, registry: Registry, around: Names) -> Names:
    """What nodes of one graph can name: each other, and what is around. Bodies are followed in."""
    known = dict(around.nodes)
    for node in well_formed(nodes):
        if node.get("type") not in (*_SILENT, "loop"):
            known[NodeId(node["id"])] = _yields(node, registry)
    waiting = [node for node in well_formed(nodes) if node.get("type") == "loop"]
    known |= {NodeId(node["id"]): None for node in waiting}
    for node in waiting:  # a loop over the items of a later one may find anything in them
        known[NodeId(node["id"])] = _loop(node, registry, Names(dict(known), around.roots))
    return Names(known, around.roots)


def inside_loop(node: Document, names: Names) -> Names:
    """What the body of a loop can name beside the nodes around."""
    params = node["params"]
    source = params.get("source")
    item = items_of(names.of(path)) if (path := path_of(source)) else ANYTHING
    alias = params.get("item_alias")
    each: dict[str, Schema | None] = {"item": item, "size": {"type": "integer"}}
    each |= {alias: item} if isinstance(alias, str) and alias else {}
    loop: Schema = {
        "type": "object",
        "properties": {"index": {"type": "integer"}, "accumulator": {}, "last": {}, **each},
        "additionalProperties": False,
    }
    roots = {**names.roots, **each, "index": {"type": "integer"}, "loop": loop, node["id"]: loop}
    return Names(names.nodes, roots)


def path_of(source: Any) -> str:
    """The one path that a source is; empty for lists, values and aggregates."""
    if isinstance(source, Mapping) and source.get("__agg__", "identity") == "identity":
        source = source.get(FROM)
    return paths.unwrap(paths.braced(source.strip())) if isinstance(source, str) else ""


def items_of(schema: Schema) -> Schema:
    """The schema of the items of a list."""
    for option in options_of(schema, schema):
        items = option.get("items")
        if isinstance(items, Mapping):
            return items
    return ANYTHING


def _yields(node: Document, registry: Registry) -> Schema | None:
    match node.get("type"):
        case "action":
            return _action(node, registry)
        case "condition":
            fields: Schema = {"condition_result": {"type": "boolean"}, "evaluated_values": {"type": "array"}}
            return {"type": "object", "properties": fields, "additionalProperties": True}
        case "reasoning" | "data":
            schema = node.get("out_params_schema")
            return schema if isinstance(schema, dict) else None
    return None


def _action(node: Document, registry: Registry) -> Schema | None:
    action, declared = registry.get(str(node.get("action_id"))), node.get("out_params_schema")
    output = declared if isinstance(declared, dict) and declared else action.output_schema if action else None
    if not output or not isinstance(output.get("properties"), dict):
        return output or None
    given = action.arg_schema if action else ANYTHING
    fields = {"params": {"type": "object", **given}, **output["properties"]}
    return {**output, "properties": fields}


def _loop(node: Document, registry: Registry, names: Names) -> Schema:
    """The output of a loop: its exports, in either form."""
    params = node["params"]
    exports = params.get("exports") if isinstance(params.get("exports"), dict) else {}
    body = params.get("body_subgraph") if isinstance(params.get("body_subgraph"), dict) else {}
    inside = names_of(body.get("nodes"), registry, inside_loop(node, names)) if exports else names
    taken: dict[str, Any] = {name: {"type": "array"} for name, one in exports.items() if isinstance(one, str)}
    if isinstance(items := exports.get("items"), dict):
        taken["items"] = {"type": "array", "items": _item(items, inside)}
    if isinstance(aggregates := exports.get("aggregates"), list):
        named = {str(one.get("name")): _NUMBER for one in aggregates if isinstance(one, dict)}
        taken["aggregates"] = {"type": "object", "properties": named, "additionalProperties": False}
    turn = {"index": {"type": "integer"}, "item": {}, "exit_result": {}}
    return {
        "type": "object",
        "properties": {
            "status": {"type": "string"},
            "loop_kind": {"type": "string"},
            "iterations": {"type": "array", "items": {"type": "object", "properties": turn}},
            "accumulator": {"type": "object"},
            **taken,
            "exports": {"type": "object", "properties": taken},
        },
    }


def _item(items: Document, inside: Names) -> Schema:
    """One item that a loop exports: the fields that it takes of a node's output."""
    fields = items.get("fields")
    named = [name for name in fields if isinstance(name, str)] if isinstance(fields, list) else []
    whole = entries_of(items, inside)
    if not named:
        return whole or ANYTHING
    return {
        "type": "object",
        "properties": dict(_of(named, whole)),
        "additionalProperties": False,
    }


def entries_of(items: Document, inside: Names) -> Schema | None:
    """What the fields of an export are fields of; None when nothing is known of it."""
    whole = inside.nodes.get(NodeId(str(items.get("from_node"))))
    listed = items.get("list_field")
    if whole is None or not isinstance(listed, str):
        return whole
    found = follow_field(whole, listed, path=str(items.get("from_node")))
    return None if isinstance(found, Finding) else items_of(found)


def _of(fields: list[str], whole: Schema | None) -> Iterator[tuple[str, Schema]]:
    for name in fields:
        found = follow_field(whole, name, path="") if whole else ANYTHING
        yield name, ANYTHING if isinstance(found, Finding) else found
