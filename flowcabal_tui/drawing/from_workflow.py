"""The drawing of a workflow document, valid or not: unknown kinds and dangling references are drawn too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flowcabal_tui.domain.bindings import references
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.drawing.text_width import one_line
from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies

_DEEPEST: Final = 20
_MOST_CHARACTERS: Final = 120
_BRANCHES: Final = (("true_to_node", "true"), ("false_to_node", "false"))


def drawing_of(workflow: Workflow) -> Drawing:
    """Nodes with their kinds and inputs, references and edges as arrows, the bodies of composite nodes as frames."""
    return _Sketch().of(workflow)


@dataclass(frozen=True, slots=True)
class _Scope:
    """A body: what its names mean, itself and then the scopes around it."""

    group: str | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    outer: _Scope | None = None
    depth: int = 0
    ids: dict[str, str] = field(default_factory=dict)

    def drawn(self, name: str) -> str | None:
        """The id under which the node called `name` here is drawn."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.ids:
                return scope.ids[name]
            scope = scope.outer
        return None


class _Sketch:
    def __init__(self) -> None:
        self._nodes: dict[str, DrawnNode] = {}
        self._labels: dict[tuple[str, str], dict[str, None]] = {}
        self._missing: dict[str, str] = {}

    def of(self, workflow: Workflow) -> Drawing:
        scopes = [_Scope(None, workflow.nodes, workflow.edges)]
        for scope in scopes:
            scopes += self._bodies(scope)
        for scope in scopes:
            self._arrows(scope)
        around = Drawing(tuple(self._nodes.values())).paths()
        inward = {(source, holder) for source, target in self._labels for holder in around[target][:-1]}
        edges = tuple(
            DrawnEdge(source, target, ", ".join(filter(None, labels)))
            for (source, target), labels in self._labels.items()
            if any(labels) or (source, target) not in inward
        )
        return Drawing(tuple(self._nodes.values()), edges)

    def _bodies(self, scope: _Scope) -> list[_Scope]:
        """Draws the nodes of a scope; the scopes inside them."""
        found: list[_Scope] = []
        for node in scope.nodes:
            bodies = dict(_bodies_in(node.params)) if scope.depth < _DEEPEST else {}
            shown = {key: value for key, value in node.params.items() if not _is_body_holder(value)}
            drawn = self._draw(node.id, node.title, node.kind, tuple(_lines(shown)), scope.group)
            scope.ids.setdefault(node.id, drawn)
            for name, body in bodies.items():
                group = drawn if len(bodies) == 1 else self._draw(f"{drawn}/{name}", name, "", (), drawn)
                found.append(_Scope(group, _nodes_in(body), _edges_in(body), scope, scope.depth + 1))
        return found

    def _draw(self, name: str, title: str, kind: str, lines: tuple[str, ...], group: str | None) -> str:
        unique = name if group is None or name.startswith(f"{group}/") else f"{group}/{name}"
        while unique in self._nodes:
            unique += "′"
        self._nodes[unique] = DrawnNode(unique, title, kind, lines, group)
        return unique

    def _arrows(self, scope: _Scope) -> None:
        for node, sources in zip(scope.nodes, _sources(scope), strict=True):
            inner = {name for _key, body in _bodies_in(node.params) for name in map(_id_in, _raw_nodes(body))}
            for source in sources:
                if source not in inner or scope.drawn(source) is not None:
                    self._join(scope, source, node.id, "")
            for key, label in _BRANCHES:
                if isinstance(target := node.params.get(key), str) and target:
                    self._join(scope, node.id, target, label)
        for edge in scope.edges:
            self._join(scope, edge.source, edge.target, edge.condition or "")

    def _join(self, scope: _Scope, source: str, target: str, label: str) -> None:
        ends = (scope.drawn(source) or self._absent(source), scope.drawn(target) or self._absent(target))
        self._labels.setdefault(ends, {})[label] = None

    def _absent(self, name: str) -> str:
        """A box for a node that the document names but does not have."""
        if name not in self._missing:
            drawn = self._draw(name, f"? {name}", _("no such node"), (), None)
            self._nodes[drawn] = replace(self._nodes[drawn], missing=True)
            self._missing[name] = drawn
        return self._missing[name]


def _sources(scope: _Scope) -> list[Sequence[str]]:
    """For each node those it reads; from what can be read of its parameters if its kind does not know them."""
    unique = len({node.id for node in scope.nodes}) == len(scope.nodes)
    try:
        if unique:
            graph = dependencies(Workflow.model_construct(id="x", nodes=scope.nodes, edges=()))
            return [graph[node.id] for node in scope.nodes]
    except WorkflowError:
        pass
    return [_sources_of(node, scope) for node in scope.nodes]


def _sources_of(node: Node, scope: _Scope) -> Sequence[str]:
    own = {key: value for key, value in node.params.items() if not _is_body_holder(value)}
    try:
        return dependencies(Workflow.model_construct(id="x", nodes=(node,), edges=()))[node.id]
    except WorkflowError:
        try:
            found = references(own, [NodeId(name) for name in scope.ids])
        except WorkflowError:
            found = ()
        return tuple(dict.fromkeys([*found, *_virtual(own)]))


def _virtual(value: Any) -> Iterator[NodeId]:
    """The nodes of virtual blocks in any list of the parameters."""
    for blocks in value.values():
        for block in blocks if isinstance(blocks, (list, tuple)) else ():
            if isinstance(block, Mapping) and block.get("kind") == "virtual" and block.get("frozen") is None:
                yield NodeId(str(block.get("node", "")))


def _is_body(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("nodes"), (list, tuple))


def _is_body_holder(value: Any) -> bool:
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return _is_body(value) or any(map(_is_body, members))


def _bodies_in(params: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Bodies in the parameters by name: a parameter itself, or the members of one (branches)."""
    for key, value in params.items():
        if _is_body(value):
            yield key, value
        elif isinstance(value, Mapping):
            yield from ((str(name), body) for name, body in value.items() if _is_body(body))
        elif isinstance(value, (list, tuple)):
            yield from (
                (str(body.get("name") or f"{key} {n}"), body) for n, body in enumerate(value, 1) if _is_body(body)
            )


def _raw_nodes(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [raw for raw in body["nodes"] if isinstance(raw, Mapping)]


def _id_in(raw: Mapping[str, Any]) -> str:
    return str(raw.get("id") or "?")


def _nodes_in(body: Mapping[str, Any]) -> tuple[Node, ...]:
    return tuple(
        Node.model_construct(
            id=NodeId(_id_in(raw)),
            kind=str(raw.get("kind") or raw.get("type") or "prompt"),
            name=str(raw.get("name") or raw.get("display_name") or ""),
            params=raw["params"] if isinstance(raw.get("params"), dict) else {},
        )
        for raw in _raw_nodes(body)
    )


def _edges_in(body: Mapping[str, Any]) -> tuple[Edge, ...]:
    raws = body.get("edges")
    return tuple(
        Edge.model_construct(
            source=NodeId(str(raw.get("source") or raw.get("from") or raw.get("from_node") or "?")),
            target=NodeId(str(raw.get("target") or raw.get("to") or raw.get("to_node") or "?")),
            condition=str(raw["condition"]) if raw.get("condition") is not None else None,
        )
        for raw in (raws if isinstance(raws, (list, tuple)) else ())
        if isinstance(raw, Mapping)
    )


def _lines(params: Mapping[str, Any]) -> Iterator[str]:
    """The action and the inputs, one a line; what is empty is left out."""
    for key, value in params.items():
        if key in {"inputs", "input", "params"} and isinstance(value, Mapping) and "__from__" not in value:
            yield from (f"{name}: {_short(one)}" for name, one in value.items())
        elif value not in (None, "", [], (), {}):
            yield f"{key}: {_short(value)}"


def _short(value: Any, depth: int = 0) -> str:
    """A value in a few words: the text of blocks, the path of a binding, the names in an object."""
    if isinstance(value, Mapping):
        if "__from__" in value and depth < 3:
            return f"← {_short(value['__from__'], 3)}"
        if value.get("kind") in ("text", "virtual", "inquiry") and depth < 3:
            return _block(value)
        return "{" + ", ".join(map(str, list(value)[:6])) + "}"
    if isinstance(value, (list, tuple)):
        return " ".join(_short(part, depth + 1) for part in value[:6]) if depth < 2 else f"[{len(value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(str(value)[: 4 * _MOST_CHARACTERS])[:_MOST_CHARACTERS]


def _block(block: Mapping[str, Any]) -> str:
    if block["kind"] == "virtual":
        return f"‹{_short(block.get('node', ''), 3)}›"
    return _short(block.get("text", block.get("question", "")), 3)
