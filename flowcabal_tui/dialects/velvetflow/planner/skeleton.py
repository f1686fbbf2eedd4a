"""A workflow under construction by VelvetFlow's planner: flat nodes with their parents, in the terms of its tools.

Nodes may refer to later ones. The terms are interpreted when the document is read.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow.document import BRANCHES, Document
from flowcabal_tui.domain.reaching import reached
from flowcabal_tui.locale import _

BODY: Final = "body_subgraph"
_ENDS: Final = ("start", "end", "exit")
_RESULT: Final = re.compile(r"result_of\.([^\s.\[\]{}()'\",|]+)")


@dataclass
class Skeleton:
    """`nodes` by id, in the order of creation; `edges` are those of the original document."""

    name: str = "unnamed_workflow"
    description: str = ""
    nodes: dict[str, Document] = field(default_factory=dict)
    edges: list[Document] = field(default_factory=list)

    @classmethod
    def of(cls, document: Document) -> Skeleton:
        """The skeleton of a document. Raises DialectError for another form, or for a duplicate id."""
        given = copy.deepcopy(document)
        _require_form(given)
        name = str(given.get("workflow_name") or "unnamed_workflow")
        made = cls(name, str(given.get("description") or ""), edges=given.get("edges") or [])
        made._take(given["nodes"], None)
        return made

    def _take(self, nodes: list[Document], parent: str | None) -> None:
        for node in nodes:
            if node["id"] in self.nodes:
                raise DialectError(_("The id {id} occurs twice.").format(id=node["id"]))
            self.nodes[node["id"]] = {**node, "parent_node_id": parent}
            if node["type"] == "loop" and BODY in node["params"]:
                self._take(node["params"][BODY].pop("nodes", []), node["id"])

    def document(self, *, derived: bool = True) -> Document:
        """The document. `derived`: with an edge for each branch and each reference, as the planner shows it."""
        nodes = [self._nested(node) for node in self.children(None)]
        edges = [*copy.deepcopy(self.edges), *(self._derived(nodes) if derived else ())]
        return {"workflow_name": self.name, "description": self.description, "nodes": nodes, "edges": edges}

    def children(self, parent: str | None) -> list[Document]:
        """The nodes of a graph."""
        return [node for node in self.nodes.values() if node.get("parent_node_id") == parent]

    def _nested(self, node: Document) -> Document:
        made = copy.deepcopy(node)
        inside = [self._nested(each) for each in self.children(node["id"])]
        rest = made["params"].pop(BODY, None) if made.get("type") == "loop" else None
        if inside or rest:
            made["params"][BODY] = {**(rest or {}), "nodes": inside}
        return made

    def _derived(self, nodes: list[Document]) -> Iterator[Document]:
        known = [node["id"] for node in nodes]
        drawn = {(edge.get("from"), edge.get("to")) for edge in self.edges}
        for node in nodes:
            for label, target in BRANCHES.items():
                if node.get(target) is not None:
                    yield {"from": node["id"], "to": node[target], "condition": label}
            for source in references(node.get("params"), known):
                if source != node["id"] and (source, node["id"]) not in drawn:
                    yield {"from": source, "to": node["id"]}

    def without_upstream(self) -> list[Document]:
        """The nodes to which no edge leads."""
        document = self.document()
        led_to = {edge.get("to") for edge in document["edges"]}
        return [
            {key: node.get(key) for key in ("id", "type", "action_id", "display_name")}
            for node in document["nodes"]
            if node["id"] not in led_to and node.get("type") not in _ENDS
        ]

    def readable(self, name: str) -> tuple[str, ...]:
        """The nodes whose outputs a node may read: those of its graph and of the enclosing graphs, except its
        successors."""
        edges = self._all_edges()
        behind = reached([name], lambda at: (target for source, target in edges if source == at))
        parent = self.nodes[name].get("parent_node_id")
        around = (parent, None)
        return tuple(
            each for each, node in self.nodes.items() if node.get("parent_node_id") in around and each not in behind
        )

    def _all_edges(self) -> set[tuple[str, str]]:
        declared = {(str(edge.get("from")), str(edge.get("to"))) for edge in self.edges}
        for node in self.nodes.values():
            declared |= {(node["id"], str(node[key])) for key in BRANCHES.values() if node.get(key)}
            declared |= {(source, node["id"]) for source in references(node.get("params"), self.nodes)}
            if node.get("parent_node_id"):
                declared.add((node["id"], node["parent_node_id"]))
        return declared


def _require_form(graph: Any) -> None:
    """Raises DialectError unless nodes have an id, a type and parameters, at any depth."""
    nodes: Any = graph.get("nodes", []) if isinstance(graph, dict) else None
    edges: Any = (graph.get("edges") or []) if isinstance(graph, dict) else None
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise DialectError(_("nodes must be a list."))
    if not all(isinstance(each, dict) for each in (*nodes, *edges)):
        raise DialectError(_("A node has an id, a type and parameters."))
    for node in nodes:
        texts = isinstance(node.get("id"), str) and isinstance(node.get("type"), str)
        if not texts or not isinstance(node.setdefault("params", {}), dict):
            raise DialectError(_("A node has an id, a type and parameters."), str(node.get("id"))[:60])
        if node["type"] == "loop" and BODY in node["params"]:
            _require_form(node["params"][BODY])


def references(value: Any, known: Collection[str]) -> list[str]:
    """The `known` nodes that a value references by `result_of`, each once, in order."""
    named: set[str] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            named.update(_RESULT.findall(each))
        elif isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return [name for name in known if name in named]


MOST_POINTS: Final = 20
_FENCE: Final = re.compile(r"\A\s*```\w{0,10}\s*(.*?)\s*```\s*\Z", re.DOTALL)


def coverage_request(wish: str, document: Document) -> str:
    """The text of the question: the request and the workflow, without its edges."""
    shown = {key: value for key, value in document.items() if key != "edges"}
    return json.dumps({"nl_requirement": wish, "workflow": shown}, ensure_ascii=False)


def read_coverage(text: str) -> Document:
    """The parsed answer; an unreadable one covers nothing."""
    fenced = _FENCE.match(text)
    try:
        value: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    return {"is_covered": False, "missing_points": [], "analysis": ""}


def missing_points(coverage: Document) -> list[str]:
    """The missing points in an answer, as far as they are texts."""
    points = coverage.get("missing_points")
    return [each for each in points if isinstance(each, str)][:MOST_POINTS] if isinstance(points, list) else []
