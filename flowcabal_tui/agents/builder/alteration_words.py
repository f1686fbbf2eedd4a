"""Finds the requested alterations of a workflow, by the names of its nodes and a vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from flowcabal_tui.agents.builder.document import Json, PlacedNode, all_found, names_in, own_params
from flowcabal_tui.agents.builder.forms import Alteration
from flowcabal_tui.agents.builder.request_words import BuildRequest, WordHit
from flowcabal_tui.agents.builder.working_copy import WorkingCopy

Nodes = Mapping[str, PlacedNode]
"""The nodes of the workflow by path. The key of a mention is a path."""


def alterations_of(found: BuildRequest, copied: WorkingCopy) -> tuple[Alteration, ...]:
    """The requested alterations; () when the request names none that can be identified."""
    nodes = {each.path: each for each in all_found(copied.document)}
    mentions = sorted((hit for each in nodes.values() for hit in _mentions(found, each)), key=lambda hit: hit.start)
    readings = (_replaced, _values, _removed, _inserted, _settings, _paused)
    made = filter(None, ([*reading(found, nodes, mentions)] for reading in readings))
    return tuple(map(Alteration.model_validate, next(made, [])))


def _mentions(found: BuildRequest, place: PlacedNode) -> list[WordHit]:
    """Finds a node by id or name, by the word of the step that it is named after, or by the longer words of its name.

    A Chinese name may contain the word of a step anywhere.
    """
    called = [str(place.node.get(key) or "").casefold() for key in ("id", "name")]
    parts = [word for word in called[1].split() if len(word) > 4 and word.isascii()]
    for key, words in found.tables["steps"].items():
        is_after = any(w == name or (w in name and not w.isascii()) for w in (key, *words) for name in called)
        parts += words if is_after and key != "none" else []
    return [hit._replace(key=place.path) for hit in found.named(called) or found.named(parts)]


def _replaced(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Replaces words of a prompt, given as two quotations; the prompt is that of the named node if it contains them."""
    order = [*(each.key for each in mentions), *nodes]
    for old, new in pairwise([each.key for each in found.quoted] if found.has("to") else ()):
        having = [path for path in order if old in str(own_params(nodes[path].node))]
        yield from ({"change": "replace", "node": path, "find": old, "to": new} for path in having[:1])


def _values(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Sets the first model that the request names for a node that has another one, the temperature of a node, or both;
    then the pause that the request asks for as well."""
    wanted = [(_near(found, mentions, hit.start), hit.key) for hit in found.models if mentions]
    made = [_set(path, "model", to) for path, to in wanted if nodes[path].node.get("params", {}).get("model") != to][:1]
    for hit in found.marks("temperature")[:1] if found.temperature is not None and mentions else []:
        made.append(_set(_near(found, mentions, hit.start), "temperature", found.temperature))
    yield from [*made, *_paused(found, nodes, mentions)] if made else []


def _removed(found: BuildRequest, _nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Removes a named node, unless the request first names a new step."""
    for first in found.marks("remove", "insert", denied=False)[:1] if mentions else []:
        yield from [{"change": "remove", "node": _near(found, mentions, first.start)}] if first.key == "remove" else []


def _inserted(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Inserts a step between two nodes, after one, before one, or only for texts of a given length."""
    about, taken, order = next(iter(found.abouts()), ""), {each.start for each in mentions}, [*nodes]
    there = {hit.key for hit in found.verbs if hit.start in taken}
    verb = next((hit.key for hit in found.verbs if hit.key not in there), "check" if about else "")
    change = {"change": "insert", "step": {"does": verb, "about": about if verb == "check" else ""}}
    ends = sorted(list(dict.fromkeys(each.key for each in mentions))[:2], key=order.index)
    if verb and mentions and (bounds := found.bounds(100)):
        hit, number = bounds[0]
        yield {**change, "node": mentions[0].key, "when": f"{hit.key}_than", "length": int(number.value)}
    elif verb and mentions and found.has("insert"):
        ends = ["", *ends] if len(ends) == 1 and any(map(found.is_later, mentions)) else ends
        yield {**change, "node": ends[0], "before": "".join(ends[1:])}


def _near(found: BuildRequest, mentions: Sequence[WordHit], at: int) -> str:
    """The node that the words at a place refer to: one named in their clause, else the last one named before them."""
    clause = found.clause[at]
    return min(mentions, key=lambda each: (each.start not in clause, each.start > at, abs(each.start - at))).key


def _set(path: str, field: str, to: object) -> Json:
    return {"change": "set", "node": path, "field": field, "to": to}


def _settings(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Sets numbers and switches of the named node, or of the only one that has such a setting."""
    for path in [path for path in nodes if not mentions or path in {each.key for each in mentions}]:
        field, now = found.tables["settings"].get(nodes[path].node.get("kind")), own_params(nodes[path].node)
        new = [(field, int(each.value)) for each in found.numbers if field and each.value != now.get(field)][:1]
        new += [("blind", True)] if field == "candidates" and found.has("blind") else []
        yield from (_set(path, *each) for each in new)


def _paused(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Removes the pause for the writer after a node, or adds one before or after a node."""
    ids, clauses = [each.node["id"] for each in nodes.values()], found.clauses_of(mentions)
    waiting = [each for each in mentions if own_params(nodes[each.key].node).get("review") == "always"]
    ends = found.marks("never")[:1] if waiting else []
    yield from (_set(_near(found, waiting, hit.start), "review", "never") for hit in ends)
    marks = sorted(found.marks("pause", "edit", "approve"), key=lambda mark: found.clause[mark.start] not in clauses)
    for pause in marks[:1] if mentions and not ends else []:
        later = [each.key for each in mentions if found.is_later(each)]
        ahead = [each.key for each in mentions if each.start < pause.start] or [each.key for each in mentions]
        is_before = later and names_in(own_params(nodes[later[0]].node), ids)
        yield {"change": "pause", **({"before": later[0]} if is_before else {"node": ahead[-1]})}
