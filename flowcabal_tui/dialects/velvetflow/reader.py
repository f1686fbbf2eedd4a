"""VelvetFlow's documents as workflows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.dialects.report import Conversion, ConversionNote, DialectError, Level
from flowcabal_tui.dialects.velvetflow import loops
from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.normal import normal
from flowcabal_tui.dialects.velvetflow.references import References, Scope
from flowcabal_tui.domain.condition_forms import Condition
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.text import slug
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.locale import _

TYPES: Final = ("start", "end", "action", "condition", "loop", "parallel", "switch", "reasoning", "data")
_BANDED: Final = ("multi_band", "max_in_range")
_CONTROL: Final = "__"
"""Params that begin so steer VelvetFlow's executor and are none of the action's."""


def read(source: str | bytes | Any) -> Conversion:
    """The workflow of a document: JSON text, or the values in it. Raises DialectError."""
    document, notes = normal(source)
    reader = _Reader(notes)
    scope = Scope(_types(document["nodes"]), _exports(document["nodes"]))
    nodes, edges = reader.graph(document, scope, "")
    name = str(document["workflow_name"])
    for asked in reader.references.inputs:
        said = _("{name} is defined nowhere: it is an input of the run, input.{name}.").format(name=asked)
        notes.append(ConversionNote("changed", "", said))
    try:
        workflow = Workflow(
            id=slug(name),
            name=name,
            description=str(document["description"]),
            nodes=tuple(Node.model_validate(node) for node in nodes),
            edges=tuple(edges),
            metadata={"dialect": "velvetflow"},
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DialectError(_("The document cannot be read."), f"{place}: {first['msg']}") from error
    return Conversion(workflow, tuple(notes))


class _Reader:
    def __init__(self, notes: list[ConversionNote]) -> None:
        self.notes, self.references = notes, References(notes)

    def note(self, level: Level, place: str, message: str) -> None:
        self.notes.append(ConversionNote(level, place, message))

    def graph(self, graph: Mapping[str, Any], scope: Scope, place: str) -> tuple[list[Document], list[Edge]]:
        """The nodes (as JSON) and the edges of a workflow or a body. Raises DialectError."""
        nodes: list[Document] = []
        edges: list[Edge] = []
        for number, node in enumerate(_list(graph["nodes"], f"{place}nodes")):
            at = f"{place}nodes[{number}]"
            if not isinstance(node, dict) or not isinstance(node.get("id"), str) or not node["id"]:
                raise DialectError(_("A node must be an object with an id."), at)
            made = list(self.node(node, scope, at))
            nodes += [one for one, _edges in made]
            edges += [edge for _node, many in made for edge in many]
        edges += self.declared(_list(graph.get("edges") or [], f"{place}edges"), f"{place}edges")
        return nodes, list(dict.fromkeys(edges))

    def declared(self, edges: list[Any], place: str) -> Iterator[Edge]:
        for number, edge in enumerate(edges):
            ends = (edge.get("from"), edge.get("to")) if isinstance(edge, dict) else (None, None)
            if not all(isinstance(end, str) and end for end in ends):
                raise DialectError(_("An edge needs the nodes from and to."), f"{place}[{number}]")
            if edge.get("note"):
                self.note("lost", f"{place}[{number}].note", _("Edges have no notes."))
            condition = edge.get("condition")
            yield Edge(source=ends[0], target=ends[1], condition=None if condition is None else str(condition))

    def node(self, node: Document, scope: Scope, place: str) -> Iterator[tuple[Document, list[Edge]]]:
        """The node with the edges that leave it; a switch gives several."""
        params, kind = node["params"], node.get("type")
        match kind:
            case "start" | "end":
                made, edges = {"kind": kind, "params": {}}, list[Edge]()
            case "action":
                made, edges = self.action(node, scope, place), []
            case "condition":
                condition = self.condition(params, scope, f"{place}.params")
                made, edges = {"kind": "condition", "params": condition}, _branches(node, condition)
            case "loop":
                made, edges = {"kind": "loop", "params": loops.read(self, node, scope, place)}, []
            case "parallel":
                made, edges = self.parallel(node, scope, place)
            case "switch":
                yield from self.switch(node, scope, place)
                return
            case "reasoning" | "data":
                made, edges = self.reasoning(node, scope, place), []
            case _:
                raise DialectError(
                    _("{kind} is no type of node.").format(kind=str(kind)[:60]),
                    f"{place}.type",
                    _("Possible: {names}").format(names=", ".join(TYPES)),
                )
        self.forgotten(node, place)
        yield {"id": node["id"], "name": str(node.get("display_name") or ""), **made}, edges

    def forgotten(self, node: Document, place: str) -> None:
        known = {"id", "type", "display_name", "params", "action_id", "out_params_schema", "parent_node_id"}
        known |= {"true_to_node", "false_to_node", "cases", "default_to_node", "depends_on"}
        for key in (one for one in node if one not in known):
            self.note("lost", f"{place}.{key}", _("{name} means nothing in a node.").format(name=key))
        if node.get("type") in ("start", "end") and node["params"]:
            self.note("lost", f"{place}.params", _("start and end have no params."))

    def action(self, node: Document, scope: Scope, place: str) -> Document:
        given: Document = {}
        for key, value in node["params"].items():
            if key.startswith(_CONTROL) and not key.startswith("__from"):
                self.note("lost", f"{place}.params.{key}", _("An action is waited for; nothing else steers it."))
            else:
                given[key] = self.references.value(value, scope, f"{place}.params.{key}")
        action = node.get("action_id")
        params: Document = {"action": action if isinstance(action, str) else "", "params": given}
        schema = node.get("out_params_schema")
        return {"kind": "action", "params": params | ({"output": schema} if isinstance(schema, dict) else {})}

    def condition(self, params: Mapping[str, Any], scope: Scope, place: str) -> Document:
        """The parameters of a condition, also of a loop's."""
        known = Condition.model_fields
        for key in (one for one in params if one not in known):
            self.note("lost", f"{place}.{key}", _("{name} means nothing in a condition.").format(name=key))
        made = {key: value for key, value in params.items() if key in known and value is not None}
        if "source" in made:
            made["source"] = self.references.source(made["source"], scope, f"{place}.source")
        for name in ("value", "threshold", "min", "max"):
            if name in made:
                made[name] = self.references.value(made[name], scope, f"{place}.{name}")
        if isinstance(made.get("bands"), list) and made.get("kind") in _BANDED:
            made["bands"] = [
                {key: band.get(key) for key in ("label", "min", "max")} if isinstance(band, dict) else band
                for band in made["bands"]
            ]
        return made

    def parallel(self, node: Document, scope: Scope, place: str) -> tuple[Document, list[Edge]]:
        """Branches that hold nodes are ours; one that names nodes, and none at all, is a place where ways part."""
        branches = node["params"].get("branches") or []
        named = branches if isinstance(branches, dict) else {str(n + 1): one for n, one in enumerate(branches)}
        bodies = {name: one for name, one in named.items() if isinstance(one, dict) and "nodes" in one}
        if not bodies:
            self.note("changed", place, _("It only parts ways: nodes that need nothing of each other run together."))
            ways = [one for one in named.values() if isinstance(one, str) and one != "null"]
            return {"kind": "end", "params": {}}, [Edge(source=node["id"], target=way) for way in ways]
        made = {}
        for number, (name, branch) in enumerate(bodies.items()):
            made[str(branch.get("name") or name)] = self.body(branch, scope, f"{place}.params.branches[{number}].")
        return {"kind": "parallel", "params": {"branches": made}}, []

    def body(self, body: Mapping[str, Any], scope: Scope, place: str) -> Document:
        """A graph inside a node; `scope` is that around it, with the names that the body finds."""
        nodes = body["nodes"] if isinstance(body.get("nodes"), list) else []
        inside = Scope({**scope.types, **_types(nodes)}, {**scope.exports, **_exports(nodes)}, scope.names, scope.loops)
        made, edges = self.graph({**body, "nodes": nodes}, inside, place)
        if not made:
            raise DialectError(_("A body needs nodes."), f"{place}nodes")
        leaving = body.get("exit")
        if isinstance(leaving, list) and leaving:
            self.note("changed", f"{place}exit", _("A body has one exit: the last of them."))
            leaving = leaving[-1]
        if leaving is not None and leaving not in [node["id"] for node in made]:
            self.note("lost", f"{place}exit", _("The exit is no node of the body."))
            leaving = None
        known = [edge for edge in edges if {edge.source, edge.target} <= {node["id"] for node in made}]
        if len(known) < len(edges):
            self.note("lost", f"{place}edges", _("Edges to nodes outside the body lead nowhere."))
        return {"nodes": made, "edges": [edge.model_dump() for edge in known]} | ({"exit": leaving} if leaving else {})

    def switch(self, node: Document, scope: Scope, place: str) -> Iterator[tuple[Document, list[Edge]]]:
        """Conditions, one behind the other: each compares with one case and leads to it, or to the next."""
        cases = [case for case in _list(node.get("cases") or [], f"{place}.cases") if isinstance(case, dict)]
        if not cases:
            raise DialectError(_("A switch needs cases."), f"{place}.cases")
        self.note("changed", place, _("A switch is a chain of conditions, one for each case."))
        params = self.condition({**node["params"], "kind": "compare", "op": "=="}, scope, f"{place}.params")
        ids = [node["id"] if not number else f"{node['id']}_{number + 1}" for number in range(len(cases))]
        for number, case in enumerate(cases):
            after = ids[number + 1] if number + 1 < len(cases) else node.get("default_to_node")
            edges = [
                Edge(source=ids[number], target=target, condition=label)
                for label, target in (("true", case.get("to_node")), ("false", after))
                if isinstance(target, str) and target != "null"
            ]
            named = {"id": ids[number], "name": str(node.get("display_name") or "")}
            yield {**named, "kind": "condition", "params": {**params, "value": case.get("match")}}, edges

    def reasoning(self, node: Document, scope: Scope, place: str) -> Document:
        """Today's nodes without an action: a question to the model, and data that stand in the document."""
        params = self.references.value(node["params"], scope, f"{place}.params")
        if node["type"] == "data":
            return {"kind": "end", "params": {"value": params.get("dataset", params)}}
        self.note("changed", place, _("It is a prompt; tools and the form of the answer are not carried over."))
        texts = {"system": params.get("system_prompt"), "prompt": params.get("task_prompt", params.get("prompt"))}
        return {
            "kind": "prompt",
            "params": {name: [{"kind": "text", "text": text}] for name, text in texts.items() if isinstance(text, str)},
        }


def _branches(node: Document, condition: Document) -> list[Edge]:
    """The edges to the targets of a condition; "true" is every band of a banded one."""
    given = condition.get("bands")
    bands = [str(one.get("label")) for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    labels = {"true": bands if condition.get("kind") in _BANDED else ["true"], "false": ["false"]}
    return [
        Edge(source=node["id"], target=target, condition=label)
        for name, many in labels.items()
        for label in many
        if isinstance(target := node.get(f"{name}_to_node"), str) and target
    ]


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise DialectError(_("{place} must be a list.").format(place=place))
    return value


def _types(nodes: Any) -> dict[NodeId, str]:
    many = nodes if isinstance(nodes, list) else []
    return {NodeId(node["id"]): str(node.get("type")) for node in many if isinstance(node, dict) and _has_id(node)}


def _exports(nodes: Any) -> dict[NodeId, frozenset[str]]:
    """The names that loops in today's form take out."""
    many = [node for node in (nodes if isinstance(nodes, list) else []) if isinstance(node, dict) and _has_id(node)]
    return {NodeId(node["id"]): names for node in many if (names := loops.jinja_exports(node))}


def _has_id(node: Mapping[str, Any]) -> bool:
    return isinstance(node.get("id"), str)
