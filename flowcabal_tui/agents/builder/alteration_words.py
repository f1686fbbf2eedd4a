"""Finds the requested alterations of a workflow, by the names of its nodes and a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from flowcabal_tui.agents.builder.document import Json, PlacedNode, all_found, names_in, own_params
from flowcabal_tui.agents.builder.forms import Alteration
from flowcabal_tui.agents.builder.request_words import BuildRequest
from flowcabal_tui.agents.builder.working_copy import WorkingCopy


class _Mention(NamedTuple):
    """A mention of a node in the request."""

    at: int
    end: int
    path: str
    node: Json


def alterations_of(found: BuildRequest, copied: WorkingCopy) -> tuple[Alteration, ...]:
    """The requested alterations; () when the request names none that can be identified."""
    mentions = sorted(_mentions(found, copied), key=lambda each: each.at)

    def read(*readings: Callable[[BuildRequest, WorkingCopy, Sequence[_Mention]], Iterable[Json]]) -> list[Json]:
        return [each for reading in readings for each in reading(found, copied, mentions)]

    made = read(_replaced)
    if not made and (made := read(_models, _temperature)):
        made += read(_unpaused) or read(_paused)
    alone = map(read, (_removed, _inserted, _settings, _unpaused, _paused))
    return tuple(Alteration.model_validate(each) for each in made or next(filter(None, alone), []))


def _mentions(found: BuildRequest, copied: WorkingCopy) -> Iterator[_Mention]:
    """Finds nodes by id or name, by the word of the step that a node is named after, or by the longer words of its
    name.
    """
    for place in all_found(copied.document):
        called = [str(place.node.get(key) or "").casefold() for key in ("id", "name")]
        parts = [word for word in called[1].split() if len(word) > 4 and word.isascii()]
        own = [word for key, each in found.tables["steps"].items() if _is_after(called, key, each) for word in each]
        spots = found.named(called) or found.named((*parts, *own))
        yield from (_Mention(spot.start, spot.end, place.path, place.node) for spot in spots)


def _is_after(called: Sequence[str], key: str, words: Sequence[str]) -> bool:
    """True when a node is named after a step. A Chinese name may contain the word anywhere."""
    parts = (word for word in (key, *words) if key != "none")
    return any(word == name or (word in name and not word.isascii()) for word in parts for name in called)


def _replaced(found: BuildRequest, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Replaces words of a prompt, given as two quotations; the prompt is that of the named node if it contains them."""
    named = [each.path for each in mentions]
    pairs = pairwise([each.key for each in found.quoted] if found.has("to") else ())
    nodes = sorted(all_found(copied.document), key=lambda each: each.path not in named)
    having = [(each.path, old, new) for old, new in pairs for each in nodes if old in str(own_params(each.node))]
    return [{"change": "replace", "node": path, "find": old, "to": new} for path, old, new in having[:1]]


def _models(found: BuildRequest, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Sets the first model that the request names for the closest named node that has another one."""
    models = found.named(copied.known.models or ()) if mentions else []
    near = [(min(mentions, key=lambda each: abs(each.at - model.start)), model.key) for model in models]
    return [_set(each, "model", to) for each, to in near if each.node.get("params", {}).get("model") != to][:1]


def _removed(found: BuildRequest, _copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Removes a named node, unless the request first names a new step."""
    first = found.marks("remove", "insert", denied=False)[:1] if mentions else []
    removed = [_near(found, mentions, each.start) for each in first if each.key == "remove"]
    return [{"change": "remove", "node": each.path} for each in removed]


def _inserted(found: BuildRequest, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Inserts a step between two nodes, after one, before one, or only for texts of a given length."""
    about, taken = next(iter(found.abouts()), ""), {each.at for each in mentions}
    there = {hit.key for hit in found.verbs() if hit.start in taken}
    verb = next((hit.key for hit in found.verbs() if hit.key not in there), "check" if about else "")
    bounds = found.bounds(100)
    if not (verb and mentions and (bounds or found.has("insert"))):
        return ()
    step = {"does": verb, "about": about if verb == "check" else ""}
    for hit, number in bounds[:1]:
        only = {"when": f"{hit.key}_than", "length": int(number.value)}
        return [{"change": "insert", "node": mentions[0].path, "step": step, **only}]
    order = [each.path for each in all_found(copied.document)]
    ends = sorted(list(dict.fromkeys(each.path for each in mentions))[:2], key=order.index)
    reader = next((_near(found, mentions, each.start).path for each in found.marks("sees")), "")
    if others := [each.path for each in mentions if reader and order.index(each.path) < order.index(reader)]:
        ends = [others[0], reader]
    if len(ends) == 1 and any(found.is_later(each.at, each.end) for each in mentions):
        ends = ["", *ends]
    return [{"change": "insert", "node": ends[0], "before": "".join(ends[1:]), "step": step}]


def _temperature(found: BuildRequest, _copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Sets the temperature of the nearest named node."""
    marks = found.marks("temperature")[:1] if found.temperature is not None and mentions else []
    return [_set(_near(found, mentions, each.start), "temperature", found.temperature) for each in marks]


def _near(found: BuildRequest, mentions: Sequence[_Mention], at: int) -> _Mention:
    """The node that the words at a place refer to: one named in their clause, else the last one named before them."""
    clause = found.clause(at)
    return min(mentions, key=lambda each: (each.at not in clause, each.at > at, abs(each.at - at)))


def _set(node: _Mention | PlacedNode, field: str, to: object) -> Json:
    return {"change": "set", "node": node.path, "field": field, "to": to}


def _settings(found: BuildRequest, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Sets numbers and switches of the named node, or of the only one that has such a setting."""
    ends = [each.end for each in found.marks("to")]
    numbers = sorted(found.numbers, key=lambda each: not any(0 <= each.start - end <= 3 for end in ends))
    made: list[Json] = []
    for place in all_found(copied.document):
        field = found.tables["settings"].get(place.node.get("kind", "prompt"))
        if field and (not mentions or any(each.path == place.path for each in mentions)):
            now = own_params(place.node).get(field)
            new = [_set(place, field, int(each.value)) for each in numbers if each.value >= 1 and each.value != now]
            made += new[:1]
            if field == "candidates" and found.has("blind"):
                made.append(_set(place, "blind", True))
    return made


def _unpaused(found: BuildRequest, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Removes the pause for the writer after a node."""
    waiting = [each for each in mentions if own_params(each.node).get("review") == "always"]
    return [_set(_near(found, waiting, each.start), "review", "never") for each in found.marks("never")[:1] if waiting]


def _paused(found: BuildRequest, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterable[Json]:
    """Adds a pause for the writer before or after a node."""
    pauses, ids = found.marks("pause", "edit", "approve"), [each.node["id"] for each in all_found(copied.document)]
    if not mentions or not pauses:
        return ()
    later = [each for each in mentions if found.is_later(each.at, each.end)]
    if later and names_in(own_params(later[0].node), ids):
        return [{"change": "pause", "before": later[0].path}]
    ahead = [each for each in mentions if each.at < pauses[0].start]
    return [{"change": "pause", "node": (ahead[-1:] or mentions)[0].path}]
