"""The differences between the writer's workflow and the copy, as changes that can be accepted one by one."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from flowcabal_tui.agents.builder.document import (
    Json,
    PlacedNode,
    all_found,
    found,
    graph_at,
    graphs,
    is_text,
    names_in,
    own_params,
    remove_node,
    set_at,
)
from flowcabal_tui.domain.prompt_text import BINDING
from flowcabal_tui.nodes.model_calls import call_fields

ChangeKind = Literal[
    "node_added", "node_removed", "renamed", "param", "prompt", "wiring", "edge_added", "edge_removed", "meta"
]
_LABEL: Final = 40
"""Maximum length of a label before an inserted output."""
_LABEL_ENDS: Final = (":", "：")
_TAG: Final = re.compile(r"</?[\w-]{1,30}>")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `node` is the path of a node, or of the graph for a change of an edge or of the workflow.

    `needs` are the ids of changes that it depends on. `loses_gate`: the writer would no longer be asked there.
    """

    id: str
    kind: ChangeKind
    node: str
    field: str = ""
    before: Any = None
    after: Any = None
    behind: str = ""
    """The id of the node after which an added node is listed."""
    because: str = ""
    ticked: bool = True
    loses_gate: bool = False
    needs: frozenset[str] = frozenset()


def changes_between(base: Json | None, document: Json) -> tuple[Change, ...]:
    """Every difference, in the document's order; for a new workflow all of its contents, once it has nodes."""
    if base is None and not document.get("nodes"):
        return ()
    before: Json = base or {"nodes": [], "edges": []}
    found_changes = [*_meta(before, document), *_nodes(before, document), *_edges(before, document)]
    numbered = [replace(each, id=f"c{number}") for number, each in enumerate(found_changes, 1)]
    return tuple(replace(each, needs=_needs(each, numbered)) for each in numbered)


def with_changes(base: Json | None, document: Json, chosen: Collection[str]) -> Json:
    """The writer's document with the chosen changes; nothing else is touched. The result is not validated."""
    changes = [each for each in changes_between(base, document) if each.id in chosen]
    made: Json = copy.deepcopy(base) if base else {"id": document["id"], "version": 1, "nodes": [], "edges": []}
    for change in sorted(changes, key=lambda each: _ORDER.index(each.kind)):
        _apply(made, change)
    if base is None and made.get("name"):
        made["name"] = _without_refused(made["name"], made, document)
    return made


def _without_refused(name: str, made: Json, document: Json) -> str:
    """The name of a new workflow, without the refused nodes that it lists; the last listed one may be cut."""
    taken, offered = ([str(node.get("name") or "") for node in each["nodes"]] for each in (made, document))
    parts = [
        part
        for part in name.split(STEPS_APART)
        if any(each.startswith(part) for each in taken) or not any(each.startswith(part) for each in offered)
    ]
    return STEPS_APART.join(parts) or name


def without_needy(changes: Collection[Change], refused: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The ids that remain when some changes are refused, and the ids of those that depend on the refused ones."""
    gone = set(refused)
    while more := {each.id for each in changes if each.id not in gone and each.needs & gone}:
        gone |= more
    return frozenset(each.id for each in changes) - gone, frozenset(gone) - frozenset(refused)


STEPS_APART: Final = " → "
"""Separates the nodes that the name of a workflow lists."""
_ORDER: Final = (
    "meta",
    "node_added",
    "param",
    "prompt",
    "wiring",
    "renamed",
    "edge_removed",
    "node_removed",
    "edge_added",
)


def _meta(before: Json, after: Json) -> Iterator[Change]:
    for field in dict.fromkeys((*before, *after)):
        if field not in ("nodes", "edges", "version") and before.get(field) != after.get(field):
            yield Change("", "meta", "", field, before.get(field), after.get(field))


def _nodes(before: Json, after: Json) -> Iterator[Change]:
    old = {each.path: each for each in all_found(before)}
    new = {each.path: each for each in all_found(after)}
    for path, place in new.items():
        if path not in old:
            if not place.inside or _owner(place.inside, new) in old:
                yield Change("", "node_added", path, after=place.node, behind=_behind(place))
        else:
            yield from _changed(path, old[path].node, place.node)
    for path, place in old.items():
        if path not in new and (not place.inside or _owner(place.inside, old) in new):
            yield Change("", "node_removed", path, before=place.node, loses_gate=_is_gate(place.node))


def _owner(inside: str, nodes: Collection[str]) -> str:
    """The path of the node that contains a graph; for a branch, without the branch."""
    return inside if inside in nodes else inside.rpartition("/")[0]


def _behind(place: PlacedNode) -> str:
    at = place.graph["nodes"].index(place.node)
    return place.graph["nodes"][at - 1]["id"] if at else ""


def _changed(path: str, old: Json, new: Json) -> Iterator[Change]:
    if (old.get("name") or "") != (new.get("name") or ""):
        yield Change("", "renamed", path, "name", old.get("name", ""), new.get("name", ""))
    for field, before, after in _params(own_params(old), own_params(new), call_fields(new.get("kind", "prompt"))):
        kind: ChangeKind = "param"
        if is_text(field) or (isinstance(before, list) and "instruction" in str(before)):
            kind = "wiring" if _is_wiring(before, after) else "prompt"
        loses = field == "review" and before == "always"
        yield Change("", kind, path, field, before, after, loses_gate=loses)


def _params(old: Json, new: Json, calls: Collection[str], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if key in calls and isinstance(before, dict) and isinstance(after, dict):
            yield from _params(before, after, (), f"{key}.")
        else:
            yield f"{prefix}{key}", before, after


def _is_wiring(before: Any, after: Any) -> bool:
    """True when all of the writer's words remain and only outputs of nodes, with labels, were added."""
    if not isinstance(before, list) or not isinstance(after, list):
        return False
    words = iter(_text(each) for each in after)
    if not all(any(_text(each) == word for word in words) for each in before if _text(each) is not None):
        return False
    old = [_text(each) for each in before]
    for number, block in enumerate(after):
        text = _text(block)
        if text is None or text in old:
            continue
        label = _TAG.sub("", BINDING.sub("", text)).strip()
        following = after[number + 1 :] or [None]
        introduces = bool(BINDING.search(text)) or (following[0] is not None and _text(following[0]) in (None, *old))
        if label and not (introduces and len(label) <= _LABEL and label.endswith(_LABEL_ENDS)):
            return False
    return True


def _text(block: Any) -> str | None:
    return block.get("text") if isinstance(block, dict) else None


def _is_gate(node: Json) -> bool:
    return node.get("kind") in ("human", "evolution") or (node.get("params") or {}).get("review") == "always"


def _edges(before: Json, after: Json) -> Iterator[Change]:
    old, new = dict(graphs(before)), dict(graphs(after))
    for path in dict.fromkeys((*old, *new)):
        if path and not (path in old and path in new):
            continue  # a graph that came or went with its node
        was, now = old.get(path, {}).get("edges") or [], new.get(path, {}).get("edges") or []
        there = {node["id"] for node in new.get(path, {}).get("nodes", ())}
        for edge in now:
            if edge not in was:
                yield Change("", "edge_added", path, after=edge)
        for edge in was:
            if edge not in now and {edge["source"], edge["target"]} <= there:
                yield Change("", "edge_removed", path, before=edge)


def _needs(change: Change, changes: Collection[Change]) -> frozenset[str]:
    """The changes that a change depends on.

    An addition needs the nodes that it names; a removal requires that nothing names the node any more. A graph inside a
    node is never empty: a removal from it needs the replacement.
    """
    added = {_name(each): each.id for each in changes if each.kind == "node_added" and each is not change}
    names = _names(change.after, added) - _names(change.before, added)
    needs = {added[name] for name in names}
    if change.kind == "node_removed":
        name = _name(change)
        needs |= {
            each.id
            for each in changes
            if each is not change and name in _names(each.before, (name,)) - _names(each.after, (name,))
        }
        inside = change.node.rpartition("/")[0]
        came = {each.id for each in changes if each.kind == "node_added" and each.node.rpartition("/")[0] == inside}
        needs |= came if inside else set()
    return frozenset(needs)


def _names(value: Any, known: Collection[str]) -> frozenset[str]:
    if isinstance(value, dict) and "source" in value and "target" in value:
        return frozenset((value["source"], value["target"])) & frozenset(known)
    return names_in(value, known)


def _name(change: Change) -> str:
    return change.node.rpartition("/")[2]


def _apply(document: Json, change: Change) -> None:
    after = copy.deepcopy(change.after)
    if change.kind == "meta":
        _put(document, change.field, after)
    elif change.kind in ("edge_added", "edge_removed"):
        _apply_edge(document, change, after)
    elif change.kind == "node_added":
        nodes = _graph_for(document, change.node.rpartition("/")[0])["nodes"]
        ids = [node["id"] for node in nodes]
        nodes.insert(ids.index(change.behind) + 1 if change.behind in ids else len(ids) if change.behind else 0, after)
    elif (place := found(document, change.node)) is not None:
        _apply_to(place, change, after)


def _graph_for(document: Json, inside: str) -> Json:
    """The graph with that path; creates a branch that does not exist."""
    graph = graph_at(document, inside)
    if graph is None:
        owner, _slash, name = inside.rpartition("/")
        holder = found(document, owner)
        branches = holder.node["params"]["branches"] if holder else {}
        graph = branches.setdefault(name, {"nodes": []})
    return graph


def _apply_to(place: PlacedNode, change: Change, after: Any) -> None:
    if change.kind == "node_removed":
        remove_node(place)
    elif change.kind == "renamed":
        place.node["name"] = after
    else:
        set_at(place.node.setdefault("params", {}), change.field, after)


def _apply_edge(document: Json, change: Change, after: Any) -> None:
    graph = graph_at(document, change.node)
    if graph is None:
        return
    if change.kind == "edge_added":
        ids = {node["id"] for node in graph["nodes"]}
        if {after["source"], after["target"]} <= ids:
            graph.setdefault("edges", []).append(after)
    elif change.before in graph.get("edges", ()):
        graph["edges"].remove(change.before)


def _put(document: Json, field: str, value: Any) -> None:
    if value is None:
        document.pop(field, None)
    else:
        document[field] = value
