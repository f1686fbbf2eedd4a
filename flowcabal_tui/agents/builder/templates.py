"""Ranks templates for a request: by the points that they cover, then by how little else they contain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.agents.builder.document import Json, all_found, own_params
from flowcabal_tui.agents.builder.request_words import BuildRequest

_POINT: Final = re.compile(r"[.;!?。；！？，,\n]+")
_KINDS: Final[Mapping[str, frozenset[str]]] = {
    "evolution": frozenset(("candidates", "write", "pause")),
    "recursive": frozenset(("improve", "revise")),
    "parallel": frozenset(("side",)),
    "loop": frozenset(("each",)),
    "condition": frozenset(("otherwise",)),
    "human": frozenset(("pause",)),
    "action": frozenset(("action",)),
    "state_write": frozenset(("count",)),
}
"""The steps of each kind of node, in the words of the vocabulary."""
_SAME: Final[Mapping[str, str]] = {
    "approve": "pause",
    "edit": "pause",
    "remember": "count",
    "longer": "otherwise",
    "shorter": "otherwise",
    "choose": "pause",
}
_POINTS: Final = frozenset(each for found in _KINDS.values() for each in found) | frozenset(_SAME) | {"blind"}


@dataclass(frozen=True, slots=True)
class Near:
    """A template with the ids of the points that it covers, and the amount of it that no point requests."""

    name: str
    covers: tuple[str, ...]
    besides: int


def nearest_templates(points: Mapping[str, str], templates: Mapping[str, Json], language: str) -> list[Near]:
    """All templates, nearest first. `points` are parts of the request by id; those without known words are ignored."""
    wished = {name: _in_words(text, language) for name, text in points.items()}
    known = {name: each for name, each in wished.items() if each}
    everything = frozenset[str]().union(*known.values())
    found = []
    for name, document in templates.items():
        has = features(document, str(document.get("language") or language))
        covers = tuple(point for point, features in known.items() if features <= has)
        found.append(Near(name, covers, len(has - everything)))
    order = list(templates)
    return sorted(found, key=lambda each: (-len(each.covers), each.besides, order.index(each.name)))


def points_of(wish: str) -> dict[str, str]:
    """The sentences of a request, used as points before a checklist exists."""
    return {str(number): text for number, text in enumerate(filter(None, map(str.strip, _POINT.split(wish))), 1)}


def features(document: Json, language: str) -> frozenset[str]:
    """The features of a workflow, read from the kinds and names of its nodes and from its pauses."""
    has: set[str] = set()
    for place in all_found(document):
        params: Any = own_params(place.node)
        kind = place.node.get("kind", "prompt")
        has |= _KINDS.get(kind, frozenset())
        if params.get("review") == "always":
            has.add("pause")
        if kind == "evolution" and params.get("blind"):
            has.add("blind")
        for words in (str(place.node.get("name") or ""), str(place.node["id"]).replace("-", " ").replace("_", " ")):
            for spoken in (language, "en"):
                has |= {hit.key for hit in BuildRequest(words, spoken).hits["steps"]}
    return frozenset(has)


def _in_words(text: str, language: str) -> frozenset[str]:
    found = BuildRequest(text, language)
    steps = {hit.key for hit in found.hits["steps"] if hit.start not in found.denied}
    marks = {hit.key for hit in found.hits["marks"] if hit.key in _POINTS and hit.start not in found.denied}
    return frozenset(_SAME.get(each, each) for each in steps | marks)


def named(templates: Sequence[Near]) -> str:
    """The templates with the points that they cover, as text for a model."""
    return "\n".join(f"- {each.name}: {', '.join(each.covers) or 'none of the points'}" for each in templates)
