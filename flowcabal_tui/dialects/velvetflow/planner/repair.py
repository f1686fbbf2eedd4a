"""The tools that repair a document of VelvetFlow: each returns a new document and describes the change."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.planner.schemas import planner_sentence
from flowcabal_tui.dialects.velvetflow.planner.skeleton import references
from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.nodes.validation import Actions

MOST_INDEX: Final = 1_000
"""The largest place in a list that a tool writes to."""
_WRAPPED: Final = re.compile(r"\A\s*\{\{\s*([^{}]*?)\s*\}\}\s*\Z")
_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d{1,6})\]")
_PLACEHOLDERS: Final[Mapping[str, Any]] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.__getitem__,
}
Repaired = tuple[Document, Document]
"""The document and a summary: `applied`, `reason`, and the changes."""


def repaired(document: Document, tool: str, given: Document, actions: Actions) -> Repaired:
    """The document after a tool; the given one is not changed."""
    does = _TOOLS.get(tool)
    if does is None:
        return document, _unchanged(planner_sentence("unknown_tool", tool=tool[:60]))
    changed, summary = does(copy.deepcopy(document), given, actions)
    return (changed if summary["applied"] else document), summary


def _normalised(document: Document, _given: Document, _actions: Actions) -> Repaired:
    count = 0
    for _place, holder in _bindings(document["nodes"], ""):
        wrapped = _WRAPPED.match(str(holder[FROM]))
        if wrapped:
            holder[FROM] = wrapped[1]
            count += 1
    return document, _applied() if count else _unchanged(planner_sentence("nothing"))


def _replaced(document: Document, given: Document, _actions: Actions) -> Repaired:
    old, new = given.get("old"), given.get("new")
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        return document, _unchanged(planner_sentence("missing"))
    bindings = edges = 0
    for _place, holder in _bindings(document["nodes"], ""):
        path = str(holder[FROM])
        if path == old or path.startswith((f"{old}.", f"{old}[")):
            holder[FROM] = new + path[len(old) :]
            bindings += 1
    for graph in _graphs(document) if given.get("include_edges", True) else ():
        for edge in graph.get("edges") or ():
            for end in ("from", "to"):
                if edge.get(end) == old:
                    edge[end] = new
                    edges += 1
    if not bindings + edges:
        return document, {**_unchanged(planner_sentence("nothing")), "binding_updates": 0, "edge_updates": 0}
    return document, {"applied": True, "binding_updates": bindings, "edge_updates": edges, "reason": None}


def _without_lost(document: Document, given: Document, _actions: Actions) -> Repaired:
    """Removes bindings and edges to missing nodes, and lists them in the summary."""
    known = [node["id"] for graph in _graphs(document) for node in graph["nodes"]]
    bindings, edges = [], []
    for place, holder in list(_bindings(document["nodes"], "params.nodes")):
        source = str(holder[FROM])
        name = source.removeprefix("result_of.").split(".")[0].split("[")[0]
        if source.startswith("result_of.") and not references(source, known):
            bindings.append({"path": place, "source": source, "reason": planner_sentence("no_node_there", id=name)})
            holder.clear()
    for graph in _graphs(document) if given.get("remove_edges", True) else ():
        for edge in list(graph.get("edges") or ()):
            if edge.get("from") not in known or edge.get("to") not in known:
                edges.append({key: edge[key] for key in ("from", "to") if key in edge})
                graph["edges"].remove(edge)
    if not bindings and not edges:
        return document, {**_unchanged(planner_sentence("nothing")), "removed_bindings": [], "removed_edges": []}
    return document, {"applied": True, "removed_bindings": bindings, "removed_edges": edges, "reason": None}


def _field_set(document: Document, given: Document, _actions: Actions) -> Repaired:
    name, path = str(given.get("node_id")), str(given.get("field_path") or "")
    node = _node(document, name)
    if node is None:
        return document, _unchanged(planner_sentence("unknown_node", id=name[:60]))
    steps = [int(index) if index else key for key, index in _STEP.findall(path)]
    spelled = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    if not steps or spelled != path or steps[0] in ("id", "type") or "value" not in given:
        return document, _unchanged(planner_sentence("bad_path", path=path[:100]))
    if not _written(node, steps, given["value"]):
        return document, _unchanged(planner_sentence("bad_path", path=path[:100]))
    return document, _applied()


def _written(holder: Any, steps: list[str | int], value: Any) -> bool:
    """Writes a value at a path; lists and objects on the way are made. False where something else is in the way."""
    *way, last = steps
    for step, following in zip(way, steps[1:], strict=True):
        inner: Any = [] if isinstance(following, int) else {}
        if not _has_place(holder, step):
            return False
        if isinstance(step, int):
            holder[step] = holder[step] or inner
            holder = holder[step]
        else:
            holder = holder.setdefault(step, inner)
    if not _has_place(holder, last):
        return False
    holder[last] = value
    return True


def _has_place(holder: Any, step: str | int) -> bool:
    """True when the step can be written to. A list is extended up to the index."""
    if isinstance(step, str):
        return isinstance(holder, dict)
    if not isinstance(holder, list) or step > MOST_INDEX:
        return False
    holder.extend({} for _missing in range(step + 1 - len(holder)))
    return True


def _filled(document: Document, given: Document, actions: Actions) -> Repaired:
    name = str(given.get("node_id"))
    node = _node(document, name)
    shape = actions.get(str(node.get("action_id"))) if node is not None and node.get("type") == "action" else None
    if node is None or shape is None:
        return document, _unchanged(planner_sentence("no_action", id=name[:60]))
    properties = shape.arg_schema.get("properties") or {}
    params = node.setdefault("params", {})
    filled = [key for key in shape.arg_schema.get("required") or () if params.get(key) is None]
    for key in filled:
        params[key] = _placeholder(properties.get(key) or {})
    coerced = []
    for key, value in params.items():
        right = _coerced(value, str((properties.get(key) or {}).get("type")))
        if right is not value:
            params[key] = right
            coerced.append(key)
    if not filled and not coerced:
        return document, {**_unchanged(planner_sentence("nothing")), "filled_fields": [], "coerced_fields": []}
    return document, {"applied": True, "filled_fields": filled, "coerced_fields": coerced, "reason": None}


def _placeholder(schema: Mapping[str, Any]) -> Any:
    if "default" in schema:
        return copy.deepcopy(schema["default"])
    choices = schema.get("enum")
    return choices[0] if choices else copy.deepcopy(_PLACEHOLDERS.get(str(schema.get("type")), ""))


def _coerced(value: Any, wanted: str) -> Any:
    """The same value in the wanted type where nothing is lost; else the value itself."""
    if isinstance(value, str) and wanted in ("integer", "number", "boolean"):
        try:
            return _READERS[wanted](value)
        except (KeyError, ValueError, OverflowError):
            return value
    if wanted == "string" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value


def _loop_mended(document: Document, given: Document, _actions: Actions) -> Repaired:
    node = _node(document, str(given.get("node_id")))
    body = (node.get("params") or {}).get("body_subgraph") if node is not None else None
    if node is None or node.get("type") != "loop" or not isinstance(body, dict) or not body.get("nodes"):
        return document, _unchanged(planner_sentence("no_loop", id=str(given.get("node_id"))[:60]))
    before = copy.deepcopy(body)
    ids = [each["id"] for each in body["nodes"]]
    for end, usual in (("entry", ids[0]), ("exit", ids[-1])):
        if end in body and body[end] not in ids:
            if given.get("prefer_first_node", True):
                body[end] = usual
            else:
                del body[end]
    if isinstance(body.get("edges"), list):
        body["edges"] = [each for each in body["edges"] if each.get("from") in ids and each.get("to") in ids]
    return document, _applied() if body != before else _unchanged(planner_sentence("nothing"))


def _graphs(document: Document) -> Iterator[Document]:
    """The document and the bodies of its loops."""
    yield document
    for node in document.get("nodes", ()):
        body = (node.get("params") or {}).get("body_subgraph")
        if isinstance(body, dict) and isinstance(body.get("nodes"), list):
            yield from _graphs(body)


def _node(document: Document, name: str) -> Document | None:
    return next((node for graph in _graphs(document) for node in graph["nodes"] if node["id"] == name), None)


def _bindings(value: Any, place: str) -> Iterator[tuple[str, Document]]:
    """Every binding with its place."""
    if isinstance(value, dict):
        if FROM in value:
            yield place, value
        for key, each in value.items():
            yield from _bindings(each, f"{place}.{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _bindings(each, f"{place}[{number}]")


def _applied() -> Document:
    return {"applied": True, "reason": None}


def _unchanged(reason: str) -> Document:
    return {"applied": False, "reason": reason}


_TOOLS: Final[Mapping[str, Callable[[Document, Document, Actions], Repaired]]] = {
    "fix_loop_body_references": _loop_mended,
    "fill_action_required_params": _filled,
    "update_node_field": _field_set,
    "normalize_binding_paths": _normalised,
    "replace_reference_paths": _replaced,
    "drop_invalid_references": _without_lost,
}
