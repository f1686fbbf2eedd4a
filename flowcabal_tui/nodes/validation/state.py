"""Keys of the state that are read before any node of the workflow has written them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import paths_in
from flowcabal_tui.domain.errors import BindingError, WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_text import block_paths
from flowcabal_tui.domain.workflow import Edge, Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.graph import kind_and_params, needs_of
from flowcabal_tui.nodes.validation.graph import order_of

STATE: Final = "state"


@dataclass(frozen=True, slots=True)
class _Written:
    """Keys that were written; `any` is True when a called workflow may have written others."""

    keys: frozenset[str] = frozenset()
    any: bool = False

    def __or__(self, other: _Written) -> _Written:
        return _Written(self.keys | other.keys, self.any or other.any)


def check_state(nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[Problem, ...]:
    """Warnings for bindings that name a key of the state which nothing before them writes."""
    found: list[Problem] = []
    if not any(_mentions_state(node.params) for node in nodes):
        return ()
    try:
        _graph(nodes, edges, _Written(), "", found)
    except (WorkflowError, RecursionError):
        return ()  # the other checks report the error
    return tuple(found)


def _mentions_state(params: Any) -> bool:
    """True when a text of the parameters contains the name of the state."""
    waiting = [params]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if STATE in part:
                return True
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, (list, tuple)):
            waiting += part
    return False


def _graph(nodes: Sequence[Node], edges: Sequence[Edge], before: _Written, path: str, found: list[Problem]) -> _Written:
    """Adds the findings of a graph; returns the keys written by its end."""
    read = {node.id: kind_and_params(node) for node in nodes}
    sources: dict[NodeId, list[NodeId]] = {
        node: [one for one in needs_of(kind, params, read.keys())[0] if one in read]
        for node, (kind, params) in read.items()
    }
    for edge in edges:
        if edge.target in sources and edge.source in read:
            sources[edge.target].append(edge.source)
    order, _circles = order_of(sources)
    after: dict[NodeId, _Written] = {}
    end = before
    for node in order:
        seen = before
        for source in sources[node]:
            seen = seen | after.get(source, before)
        kind, params = read[node]
        found += _unwritten(kind, params, seen, path + node)
        own = seen | _writes(kind, params)
        bodies = kind.bodies(params)
        for field, body in bodies:
            part = "" if len(bodies) == 1 else f"{field.partition('.')[2] or field}/"
            own = own | _graph(body.nodes, body.edges, own, f"{path}{node}/{part}", found)
        after[node] = own
        end = end | own
    return end


def _writes(kind: NodeKind, params: Any) -> _Written:
    if kind.name == "subflow":
        return _Written(any=True)
    if kind.name != "state_write":
        return _Written()
    return _Written(frozenset((*params.updates, *params.from_item, *params.increment, *params.keys)))


def _unwritten(kind: NodeKind, params: Any, seen: _Written, node: str) -> Iterator[Problem]:
    if seen.any:
        return
    named = [*paths_in(kind.bound(params)), *(("", path) for path in block_paths(kind.blocks(params)))]
    for place, path in dict.fromkeys(named):
        key = _key(path)
        if key and key not in seen.keys:
            template = _("No earlier node writes {path}: this node fails unless an earlier run has set it.")
            message = template.format(path=f"{STATE}.{key}")
            yield Problem(code="STATE_NOT_WRITTEN", node=node, field=place, message=message, severity="warning")


def _key(path: str) -> str:
    """The key of the state that a path reads; "" for other paths."""
    try:
        parts = paths.parse(path).parts
    except BindingError:
        return ""
    return str(parts[1]) if parts[0] == STATE and len(parts) > 1 else ""
