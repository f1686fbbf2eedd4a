"""The place of a node in a document: at the top, in the body of a loop or branch, or as a step of a node."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.domain.workflow import Body, Edge, Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.kinds.steps import WritingStep
from flowcabal_tui.nodes.registry import kind_named

STEPS: Final = "steps"
"""In place of a body's field: the model calls of a recursive or evolution node, edited as prompt nodes."""
Owners = tuple[tuple[NodeId, str], ...]
"""From the outside inwards: a node, and the field of it that holds the body."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes and edges of a document, or of one body in it."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    def node(self, node: NodeId) -> Node | None:
        """The node with that id."""
        return next((each for each in self.nodes if each.id == node), None)


@dataclass(frozen=True, slots=True)
class Spot:
    """A node and its place in the document."""

    owners: Owners
    node: NodeId

    @property
    def is_step(self) -> bool:
        """True for a model call of its owner, which can be edited, but not moved or removed."""
        return bool(self.owners) and self.owners[-1][1] == STEPS

    @property
    def path(self) -> NodeId:
        """Its path in findings: the ids around it, including the branch if a node has several bodies."""
        parts = [part for owner, field in self.owners for part in (owner, field.partition(".")[2]) if part]
        return NodeId("/".join((*parts, self.node)))


def bodies_of(node: Node) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """The graphs and steps inside a node, by field; unreadable ones are skipped."""
    kind = kind_named(node.kind)
    if kind is None:
        return
    for field, raw in _raw_bodies(node):
        try:
            yield field, Body.model_validate(raw).nodes
        except ValidationError:
            continue
    found = {name: node.params.get(name) for name in _step_fields(node)}
    steps = tuple(Node(id=NodeId(name), params=raw) for name, raw in found.items() if isinstance(raw, dict))
    if steps:
        yield STEPS, steps


def _raw_bodies(node: Node) -> Iterator[tuple[str, Any]]:
    if isinstance(body := node.params.get("body"), dict):
        yield "body", body
    if isinstance(branches := node.params.get("branches"), dict):
        yield from ((f"branches.{name}", body) for name, body in branches.items())


def _step_fields(node: Node) -> tuple[str, ...]:
    kind = kind_named(node.kind)
    fields = kind.params.model_fields.items() if kind else ()
    return tuple(name for name, field in fields if _is_step(field.annotation))


def _is_step(annotation: Any) -> bool:
    options = (annotation, *typing.get_args(annotation))
    return any(isinstance(each, type) and issubclass(each, WritingStep) for each in options)


def graph_at(workflow: Workflow, owners: Owners) -> Graph:
    """The document's graph, or that of a body. Raises WorkflowError when it no longer exists."""
    graph = Graph(workflow.nodes, workflow.edges)
    for owner, field in owners:
        node = graph.node(owner)
        if node is None:
            raise WorkflowError(_("The node {node} no longer exists.").format(node=owner))
        graph = _inside(node, field)
    return graph


def _inside(node: Node, field: str) -> Graph:
    if field == STEPS:
        return Graph(dict(bodies_of(node)).get(STEPS, ()))
    for name, raw in _raw_bodies(node):
        if name == field:
            body = Body.model_validate(raw)
            return Graph(body.nodes, body.edges)
    raise WorkflowError(_("The node {node} no longer exists.").format(node=node.id))


def with_graph(workflow: Workflow, owners: Owners, graph: Graph) -> Workflow:
    """The document with the graph at that place replaced. Raises WorkflowError for an empty body."""
    if not owners:
        return workflow.model_copy(update={"nodes": graph.nodes, "edges": graph.edges})
    *outer, (owner, field) = owners
    around = graph_at(workflow, tuple(outer))
    nodes = tuple(_put_inside(each, field, graph) if each.id == owner else each for each in around.nodes)
    return with_graph(workflow, tuple(outer), Graph(nodes, around.edges))


def _put_inside(node: Node, field: str, graph: Graph) -> Node:
    if field == STEPS:
        steps = {each.id: {key: each.params[key] for key in each.params if key in WritingStep.model_fields}
                 for each in graph.nodes}  # fmt: skip
        return node.model_copy(update={"params": node.params | steps})
    if not graph.nodes:
        raise WorkflowError(_("A body needs at least one node."), "", _("Remove the node that contains it instead."))
    top, _dot, branch = field.partition(".")
    old = node.params[top][branch] if branch else node.params[top]
    body = {**old, "nodes": [each.model_dump(mode="json") for each in graph.nodes],
            "edges": [each.model_dump(mode="json") for each in graph.edges]}  # fmt: skip
    if body.get("exit") not in {each.id for each in graph.nodes}:
        body.pop("exit", None)
    whole = node.params[top] | {branch: body} if branch else body
    return node.model_copy(update={"params": node.params | {top: whole}})


def spot_of(workflow: Workflow, path: NodeId) -> Spot | None:
    """The place of a path, whether of the document (`loop/draft`) or of a run (`loop/3/draft`)."""
    return _find(workflow.nodes, tuple(path.split("/")), ())


def _find(nodes: tuple[Node, ...], parts: tuple[str, ...], owners: Owners) -> Spot | None:
    first, rest = NodeId(parts[0]), parts[1:]
    node = next((each for each in nodes if each.id == first), None)
    if node is None:
        return None
    if not rest:
        return Spot(owners, first)
    for field, inner in bodies_of(node):
        below, known, branch = (*owners, (first, field)), {each.id for each in inner}, field.partition(".")[2]
        if branch:
            ways = [rest[1:]] if rest[0] == branch and rest[1:] else []
        else:
            ways = [rest] if rest[0] in known else [rest[1:]] if rest[1:] else []
        for way in ways:
            if field == STEPS and way[0].startswith("candidate-"):
                way = ("write", *way[1:])
            if (found := _find(inner, way, below)) is not None:
                return found
    return None


_PART: Final = "part_of"


def part_for_editor(workflow: Workflow, spot: Spot) -> Workflow:
    """The graph around a node as a document of its own, with a reference to its place."""
    if not spot.owners:
        return workflow
    graph = graph_at(workflow, spot.owners)
    known = {_PART: [list(owner) for owner in spot.owners]}
    return workflow.model_copy(update={"nodes": graph.nodes, "edges": graph.edges, "metadata": known})


def whole_with(workflow: Workflow, part: Workflow) -> Workflow:
    """The document with an edited part put back. Raises WorkflowError when its place no longer exists."""
    owners = tuple((NodeId(owner), str(field)) for owner, field in part.metadata.get(_PART, ()))
    return with_graph(workflow, owners, Graph(part.nodes, part.edges))
