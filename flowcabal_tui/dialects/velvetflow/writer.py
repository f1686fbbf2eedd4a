"""Workflows as VelvetFlow's documents, in the form of its code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.dialects.report import ConversionNote, DialectError
from flowcabal_tui.dialects.velvetflow.document import BRANCHES, Document
from flowcabal_tui.dialects.velvetflow.loops import KINDS
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import FROM, ROOTS, is_binding, whole_path
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import RESULT, Path
from flowcabal_tui.domain.workflow import Body, Edge, Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import kind_and_params

HOLDS: Final = ("start", "end", "action", "condition", "loop", "parallel")
_TEMPLATE: Final = re.compile(r"\{\{([^{}]+)\}\}")


def write(workflow: Workflow) -> tuple[Document, tuple[ConversionNote, ...]]:
    """The document of a workflow, with notes on what it cannot represent.

    Raises DialectError with the nodes whose kinds VelvetFlow lacks, WorkflowError for bad parameters.
    """
    writer = _Writer(workflow)
    graph = writer.graph(workflow.nodes, workflow.edges, "")
    document = {"workflow_name": workflow.name or workflow.id, "description": workflow.description, **graph}
    return document, tuple(writer.notes)


class _Writer:
    def __init__(self, workflow: Workflow) -> None:
        self.kinds = _kinds(workflow.nodes)
        self.collected: dict[NodeId, frozenset[str]] = {}
        self.notes: list[ConversionNote] = []

    def lost(self, place: str, message: str) -> None:
        self.notes.append(ConversionNote("lost", place, message))

    def graph(self, nodes: Sequence[Node], edges: Sequence[Edge], place: str) -> Document:
        if foreign := [f"{place}{node.id} ({node.kind})" for node in nodes if node.kind not in HOLDS]:
            raise DialectError(
                _("VelvetFlow cannot represent this workflow."),
                _("It cannot have nodes such as {names}.").format(names=_(", ").join(foreign[:20])),
                _("It supports: {names}.").format(names=_(", ").join(HOLDS)),
            )
        for one in nodes:
            kind_and_params(one)
        around = self.collected
        self.collected = {**around, **_collected(nodes)}
        made = [self.node(node, f"{place}{node.id}") for node in nodes]
        self.collected = around
        by_id = {node["id"]: node for node in made}
        left = []
        for edge in edges:
            node = by_id.get(edge.source, {})
            field = self.branch(node, edge)
            if field and node[field] in (None, edge.target):
                node[field] = edge.target
            else:
                left.append({"from": edge.source, "to": edge.target, "condition": edge.condition})
        return {"nodes": made, "edges": left}

    def branch(self, node: Document, edge: Edge) -> str | None:
        """The field of a condition for an edge; None for an edge that does not leave a condition or is not a branch."""
        if node.get("type") != "condition" or edge.condition is None:
            return None
        bands = [band["label"] for band in node["params"].get("bands", [])]
        return "true_to_node" if edge.condition in bands else BRANCHES.get(edge.condition)

    def node(self, node: Node, place: str) -> Document:
        made: Document = {"id": node.id, "type": node.kind, "params": {}}
        if node.name:
            made["display_name"] = node.name
        match node.kind:
            case "action":
                made |= {
                    "action_id": node.params.get("action"),
                    "params": self.value(node.params.get("params", {}), place),
                }
                if node.params.get("output") is not None:
                    made["out_params_schema"] = node.params["output"]
            case "condition":
                made |= {"params": self.condition(node.params, place), "true_to_node": None, "false_to_node": None}
            case "loop":
                made["params"] = self.loop(node, place)
            case "parallel":
                self.lost(place, _("VelvetFlow does not run the branches of a parallel."))
                bodies = {name: Body.model_validate(one) for name, one in node.params.get("branches", {}).items()}
                made["params"] = {
                    "branches": [{"name": name, **self.body(body, f"{place}/{name}/")} for name, body in bodies.items()]
                }
            case "end" if node.params.get("value") is not None:
                self.lost(place, _("In VelvetFlow, an end has no value."))
        return made

    def condition(self, params: Mapping[str, Any], place: str) -> Document:
        """Keeps a source that is given as text: VelvetFlow reads it as a path."""
        made = {key: self.value(value, place) for key, value in params.items() if key != "expression"}
        if "expression" in params:
            self.lost(place, _("VelvetFlow reads an expression as Python: this one may mean something else."))
            made["expression"] = params["expression"]
        return made

    def body(self, body: Body, place: str) -> Document:
        around = self.kinds
        self.kinds = {**around, **_kinds(body.nodes)}
        made = self.graph(body.nodes, body.edges, place)
        self.kinds = around
        return made | ({"exit": body.exit} if body.exit else {})

    def loop(self, node: Node, place: str) -> Document:
        params = node.params
        body = Body.model_validate(params["body"])
        if any(one.kind == "loop" for one in body.nodes):
            self.lost(place, _("VelvetFlow refuses loops inside loops."))
        made: Document = {"loop_kind": params.get("mode", "for_each"), "item_alias": params.get("item") or "item"}
        if "source" in params:
            made["source"] = self.value(params["source"], place)
        if params.get("condition"):
            made["condition"] = self.condition(params["condition"], place)
        made["body_subgraph"] = self.body(body, f"{place}/")
        made["exports"] = self.exports(params.get("exports") or {}, f"{place}.exports")
        accumulator = params.get("accumulator") or {}
        if accumulator:
            made["accumulator"] = self.value(accumulator.get("initial", {}), place)
        if accumulator.get("set") or accumulator.get("compute"):
            self.lost(place, _("In VelvetFlow, an accumulator keeps its initial value."))
        if params.get("side_by_side", 1) > 1:
            self.lost(place, _("In VelvetFlow, the rounds run one after the other."))
        return made | ({"max_iterations": params["max_iterations"]} if "max_iterations" in params else {})

    def exports(self, exports: Mapping[str, Any], place: str) -> Document:
        made: Document = {"items": dict(exports["items"])} if exports.get("items") else {}
        for one in exports.get("aggregates", []):
            path = one["source"] if isinstance(one["source"], str) else str(one["source"].get(FROM))
            named = _node_of(path)
            if _is_plain_export(one):
                made[one["name"]] = "{{" + paths.unwrap(path) + "}}"
            elif one["kind"] in KINDS and named:
                node, field = named
                fields = [name for name in (field, one.get("field")) if name]
                expression = {key: one[key] for key in ("op", "value") if key in one}
                expression = {"kind": one["kind"], "field": ".".join(fields) or None, **expression}
                whole = {
                    "name": one["name"],
                    "from_node": node,
                    "kind": one["kind"],
                    "source": path,
                    "expr": expression,
                }
                made.setdefault("aggregates", []).append(whole)
            else:
                self.lost(f"{place}.{one['name']}", _("VelvetFlow has no aggregate {kind}.").format(kind=one["kind"]))
        return made

    def value(self, value: Any, place: str) -> Any:
        """A tree of parameters with VelvetFlow's paths."""
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, Mapping):
            if is_binding(value) and isinstance(value.get(FROM), (str, list)):
                source = value[FROM]
                many = [
                    self.path(one, place) if isinstance(one, str) else one
                    for one in ([source] if isinstance(source, str) else source)
                ]
                return {**value, FROM: many[0] if isinstance(source, str) else many}
            return {key: self.value(part, place) for key, part in value.items()}
        return [self.value(part, place) for part in value] if isinstance(value, (list, tuple)) else value

    def text(self, text: str, place: str) -> str:
        try:
            path = whole_path(text, ROOTS, self.kinds)
        except BindingError:
            return text
        if path is None or "{" in text:
            return _TEMPLATE.sub(lambda match: "{{" + self.path(match[1], place) + "}}", text)
        return self.path(text, place)

    def path(self, text: str, place: str) -> str:
        try:
            path = paths.parse(text)
        except BindingError:
            return text
        if path.root == "input" and len(path.parts) > 1:
            self.lost(place, _("In VelvetFlow, a run has no inputs: {path} is kept as text.").format(path=path))
            return paths.shown(path.parts[1:])
        named = paths.node_of(path, self.kinds)
        if named and self.kinds.get(named[0]) == "condition" and path.parts[named[1] :][:1] == ("result",):
            head = path.parts[: named[1]]
            return str(Path((*head, "condition_result", *path.parts[named[1] + 1 :])))
        if named:
            rest = path.parts[named[1] :]
            rest = rest[1:] if rest[:1] == ("exports",) else rest
            if rest[:1] == ("aggregates",) and rest[1:2] and rest[1] in self.collected.get(named[0], ()):
                return str(Path((*path.parts[: named[1]], "exports", *rest[1:])))
        return str(path)


def _is_plain_export(aggregate: Mapping[str, Any]) -> bool:
    """True for an export that is written as `exports: {name: "{{ ... }}"}`, and read at `exports.name`."""
    return aggregate.get("kind") == "collect" and not aggregate.get("field")


def _collected(nodes: Sequence[Node]) -> dict[NodeId, frozenset[str]]:
    """The aggregates of each loop that VelvetFlow writes as plain exports."""
    return {
        node.id: frozenset(
            one["name"] for one in (node.params.get("exports") or {}).get("aggregates", ()) if _is_plain_export(one)
        )
        for node in nodes
        if node.kind == "loop"
    }


def _kinds(nodes: Sequence[Node]) -> dict[NodeId, str]:
    return {node.id: node.kind for node in nodes}


def _node_of(path: str) -> tuple[str, str] | None:
    """The node that a path reads, and the rest of it."""
    try:
        parts = paths.parse(path).parts
    except BindingError:
        return None
    if parts[0] != RESULT or len(parts) < 2:
        return None
    return str(parts[1]), paths.shown(parts[2:]) if len(parts) > 2 else ""
