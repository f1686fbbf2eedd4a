"""The changes of a graph: add, rename, remove, move, copy and paste, connect and disconnect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import canonical
from flowcabal_tui.domain.text import slug
from flowcabal_tui.domain.workflow import Edge, Node, TextBlock, VirtualBlock, Workflow
from flowcabal_tui.nodes.graph import dependencies, kind_and_params, needed_for, needs_of
from flowcabal_tui.nodes.registry import kind_named
from flowcabal_tui.tui.editing.places import Graph
from flowcabal_tui.tui.editing.starters import resolved, starter

BLOCK_FIELDS: Final = ("prompt", "proposal", "start")
"""The field in which an output becomes a block, for kinds that have one."""
_END: Final = r"(?![\w-])"


@dataclass(frozen=True, slots=True)
class Link:
    """One connection from `source` to `target`: a block, a binding in a field, or an edge."""

    source: NodeId
    target: NodeId
    form: str
    """block, text, field or edge"""
    place: str = ""
    """The field of a block or binding; the branch of an edge, "" for always."""


def fresh_id(wanted: str, taken: Collection[str]) -> NodeId:
    """An unused id made of the wanted name."""
    base = slug(wanted).strip("-") or "node"
    number = 2
    found = base
    while found in taken:
        found, number = f"{base}-{number}", number + 1
    return NodeId(found[:80])


def added(graph: Graph, kind: str, name: str, after: NodeId | None) -> tuple[Graph, NodeId]:
    """The graph with a new node after another one, or at the end, and the id of that node."""
    known = {each.id for each in graph.nodes}
    made = Node(id=fresh_id(name or kind, known), kind=kind, name=name, params=starter(kind))
    return _inserted(graph, (made,), after), made.id


def _inserted(graph: Graph, nodes: tuple[Node, ...], after: NodeId | None) -> Graph:
    place = next((n + 1 for n, each in enumerate(graph.nodes) if each.id == after), len(graph.nodes))
    return Graph((*graph.nodes[:place], *nodes, *graph.nodes[place:]), graph.edges)


def with_node(graph: Graph, node: Node) -> Graph:
    """The graph with one node replaced; its id is the same."""
    return Graph(tuple(node if each.id == node.id else each for each in graph.nodes), graph.edges)


def moved(graph: Graph, node: NodeId, step: int) -> Graph:
    """The graph with a node moved earlier or later in the document."""
    nodes = list(graph.nodes)
    at = next((n for n, each in enumerate(nodes) if each.id == node), None)
    if at is None or not 0 <= at + step < len(nodes):
        return graph
    nodes.insert(at + step, nodes.pop(at))
    return Graph(tuple(nodes), graph.edges)


def who_reads(graph: Graph, node: NodeId) -> tuple[Node, ...]:
    """The nodes that refer to a node, by reference or edge."""
    known = {each.id for each in graph.nodes}
    by_edge = {edge.target for edge in graph.edges if edge.source == node}
    others = [each for each in graph.nodes if each.id != node]
    return tuple(each for each in others if each.id in by_edge or node in _reads(each, known))


def _reads(node: Node, known: Collection[NodeId]) -> tuple[NodeId, ...]:
    try:
        return needs_of(*kind_and_params(node), known)[0]
    except WorkflowError:
        plain = canonical(node.params)
        return tuple(each for each in known if re.search(rf'(result_of\.|"){re.escape(each)}{_END}', plain))


def removed(graph: Graph, node: NodeId) -> Graph:
    """The graph without a node, its edges and the blocks with its output; bindings in texts are not changed."""
    nodes = tuple(_without_blocks(each, node) for each in graph.nodes if each.id != node)
    return Graph(nodes, tuple(edge for edge in graph.edges if node not in (edge.source, edge.target)))


def _without_blocks(node: Node, source: NodeId) -> Node:
    def pruned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: pruned(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [pruned(part) for part in value if not _is_block_of(part, source)]
        return value

    return node.model_copy(update={"params": pruned(node.params)})


def _is_block_of(value: Any, source: NodeId) -> bool:
    return isinstance(value, dict) and value.get("kind") == "virtual" and value.get("node") == source


def with_id(graph: Graph, node: NodeId, wanted: str) -> tuple[Graph, NodeId]:
    """The graph with another id for a node, in every block, binding and edge that names it."""
    new = fresh_id(wanted, {each.id for each in graph.nodes} - {node})
    names = {node: new}
    nodes = tuple(_renamed(each, names) for each in graph.nodes)
    return Graph(nodes, tuple(_renamed_edge(edge, names) for edge in graph.edges)), new


def _renamed(node: Node, names: Mapping[NodeId, NodeId]) -> Node:
    pattern = re.compile(rf"\bresult_of\.({'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))}){_END}")

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            made = {key: changed(part) for key, part in value.items()}
            if made.get("kind") == "virtual" and made.get("node") in names:
                made["node"] = names[made["node"]]
            return made
        if isinstance(value, (list, tuple)):
            return [changed(part) for part in value]
        if isinstance(value, str):
            return pattern.sub(lambda match: f"result_of.{names[NodeId(match[1])]}", value)
        return value

    return node.model_copy(update={"id": names.get(node.id, node.id), "params": changed(node.params)})


def _renamed_edge(edge: Edge, names: Mapping[NodeId, NodeId]) -> Edge:
    ends = {"source": names.get(edge.source, edge.source), "target": names.get(edge.target, edge.target)}
    return edge.model_copy(update=ends)


def pasted(graph: Graph, copied: Iterable[Node], after: NodeId | None) -> tuple[Graph, NodeId | None]:
    """The graph with copies that have unused ids and refer to each other as the originals did."""
    taken = {each.id for each in graph.nodes}
    names: dict[NodeId, NodeId] = {}
    originals = tuple(copied)
    for each in originals:
        names[each.id] = fresh_id(each.id, {*taken, *names.values()})
    made = tuple(_renamed(each, names) for each in originals)
    return _inserted(graph, made, after), made[0].id if made else None


def possible_sources(workflow: Workflow, graph: Graph, node: NodeId) -> tuple[Node, ...]:
    """The nodes that can precede a node without a cycle: those of its graph that do not need it."""
    beside = workflow.model_copy(update={"nodes": graph.nodes, "edges": graph.edges})
    try:
        needs = dependencies(beside)
    except WorkflowError:
        needs = {}
    others = [each for each in graph.nodes if each.id != node]
    return tuple(each for each in others if each.id not in needs or node not in needed_for(needs, (each.id,)))


def branches_of(node: Node) -> tuple[str, ...]:
    """The labels by which edges leave a branching node."""
    kind = kind_named(node.kind)
    if kind is None:
        return ()
    try:
        return kind.labels(kind.params.model_validate(node.params))
    except ValidationError:
        return ()


def bindable(node: Node) -> tuple[str, ...]:
    """The fields of a node that can be one binding: those that take any value."""
    kind = kind_named(node.kind)
    if kind is None:
        return ()
    schema = kind.params.model_json_schema()
    known = schema.get("$defs", {})
    return tuple(name for name, part in schema.get("properties", {}).items()
                 if not {"type", "anyOf", "enum", "properties"} & set(resolved(part, known)))  # fmt: skip


def block_fields(node: Node) -> tuple[str, ...]:
    """The lists of blocks to which an output can be added."""
    kind = kind_named(node.kind)
    return tuple(field for field in BLOCK_FIELDS if kind is not None and field in kind.params.model_fields)


def connected(graph: Graph, link: Link) -> Graph:
    """The graph with one more connection."""
    if link.form == "edge":
        edge = Edge(source=link.source, target=link.target, condition=link.place or None)
        return graph if edge in graph.edges else Graph(graph.nodes, (*graph.edges, edge))
    node = graph.node(link.target)
    if node is None:
        return graph
    value: Any = {FROM: f"result_of.{link.source}"}
    if link.form != "field":
        binding = TextBlock(text=f"{{{{result_of.{link.source}}}}}")
        block = VirtualBlock(node=link.source) if link.form == "block" else binding
        value = [*(node.params.get(link.place) or ()), block.model_dump(mode="json")]
    return with_node(graph, node.model_copy(update={"params": {**node.params, link.place: value}}))


def links_into(graph: Graph, node: NodeId) -> tuple[Link, ...]:
    """The connections that end at a node and can be removed one by one; bindings inside texts are excluded."""
    found = graph.node(node)
    if found is None:
        return ()
    made = [Link(edge.source, node, "edge", edge.condition or "") for edge in graph.edges if edge.target == node]
    for field in block_fields(found):
        for block in found.params.get(field) or ():
            if isinstance(block, dict) and block.get("kind") == "virtual":
                made.append(Link(NodeId(block["node"]), node, "block", field))
    for field in bindable(found):
        value = found.params.get(field)
        path = value.get(FROM) if isinstance(value, dict) else value
        if isinstance(path, str) and path.startswith("result_of."):
            made.append(Link(NodeId(path.removeprefix("result_of.")), node, "field", field))
    return tuple(made)


def disconnected(graph: Graph, link: Link) -> Graph:
    """The graph without one connection."""
    if link.form == "edge":
        gone = (link.source, link.target, link.place or None)
        return Graph(graph.nodes, tuple(e for e in graph.edges if (e.source, e.target, e.condition) != gone))
    node = graph.node(link.target)
    if node is None:
        return graph
    value: Any = None
    if link.form == "block":
        value = [block for block in node.params.get(link.place) or () if not _is_block_of(block, link.source)]
    return with_node(graph, node.model_copy(update={"params": {**node.params, link.place: value}}))
