"""One form for VelvetFlow's three: that of its README, that of its code, and today's with Jinja only.

The normal form is the code's: conditions have `kind` and `true_to_node`/`false_to_node`, loops `loop_kind`, `source`
and `body_subgraph`, edges `from`, `to`, `condition`. What is malformed stays as it is, for the checks to find.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flowcabal_tui.dialects.report import ConversionNote
from flowcabal_tui.dialects.velvetflow.document import BRANCHES, Document, load
from flowcabal_tui.domain.condition_forms import normalised as with_kind
from flowcabal_tui.locale import _

TOP: Final = ("workflow_name", "description", "nodes", "edges")
_LOOP_NAMES: Final = {
    "iter": "source",
    "item": "item_alias",
    "body": "body_subgraph",
    "kind": "loop_kind",
    "mode": "loop_kind",
}
_EACH: Final = ("foreach", "for-each", "for", "forEach")


class PlacedEdge(dict[str, Any]):
    """An edge with its place in the document, which differs from that in the normal form."""

    at: str = ""


def normal(source: str | bytes | Any) -> tuple[Document, list[ConversionNote]]:
    """The document in the normal form, with notes on differences; the given one is not changed. Raises DialectError."""
    document = load(source)
    notes: list[ConversionNote] = []
    for key in document:
        if key not in TOP:
            notes.append(ConversionNote("lost", key, _("{name} has no meaning in a workflow.").format(name=key)))
    graph = _graph(document, "", notes)
    named = {"workflow_name": document.get("workflow_name", "unnamed_workflow")}
    return {**named, "description": document.get("description") or "", **graph}, notes


def _graph(graph: Mapping[str, Any], place: str, notes: list[ConversionNote]) -> Document:
    """`nodes` and `edges` of a workflow or a body."""
    nodes, edges = graph.get("nodes", []), graph.get("edges")
    edges = [] if edges is None else edges
    if isinstance(nodes, list):
        nodes = [
            _node(node, f"{place}nodes[{n}]", notes) if isinstance(node, dict) else node for n, node in enumerate(nodes)
        ]
    if not isinstance(edges, list):
        return {"nodes": nodes, "edges": edges}
    kept = [_edge(edge, f"{place}edges[{n}]") if isinstance(edge, dict) else edge for n, edge in enumerate(edges)]
    if isinstance(nodes, list):
        kept = _to_branches(nodes, kept, notes)
        for number, node in enumerate(nodes):
            if isinstance(node, dict) and isinstance(node.get("id"), str):
                kept += _waited_for(node, f"{place}nodes[{number}]")
    return {"nodes": nodes, "edges": [edge for edge in kept if not _ends(edge)]}


def _waited_for(node: Document, place: str) -> list[PlacedEdge]:
    """The edges for `depends_on`, which is removed from the node."""
    given = node.pop("depends_on", None)
    found = []
    for number, source in enumerate(given if isinstance(given, list) else [] if given is None else [given]):
        at = f"{place}.depends_on[{number}]" if isinstance(given, list) else f"{place}.depends_on"
        found.append(_placed({"from": source, "to": node["id"]}, at))
    return found


def _placed(edge: Document, at: str) -> PlacedEdge:
    made = PlacedEdge(edge)
    made.at = at
    return made


def _ends(edge: Any) -> bool:
    """True when the edge states that nothing follows."""
    return isinstance(edge, dict) and "to" in edge and edge["to"] is None


def _edge(edge: Mapping[str, Any], place: str) -> PlacedEdge:
    source = edge.get("from", edge.get("from_node"))
    target = edge.get("to", edge.get("to_node"))
    condition = edge.get("condition")
    if isinstance(condition, bool):
        condition = "true" if condition else "false"
    made = {"from": source}
    if {"to", "to_node"} & edge.keys():
        made["to"] = None if target == "null" else target
    more = {"condition": condition, "note": edge.get("note")}
    at = edge.at if isinstance(edge, PlacedEdge) else place
    return _placed(made | {key: value for key, value in more.items() if value is not None}, at)


def _to_branches(nodes: list[Any], edges: list[Any], notes: list[ConversionNote]) -> list[Any]:
    """Gives conditions the targets that edges name; leaves out edges without further meaning.

    A branch that is null in the node ends there, regardless of edges.
    """
    conditions = {
        node["id"]: node
        for node in nodes
        if isinstance(node, dict) and node.get("type") == "condition" and isinstance(node.get("id"), str)
    }
    left = []
    for edge in edges:
        node = (
            conditions.get(edge.get("from")) if isinstance(edge, dict) and isinstance(edge.get("from"), str) else None
        )
        if node is None:
            left.append(edge)
            continue
        condition, target = edge.get("condition"), edge.get("to")
        name = BRANCHES.get(condition) if isinstance(condition, str) else None
        if name and name not in node and target is not None:
            node[name] = target
            message = _("The branch {name} of {node} leads to {target}, as its edge says.")
            message = message.format(name=condition, node=node["id"], target=target)
            notes.append(ConversionNote("changed", edge.at, message))
        elif not (name and node.get(name) == target) and (condition or target not in map(node.get, BRANCHES.values())):
            left.append(edge)
    return left


def _node(node: Mapping[str, Any], place: str, notes: list[ConversionNote]) -> Document:
    made = dict(node)
    params = made.get("params")
    made["params"] = dict(params) if isinstance(params, dict) else {}
    if params is not None and not isinstance(params, dict):
        notes.append(ConversionNote("lost", f"{place}.params", _("params must be an object.")))
    for name in BRANCHES.values():
        if made.get(name) == "null":
            made[name] = None
    match made.get("type"):
        case "condition":
            made["params"] = _condition(made["params"], f"{place}.params", notes)
        case "loop":
            made["params"] = _loop(made["params"], f"{place}.params", notes)
        case "parallel" if isinstance(branches := made["params"].get("branches"), (list, dict)):
            many = list(branches.values()) if isinstance(branches, dict) else branches
            inner = [
                {**one, **_graph(one, f"{place}.params.branches[{n}].", notes)}
                if isinstance(one, dict) and "nodes" in one
                else one
                for n, one in enumerate(many)
            ]
            made["params"]["branches"] = (
                dict(zip(branches, inner, strict=True)) if isinstance(branches, dict) else inner
            )
    return made


def _condition(params: Mapping[str, Any], place: str, notes: list[ConversionNote]) -> Document:
    """The README's `op` becomes `kind`; Jinja's `{{ expression }}` an expression."""
    made = with_kind(params)
    if made.get("kind") and not params.get("kind"):
        message = _("op is the kind of the condition: {kind}.").format(kind=made["kind"])
        notes.append(ConversionNote("changed", place, message))
    expression = made.get("expression")
    if isinstance(expression, str):
        made.setdefault("kind", "expression")
    return made


def _loop(params: Mapping[str, Any], place: str, notes: list[ConversionNote]) -> Document:
    made = dict(params)
    for name, meant in _LOOP_NAMES.items():
        if name in made and meant not in made:
            made[meant] = made.pop(name)
            message = _("{name} means {meant}.").format(name=name, meant=meant)
            notes.append(ConversionNote("changed", f"{place}.{name}", message))
            if name == "iter":
                made.setdefault("loop_kind", "for_each")
                made.setdefault("item_alias", "item")
    if made.get("loop_kind") in _EACH:
        made["loop_kind"] = "for_each"
    if isinstance(made.get("condition"), dict):
        made["condition"] = _condition(made["condition"], f"{place}.condition", notes)
    body = made.get("body_subgraph")
    if isinstance(body, dict):
        made["body_subgraph"] = {**body, **_graph(body, f"{place}.body_subgraph.", notes)}
    return made
