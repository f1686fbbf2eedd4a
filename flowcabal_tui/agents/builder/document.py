"""A workflow document as JSON: its graphs and nodes by path. Parts that no edit names are never rewritten."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]
PROMPTS: Final = frozenset(("system", "prompt", "start", "next", "proposal"))
"""Parameters that hold prompt blocks, also inside a step such as `draft`."""
TEXTS: Final = frozenset((*PROMPTS, "question", "instruction"))
"""Parameters that a person or a model reads: a writer's own words."""
_RESULT: Final = re.compile(r"result_of\.([^\s\[\]{}()'\",|]+)")
_SHORT: Final = re.compile(r"\{\{\s*([^\s\[\]{}()|]+)")


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node in its graph. `inside` is the path of the graph: "", "loop" or "parallel/branch"."""

    path: str
    inside: str
    graph: Json
    node: Json


def graphs(document: Json, inside: str = "") -> Iterator[tuple[str, Json]]:
    """The graph of a document and those inside its nodes, outer ones first, each with its path."""
    yield inside, document
    for node in document.get("nodes", ()):
        for path, graph in bodies(node):
            yield from graphs(graph, _joined(inside, path))


def bodies(node: Json) -> Iterator[tuple[str, Json]]:
    """The graphs in a node's parameters: `loop`, `parallel/branch`."""
    params = node.get("params") or {}
    if _is_graph(params.get("body")):
        yield node["id"], params["body"]
    branches = params.get("branches")
    for name, graph in branches.items() if isinstance(branches, dict) else ():
        if _is_graph(graph):
            yield f"{node['id']}/{name}", graph


def all_found(document: Json) -> Iterator[PlacedNode]:
    """Every node at any depth, in the document's order."""
    for inside, graph in graphs(document):
        for node in graph.get("nodes", ()):
            yield PlacedNode(_joined(inside, node["id"]), inside, graph, node)


def found(document: Json, path: str) -> PlacedNode | None:
    """The node with that path; None if there is none."""
    return next((each for each in all_found(document) if each.path == path), None)


def graph_at(document: Json, inside: str) -> Json | None:
    """The graph with that path; None if there is none."""
    return next((graph for path, graph in graphs(document) if path == inside), None)


def own_params(node: Json) -> Json:
    """The parameters without the graphs inside."""
    inner = {"body", "branches"} if any(True for _body in bodies(node)) else set()
    return {key: value for key, value in (node.get("params") or {}).items() if key not in inner}


def names_in(value: Any, known: Collection[str]) -> frozenset[str]:
    """The `known` nodes that a value reads."""
    read: set[str] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            for path in (*_RESULT.findall(each), *_SHORT.findall(each)):
                read |= {name for name in known if path == name or path.startswith(f"{name}.")}
        elif isinstance(each, dict):
            waiting += each.values()
            if each.get("kind") == "virtual" and each.get("node") in known:
                read.add(each["node"])
        elif isinstance(each, (list, tuple)):
            waiting += each
    return frozenset(read)


def remove_node(place: PlacedNode) -> None:
    """Removes a node and its edges from its graph."""
    name = place.node["id"]
    place.graph["nodes"].remove(place.node)
    if "edges" in place.graph:
        kept = [each for each in place.graph["edges"] or () if name not in (each["source"], each["target"])]
        place.graph["edges"] = kept


def value_at(params: Any, field: str) -> Any:
    """A parameter by a dotted path such as `write.temperature`; None where it is not set."""
    for part in field.split("."):
        params = params.get(part) if isinstance(params, dict) else None
    return params


def set_at(params: Json, field: str, value: Any) -> None:
    """Sets a parameter by a dotted path; None removes it."""
    *way, last = field.split(".")
    for part in way:
        inner = params.get(part)
        if not isinstance(inner, dict):
            inner = params[part] = {}
        params = inner
    if value is None:
        params.pop(last, None)
    else:
        params[last] = value


def is_text(field: str) -> bool:
    """True for a parameter that holds the writer's text."""
    return field.rpartition(".")[2] in TEXTS


def text_block(text: str, part: str = "") -> Json:
    """A text block of a prompt, in a part of it if one is given."""
    return {"kind": "text", **({"part": part} if part else {}), "text": text}


def with_blocks(value: Any, field: str = "") -> Any:
    """Converts plain texts of prompt parameters into blocks, in inner graphs too."""
    if field in PROMPTS and isinstance(value, str):
        return [text_block(value)]
    if isinstance(value, dict):
        return {key: with_blocks(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [with_blocks(each) for each in value]
    return value


def _is_graph(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("nodes"), list)


def _joined(inside: str, name: str) -> str:
    return f"{inside}/{name}" if inside else name
