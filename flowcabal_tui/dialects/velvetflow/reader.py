"""Reads VelvetFlow's documents as workflows, with notes, findings and the places of all parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.dialects.report import Conversion, ConversionNote, DialectError
from flowcabal_tui.dialects.velvetflow import loops
from flowcabal_tui.dialects.velvetflow.document import BRANCHES, Document
from flowcabal_tui.dialects.velvetflow.normal import PlacedEdge, normal
from flowcabal_tui.dialects.velvetflow.places import Places, Telling
from flowcabal_tui.dialects.velvetflow.references import BindingReferences, NameScope
from flowcabal_tui.domain.condition_forms import Condition
from flowcabal_tui.domain.text import slug
from flowcabal_tui.domain.workflow import NEVER, Edge, Node, Problem, Workflow
from flowcabal_tui.locale import _

TYPES: Final = ("start", "end", "action", "condition", "loop", "parallel", "switch", "reasoning", "data")
_BANDED: Final = ("multi_band", "max_in_range")
_CONTROL: Final = "__"
"""Prefix of parameters for VelvetFlow's executor, not for the action (except references, `__from__`)."""
_PLACEHOLDER: Final = {"kind": "action", "params": {"action": "?"}}
"""Replaces an unreadable node; its output is unknown."""
Placed = tuple[Edge, str]
"""An edge with its place in the document."""


@dataclass(frozen=True)
class ReadDocument:
    """A parsed document: `workflow` has placeholders where `telling.fatal` lists errors."""

    workflow: Workflow
    telling: Telling
    places: Places


def read(source: str | bytes | Any) -> Conversion:
    """The workflow of a document: JSON text, or the values in it. Raises DialectError with all errors."""
    found = reading(source)
    if fatal := found.telling.fatal:
        problems = (
            ": ".join(part for part in (f"{one.node} {one.field}".strip(), one.message) if part) for one in fatal
        )
        raise DialectError(_("The document cannot be read."), "\n".join(list(problems)[:20]))
    return Conversion(found.workflow, tuple(dict.fromkeys(found.telling.notes)))


def reading(source: str | bytes | Any) -> ReadDocument:
    """The workflow of a document, as far as it can be read, with all findings. Raises DialectError."""
    document, notes = normal(source)
    lost = [note for note in notes if note.level == "lost"]
    telling = Telling(notes)
    reader = _Reader(telling, BindingReferences(telling, frozenset(_ids_and_aliases(document))))
    nodes, edges = reader.graph(document, NameScope({}, {}), "", "", "")
    for note in lost:
        node, field = telling.at(note.place)
        warning = Problem(code="NOT_CARRIED_OVER", node=node, field=field, message=note.message, severity="warning")
        telling.findings.append(warning)
    for input_name in reader.references.inputs:
        message = _("{name} is not defined: it is an input of the run, input.{name}.").format(name=input_name)
        notes.append(ConversionNote("changed", "", message))
    name = str(document["workflow_name"])
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
    return ReadDocument(workflow, telling, reader.places)


class _Reader:
    def __init__(self, telling: Telling, references: BindingReferences) -> None:
        self.telling, self.references, self.places = telling, references, Places()

    def graph(
        self, graph: Mapping[str, Any], scope: NameScope, place: str, path: str, field: str
    ) -> tuple[list[Document], list[Edge]]:
        """The nodes (as JSON) and the edges of a workflow or a body.

        `path` is the path of the converted graph, `field` the field of its owner.
        """
        given = graph.get("nodes")
        if not isinstance(given, list):
            message = _("nodes must be a list.")
            self.telling.wrong("INVALID_SCHEMA", f"{place}nodes", message, fatal=True)
            given = []
        inside = scope.within(*loops.names_of(given))
        nodes: list[Document] = []
        edges: list[Placed] = []
        for number, node in enumerate(given):
            at = f"{place}nodes[{number}]"
            if self.well_formed(node, at):
                self.telling.names[at] = node["id"]
                made = list(self.node(node, inside, at, path))
                nodes += [one for one, _edges in made]
                edges += [edge for _node, many in made for edge in many]
        known = {node["id"]: node for node in given if isinstance(node, dict) and isinstance(node.get("id"), str)}
        edges += self.declared(graph.get("edges"), known, f"{place}edges")
        distinct: dict[Edge, str] = {}
        for edge, at in edges:
            distinct.setdefault(edge, at)
        owner = path.rstrip("/")
        for number, at in enumerate(distinct.values()):
            self.places.edges[owner, f"{field}edges[{number}]"] = self.telling.at(at)
        return nodes, list(distinct)

    def well_formed(self, node: Any, place: str) -> bool:
        if not isinstance(node, dict):
            self.telling.wrong("INVALID_SCHEMA", place, _("A node must be an object with an id."), fatal=True)
            return False
        if not isinstance(node.get("id"), str) or not node["id"]:
            message = _("The id of a node must be a text.")
            self.telling.wrong("INVALID_SCHEMA", f"{place}.id", message, fatal=True)
            return False
        return True

    def declared(self, edges: Any, known: Mapping[str, Document], place: str) -> Iterator[Placed]:
        if not isinstance(edges, list):
            if edges is not None:
                self.telling.wrong("INVALID_SCHEMA", place, _("edges must be a list."), fatal=True)
            return
        for number, edge in enumerate(edges):
            at = edge.at if isinstance(edge, PlacedEdge) else f"{place}[{number}]"
            if not isinstance(edge, dict):
                self.telling.wrong("INVALID_SCHEMA", at, _("An edge must be an object."), fatal=True)
                continue
            lacks = [name for name in ("from", "to") if not isinstance(edge.get(name), str) or not edge[name]]
            for name in lacks:
                message = _("An edge needs the nodes from and to.")
                self.telling.wrong("INVALID_SCHEMA", f"{at}.{name}" if "edges[" in at else at, message, fatal=True)
            if lacks:
                continue
            if edge.get("note"):
                self.telling.note("lost", f"{at}.note", _("Edges have no notes."))
            yield self.edge(edge, known.get(edge["from"], {}), at), at

    def edge(self, edge: Document, source: Document, at: str) -> Edge:
        """An edge that the document declares; from a branch that is null it is never taken."""
        condition = None if edge.get("condition") is None else str(edge["condition"])
        name = BRANCHES.get(condition or "")
        if condition == NEVER or (source.get("type") == "condition" and name in source and source[name] is None):
            template = _("The edge is never taken: this branch of {node} is null and ends there.")
            message = template.format(node=edge["from"])
            self.telling.wrong("INVALID_EDGE", f"{at}.condition", message, severity="warning")
            condition = NEVER
        return Edge(source=edge["from"], target=edge["to"], condition=condition)

    def node(self, node: Document, scope: NameScope, place: str, path: str) -> Iterator[tuple[Document, list[Placed]]]:
        """The node with the edges that leave it; a switch gives several."""
        kind, here = node.get("type"), path + node["id"]
        edges: list[Placed] = []
        self.places.node(here, node["id"])
        match kind:
            case "start" | "end":
                made = {"kind": kind, "params": {}}
            case "action":
                made = self.action(node, scope, place)
                fields = (("params", ""), ("action", "action_id"), ("output", "out_params_schema"))
                self.places.node(here, node["id"], fields)
            case "condition":
                condition = self.condition(node["params"], scope, f"{place}.params")
                made, edges = {"kind": "condition", "params": condition}, _branches(node, condition, place)
                self.placed_targets(node, place)
            case "loop":
                made = loops.read(self, node, scope, place, path)
            case "parallel":
                made, edges = self.parallel(node, scope, place, path)
            case "switch":
                yield from self.switch(node, scope, place, path)
                return
            case "reasoning" | "data":
                made = self.reasoning(node, scope, place, here)
            case _:
                made = self.placeholder(node, here)
                message = _("It must be one of: {names}").format(names=_(", ").join(TYPES))
                self.telling.wrong("INVALID_SCHEMA", f"{place}.type", message, fatal=True)
        self.forgotten(node, place)
        yield {"id": node["id"], "name": str(node.get("display_name") or ""), **made}, edges

    def placeholder(self, node: Document, path: str) -> Document:
        """The replacement of an unreadable node in the workflow."""
        self.places.broken.add(path)
        return dict(_PLACEHOLDER)

    def placed_targets(self, node: Document, place: str) -> None:
        """Targets of branches that are not names."""
        for name in (*BRANCHES.values(), "default_to_node"):
            if not isinstance(node.get(name), (str, type(None))):
                message = _("It must be the id of a node, or null.")
                self.telling.wrong("INVALID_SCHEMA", f"{place}.{name}", message)

    def forgotten(self, node: Document, place: str) -> None:
        known = {"id", "type", "display_name", "params", "action_id", "out_params_schema", "parent_node_id"}
        known |= {"true_to_node", "false_to_node", "cases", "default_to_node", "depends_on"}
        for key in (one for one in node if one not in known):
            self.telling.note("lost", f"{place}.{key}", _("{name} has no meaning in a node.").format(name=key))
        if node.get("type") in ("start", "end") and node["params"]:
            self.telling.note("lost", f"{place}.params", _("start and end have no params."))
        if node.get("type") != "condition":
            for name in BRANCHES.values():
                if node.get(name) is not None:
                    self.telling.wrong("INVALID_SCHEMA", f"{place}.{name}", _("Only conditions have branches."))
        if node.get("type") != "loop" and "exports" in node["params"]:
            self.telling.wrong("INVALID_SCHEMA", f"{place}.params.exports", _("Only loops have exports."))

    def action(self, node: Document, scope: NameScope, place: str) -> Document:
        given: Document = {}
        for key, value in node["params"].items():
            if key.startswith(_CONTROL) and not key.startswith("__from"):
                message = _("The action runs to its end; nothing else controls it.")
                self.telling.note("lost", f"{place}.params.{key}", message)
            elif key != "exports":
                given[key] = self.references.value(value, scope, f"{place}.params.{key}")
        action, schema = node.get("action_id"), node.get("out_params_schema")
        if not isinstance(schema, (dict, type(None))):
            self.telling.wrong("INVALID_SCHEMA", f"{place}.out_params_schema", _("It must be an object."))
        params: Document = {"action": action if isinstance(action, str) else "", "params": given}
        return {
            "kind": "action",
            "params": params | ({"output": schema} if schema and isinstance(schema, dict) else {}),
        }

    def condition(self, params: Mapping[str, Any], scope: NameScope, place: str) -> Document:
        """The parameters of a condition, also of a loop's; a null is a value to compare with."""
        known = Condition.model_fields
        for key in (one for one in params if one not in known and one != "exports"):
            message = _("{name} has no meaning in a condition.").format(name=key)
            self.telling.wrong("UNKNOWN_PARAM", f"{place}.{key}", message)
        open_ones = ("kind", "field", "bands", "op", "pattern", "expression")
        made = {
            key: value for key, value in params.items() if key in known and not (value is None and key in open_ones)
        }
        if "source" in made:
            made["source"] = self.references.source(made["source"], scope, f"{place}.source")
        for name in ("value", "threshold", "min", "max"):
            if name in made:
                made[name] = self.references.value(made[name], scope, f"{place}.{name}")
        if isinstance(made.get("expression"), str):
            made["expression"] = self.references.expression(made["expression"], scope, f"{place}.expression")
        if isinstance(made.get("bands"), list) and made.get("kind") in _BANDED:
            made["bands"] = [
                {key: band.get(key) for key in ("label", "min", "max")} if isinstance(band, dict) else band
                for band in made["bands"]
            ]
        return made

    def parallel(self, node: Document, scope: NameScope, place: str, path: str) -> tuple[Document, list[Placed]]:
        """Converts branches that hold nodes; a node whose branches only name nodes, or that has none, only splits the
        flow."""
        branches = node["params"].get("branches") or []
        if not branches:
            message = _("It has no branches: it only splits the flow.")
            self.telling.wrong("MISSING_REQUIRED_PARAM", f"{place}.params.branches", message, severity="warning")
        many = branches if isinstance(branches, (dict, list)) else []
        named = many if isinstance(many, dict) else {str(n + 1): one for n, one in enumerate(many)}
        bodies = {name: one for name, one in named.items() if isinstance(one, dict) and "nodes" in one}
        if not bodies:
            message = _("It only splits the flow: nodes that do not depend on each other run in parallel.")
            self.telling.note("changed", place, message)
            ways = [one for one in named.values() if isinstance(one, str) and one != "null"]
            at = f"{place}.params.branches"
            return {"kind": "end", "params": {}}, [(Edge(source=node["id"], target=way), at) for way in ways]
        made = {}
        here = f"{path}{node['id']}"
        for number, (name, branch) in enumerate(bodies.items()):
            message = str(branch.get("name") or name)
            part = f"{here}/{message}/" if len(bodies) > 1 else f"{here}/"
            at = f"{place}.params.branches[{number}]."
            if (body := self.body(branch, scope, at, part, f"branches.{message}.")) is not None:
                made[message] = body
        if not made:
            return self.placeholder(node, here), []
        return {"kind": "parallel", "params": {"branches": made}}, []

    def body(self, body: Mapping[str, Any], scope: NameScope, place: str, path: str, field: str) -> Document | None:
        """A graph inside a node; None when it has no nodes. `scope` is that around it, with the names it finds."""
        nodes = body["nodes"] if isinstance(body.get("nodes"), list) else []
        if not any(isinstance(node, dict) and node.get("id") for node in nodes):
            self.telling.wrong("INVALID_LOOP_BODY", f"{place}nodes", _("The body has no nodes."), fatal=True)
            return None
        made, edges = self.graph({**body, "nodes": nodes}, scope, place, path, field)
        if not made:
            return None
        if "exports" in body:
            message = _("The exports of a loop belong in params.exports, not in the body.")
            self.telling.wrong("INVALID_SCHEMA", f"{place}exports", message)
        ids = [node["id"] for node in made]
        for name in ("entry", "exit"):
            for one in body[name] if isinstance(body.get(name), list) else [body.get(name)]:
                if one is not None and one not in ids:
                    message = _("{node} is not in the body. Nodes: {names}")
                    message = message.format(node=str(one)[:80], names=_(", ").join(ids[:20]))
                    self.telling.wrong("INVALID_EDGE", f"{place}{name}", message)
        leaving = body.get("exit")
        if isinstance(leaving, list) and leaving:
            self.telling.note("changed", f"{place}exit", _("A body has one exit: the last of them."))
            leaving = leaving[-1]
        leaving = leaving if leaving in ids else None
        return {"nodes": made, "edges": [edge.model_dump() for edge in edges]} | ({"exit": leaving} if leaving else {})

    def switch(
        self, node: Document, scope: NameScope, place: str, path: str
    ) -> Iterator[tuple[Document, list[Placed]]]:
        """Conditions, one behind the other: each compares with one case and leads to it, or to the next."""
        given = node.get("cases")
        cases = [case for case in given if isinstance(case, dict)] if isinstance(given, list) else []
        if not cases:
            field = "cases" if "cases" in node else "type"
            self.telling.wrong("INVALID_SCHEMA", f"{place}.{field}", _("A switch needs cases."), fatal=True)
            yield {"id": node["id"], "name": "", **self.placeholder(node, path + node["id"])}, []
            return
        self.telling.note("changed", place, _("A switch is a chain of conditions, one for each case."))
        self.placed_targets(node, place)
        shared = {key: value for key, value in node["params"].items() if key not in ("kind", "op", "value")}
        params = self.condition({**shared, "kind": "compare", "op": "=="}, scope, f"{place}.params")
        ids = [node["id"] if not number else f"{node['id']}_{number + 1}" for number in range(len(cases))]
        for number, case in enumerate(cases):
            at = f"{place}.cases[{number}]"
            last = number + 1 == len(cases)
            after = (node.get("default_to_node"), f"{place}.default_to_node") if last else (ids[number + 1], at)
            edges = [
                (Edge(source=ids[number], target=target, condition=label), where)
                for label, (target, where) in (("true", (case.get("to_node"), f"{at}.to_node")), ("false", after))
                if isinstance(target, str) and target and target != "null"
            ]
            if not isinstance(case.get("to_node"), (str, type(None))):
                message = _("It must be the id of a node, or null.")
                self.telling.wrong("INVALID_SCHEMA", f"{at}.to_node", message)
            match = self.references.value(case.get("match"), scope, f"{at}.match")
            named = {"id": ids[number], "name": str(node.get("display_name") or "")}
            self.places.node(path + ids[number], node["id"], (("value", f"cases[{number}].match"),))
            yield {**named, "kind": "condition", "params": {**params, "value": match}}, edges
        self.forgotten(node, place)

    def reasoning(self, node: Document, scope: NameScope, place: str, path: str) -> Document:
        """Today's nodes without an action: a question to the model, and data in the document."""
        params = {key: value for key, value in node["params"].items() if key != "exports"}
        if node["type"] == "data":
            self.places.node(path, node["id"], (("value", "dataset" if "dataset" in params else ""),))
            made = self.references.value(params, scope, f"{place}.params")
            return {"kind": "end", "params": {"value": made.get("dataset", made)}}
        self.telling.note("changed", place, _("It becomes a prompt; tools and the answer format are not carried over."))
        prompt_key = "task_prompt" if "task_prompt" in params else "prompt"
        self.places.node(path, node["id"], (("system", "system_prompt"), ("prompt", prompt_key)))
        found = {}
        for name, key in (("system", "system_prompt"), ("prompt", prompt_key)):
            if isinstance(text := params.get(key), str):
                found[name] = [{"kind": "text", "text": self.references.prompt(text, scope, f"{place}.params.{key}")}]
        return {"kind": "prompt", "params": found}


def _branches(node: Document, condition: Document, place: str) -> list[Placed]:
    """The edges to the targets of a condition; "true" is every band of a banded one."""
    given = condition.get("bands")
    bands = [str(one.get("label")) for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    labels = {"true": bands if condition.get("kind") in _BANDED else ["true"], "false": ["false"]}
    return [
        (Edge(source=node["id"], target=target, condition=label), f"{place}.{name}_to_node")
        for name, many in labels.items()
        for label in many
        if isinstance(target := node.get(f"{name}_to_node"), str) and target
    ]


def _ids_and_aliases(graph: Any) -> Iterator[str]:
    """Ids of all nodes and names that loops give their items, at any depth."""
    waiting = [graph]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if "type" in part and isinstance(part.get("id"), str):
                yield part["id"]
            if isinstance(alias := part.get("item_alias"), str):
                yield alias
            waiting += [value for value in part.values() if isinstance(value, (dict, list))]
