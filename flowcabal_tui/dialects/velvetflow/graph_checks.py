"""Where the edges, branches and references of a VelvetFlow graph lead: nowhere, to itself, or where nobody comes by."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.loop_checks import body_of
from flowcabal_tui.dialects.velvetflow.schemas import well_formed
from flowcabal_tui.domain import bindings, conditions
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Finding
from flowcabal_tui.locale import _

Guard = tuple[str, str]
"""A condition and the branch of it that must be taken."""
_TARGETS = {"true_to_node": "true", "false_to_node": "false", "default_to_node": "default"}
_MOST_GUARDS = 50
"""Conditions above a node that are followed; beyond them nothing is said."""


def check(nodes: Sequence[Document], edges: Any, place: str, *, inside: bool) -> Iterator[Finding]:
    """Findings about the graph of well-formed nodes."""
    if not isinstance(edges, list):
        yield _edge(f"{place}edges", _("edges must be a list."), "INVALID_SCHEMA")
        return
    known = {node["id"]: node for node in nodes}
    yield from _declared(known, edges, place, "INVALID_EDGE" if inside else "INVALID_SCHEMA")
    yield from _branches(known)
    ids = frozenset(NodeId(node) for node in known)
    reads = {node["id"]: [one for one in _reads(node, ids) if one in known] for node in nodes}
    for node, read in reads.items():
        if node in read:
            yield Finding(code="SELF_REFERENCE", message=_("It asks for its own output."), node=node)
    controls = _controls(known, edges)
    order = _order(reads, controls)
    reached = frozenset(order)
    for node in (one for one in reads if one not in reached):
        said = _("Nothing leads here: it stands in a circle, or behind one.")
        yield Finding(code="DISCONNECTED_GRAPH", message=said, node=node)
    yield from _guarded(order, reads, controls)


def _edge(field: str, message: str, code: str) -> Finding:
    return Finding(code=code, message=message, field=field)


def _declared(known: Mapping[str, Document], edges: list[Any], place: str, code: str) -> Iterator[Finding]:
    names = ", ".join(list(known)[:20])
    for number, edge in enumerate(edges):
        at = f"{place}edges[{number}]"
        if not isinstance(edge, dict):
            yield _edge(at, _("An edge must be an object."), "INVALID_SCHEMA")
            continue
        for name in ("from", "to"):
            end = edge.get(name)
            if not isinstance(end, str) or not end:
                yield _edge(f"{at}.{name}", _("An edge needs the nodes from and to."), "INVALID_SCHEMA")
            elif end not in known:
                said = _("There is no node {node}. Nodes: {names}").format(node=end, names=names)
                yield _edge(f"{at}.{name}", said, code)
        if finding := _never_taken(edge, known.get(str(edge.get("from")), {}), at):
            yield finding
        if edge.get("from") == edge.get("to") and str(edge.get("from")) in known:
            yield _edge(at, _("An edge cannot lead from a node to itself."), "INVALID_SCHEMA")


def _never_taken(edge: Document, source: Document, place: str) -> Finding | None:
    """What is wrong with the condition of an edge: its source has no such branch."""
    condition, kind = edge.get("condition"), source.get("type")
    if condition is None or kind is None:
        return None
    bands = source["params"].get("bands") if kind == "condition" else None
    named = [str(band.get("label")) for band in bands if isinstance(band, dict)] if isinstance(bands, list) else []
    labels = ["true", "false", *named] if kind == "condition" else []
    if str(condition) in labels:
        return None
    said = _("The edge is never taken: {node} has no branch {label}.")
    message = said.format(node=edge.get("from"), label=str(condition)[:60])
    return _edge(f"{place}.condition", message, "INVALID_EDGE")


def _branches(known: Mapping[str, Document]) -> Iterator[Finding]:
    for node in known.values():
        for field, target in _targets(node):
            if not isinstance(target, str):
                said = _("It must be the id of a node, or null.")
                yield Finding(code="INVALID_SCHEMA", message=said, node=node["id"], field=field)
            elif target not in known:
                said = _("There is no node {node}. Nodes: {names}")
                message = said.format(node=target, names=", ".join(list(known)[:20]))
                yield Finding(code="INVALID_EDGE", message=message, node=node["id"], field=field)


def _targets(node: Document) -> Iterator[tuple[str, Any]]:
    """The branches of a condition or a switch that lead somewhere, by the field that says so."""
    if node.get("type") not in ("condition", "switch"):
        return
    for field in _TARGETS:
        if (target := node.get(field)) not in (None, "", "null"):
            yield field, target
    cases = node.get("cases")
    for number, case in enumerate(cases if isinstance(cases, list) else []):
        if isinstance(case, dict) and case.get("to_node") not in (None, "", "null"):
            yield f"cases[{number}].to_node", case["to_node"]


def _reads(node: Document, known: Collection[NodeId]) -> tuple[NodeId, ...]:
    """The nodes that a node reads, bodies included."""
    params = {key: value for key, value in node["params"].items() if key not in ("body_subgraph", "exports")}
    paths = [path for _place, path in conditions.paths_in(params)] if node.get("type") == "condition" else []
    source = params.get("source")
    paths += [source] if isinstance(source, str) and "{" not in source and node.get("type") == "loop" else []
    found = dict.fromkeys(bindings.references([params, *({"__from__": path} for path in paths)], known))
    inner = {one["id"] for one in well_formed(body_of(node).get("nodes"))}
    for one in well_formed(body_of(node).get("nodes")):
        found |= dict.fromkeys(NodeId(read) for read in _reads(one, known) if read not in inner)
    return tuple(found)


def _controls(known: Mapping[str, Document], edges: list[Any]) -> dict[str, list[tuple[str, str | None]]]:
    """For each node the edges that lead to it: their sources, with the branch that they stand for."""
    found: dict[str, list[tuple[str, str | None]]] = {node: [] for node in known}
    for edge in edges:
        source, target = (str(edge.get("from")), str(edge.get("to"))) if isinstance(edge, dict) else ("", "")
        if source in known and target in known and source != target:
            found[target].append((source, edge.get("condition")))
    for node in known.values():
        for field, target in _targets(node):
            if isinstance(target, str) and target in known and target != node["id"]:
                found[target].append((node["id"], _TARGETS.get(field, field)))
    return found


def _order(reads: Mapping[str, Sequence[str]], controls: Mapping[str, list[tuple[str, str | None]]]) -> list[str]:
    """Every node behind all that lead to it; those in a circle and behind one are left out."""
    above = {node: {*read, *(source for source, _label in controls[node])} - {node} for node, read in reads.items()}
    below: dict[str, list[str]] = {node: [] for node in reads}
    for node, sources in above.items():
        for source in sources:
            below[source].append(node)
    missing = {node: len(sources) for node, sources in above.items()}
    ready = deque(node for node, count in missing.items() if not count)
    found = []
    while ready:
        found.append(ready.popleft())
        for node in below[found[-1]]:
            missing[node] -= 1
            if not missing[node]:
                ready.append(node)
    return found


def _guarded(
    order: Sequence[str], reads: Mapping[str, Sequence[str]], controls: Mapping[str, list[tuple[str, str | None]]]
) -> Iterator[Finding]:
    """Nodes that need two branches of one condition, and such as are skipped with a node that they read."""
    guards: dict[str, frozenset[Guard]] = {}
    for node in order:
        ways = [
            guards.get(source, frozenset()) | ({(source, str(label))} if label is not None else frozenset())
            for source, label in controls[node]
        ]
        own = frozenset.intersection(*ways) if ways else frozenset[Guard]()
        needed = {read: guards.get(read, frozenset()) for read in reads[node] if read != node}
        guards[node] = own.union(*needed.values())
        if len(guards[node]) > _MOST_GUARDS:
            guards[node] = frozenset()
        taken = [condition for condition, _label in guards[node]]
        if twice := next((one for one in taken if taken.count(one) > 1), None):
            said = _("It can never run: it needs two branches of {condition} at once.").format(condition=twice)
            yield Finding(code="UNREACHABLE_NODE", message=said, node=node)
            continue
        for read, needs in needed.items():
            if missing := sorted(needs - own):
                condition, label = missing[0]
                said = _("{read} runs only on the branch {label} of {condition}; else this node is skipped too.")
                message = said.format(read=read, label=label, condition=condition)
                yield Finding(code="BRANCH_MAY_NOT_RUN", message=message, node=node, severity="warning")
