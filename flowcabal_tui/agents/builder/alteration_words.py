"""Alterations of a workflow, found in a wish by the names of its nodes and a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from flowcabal_tui.agents.builder.document import Json, all_found, own_params
from flowcabal_tui.agents.builder.forms import Alteration, Step
from flowcabal_tui.agents.builder.wish import Wish, places
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.agents.builder.working_copy import WorkingCopy

_LENGTHS: Final = ("expand", "cut", "polish", "summarise")
_SETTINGS: Final = {"evolution": "candidates", "recursive": "depth", "loop": "side_by_side"}


@dataclass(frozen=True, slots=True)
class _Mention:
    """A node where the wish names it."""

    path: str
    node: Json
    at: int


_Mentions = Sequence[_Mention]


def alterations_of(found: Wish, copied: WorkingCopy, language: str) -> tuple[Alteration, ...]:
    """What is to be changed; () where that cannot be said."""
    mentions = sorted(_mentions(found, copied, language), key=lambda each: each.at)
    for reading in (_replaced, _models, _conditional, _inserted, _settings, _removed, _paused):
        if made := list(reading(found, copied, mentions)):
            sets = reading is _settings and all(each.field == "temperature" for each in made)
            return (*made, *(_paused(found, copied, mentions) if sets else ()))
    return ()


def _mentions(found: Wish, copied: WorkingCopy, language: str) -> Iterator[_Mention]:
    """By id or name, else by the words of the step that a node is called after, or the longer words of its name."""
    tables: dict[str, list[str]] = words(language, "vocabulary")["steps"]
    for place in all_found(copied.document):
        called = [place.node["id"].casefold(), str(place.node.get("name") or "").casefold()]
        spots = [at for name in called if name for at in places(found.folded, name)]
        if not spots:
            named = [word for word in called[1].split() if len(word) > 4 and word.isascii()]
            own = [word for key, each in tables.items() if {key, *each} & set(called) for word in each]
            spots = [at for word in (*named, *own) for at in places(found.folded, word)]
        yield from (_Mention(place.path, place.node, at) for at in spots)


def _replaced(found: Wish, copied: WorkingCopy, _mentions: _Mentions) -> Iterable[Alteration]:
    """Two quotations: words of a prompt, and what they become."""
    for old, new in pairwise(text for text, _at in found.quoted):
        for place in all_found(copied.document):
            if found.has("to") and old in str(own_params(place.node)):
                return [Alteration(change="replace", node=place.path, find=old, to=new)]
    return ()


def _models(found: Wish, copied: WorkingCopy, mentions: _Mentions) -> Iterable[Alteration]:
    """The first model that the wish names goes to the node that is named closest, where it has another one."""
    for model in copied.known.models or ():
        for at in places(found.folded, model.casefold()):
            near = min(mentions, key=lambda each: abs(each.at - at), default=None)
            if near is not None and near.node.get("params", {}).get("model") != model:
                return [Alteration(change="set", node=near.path, field="model", to=model)]
    return ()


def _conditional(found: Wish, copied: WorkingCopy, mentions: _Mentions) -> Iterable[Alteration]:
    """A length and a verb: a step for texts that are longer or shorter."""
    for hit in found.marks("longer", "shorter"):
        number = found.number_after(hit.end)
        verb = next((each.key for each in found.hits["steps"] if each.key in _LENGTHS), None)
        if number is not None and number.value >= 100 and verb is not None and mentions:
            when: Any = f"{hit.key}_than"
            step, length = Step(does=verb), int(number.value)
            return [Alteration(change="insert", node=mentions[0].path, step=step, when=when, length=length)]
    return ()


def _inserted(found: Wish, copied: WorkingCopy, mentions: _Mentions) -> Iterable[Alteration]:
    """A new step between two nodes, or behind one."""
    about = next(iter(found.abouts()), "")
    taken = {each.at for each in mentions}
    verb: Any = next((hit.key for hit in found.hits["steps"] if hit.start not in taken), "check" if about else "")
    if not (verb and mentions and found.has("insert")):
        return ()
    order = [each.path for each in all_found(copied.document)]
    ends = sorted(list(dict.fromkeys(each.path for each in mentions))[:2], key=order.index)
    step = Step(does=verb, about=about if verb == "check" else "")
    return [Alteration(change="insert", node=ends[0], before="".join(ends[1:]), step=step)]


def _settings(found: Wish, copied: WorkingCopy, mentions: _Mentions) -> Iterable[Alteration]:
    """Numbers and switches of the node that is named, or of the only one that has such a setting."""
    told = found.temperature
    if told is not None and mentions:
        return [Alteration(change="set", node=mentions[0].path, field="temperature", to=told)]
    marks, made = found.marks("to"), []
    number = found.number_after(marks[-1].end) if marks else None
    for place in all_found(copied.document):
        kind = place.node.get("kind", "prompt")
        if kind in _SETTINGS and (not mentions or any(each.path == place.path for each in mentions)):
            if number is not None and number.value == int(number.value) >= 1:
                to = int(number.value)
                made.append(Alteration(change="set", node=place.path, field=_SETTINGS[kind], to=to))
            if kind == "evolution" and found.has("blind"):
                made.append(Alteration(change="set", node=place.path, field="blind", to=True))
    return made


def _removed(found: Wish, copied: WorkingCopy, mentions: _Mentions) -> Iterable[Alteration]:
    marks = [hit.start for hit in found.marks("remove") if not found.is_denied(hit)]
    if not marks or not mentions:
        return ()
    before = [each for each in mentions if 0 <= marks[0] - each.at <= found.reach]
    behind = [each for each in mentions if each.at >= marks[0]]
    return [Alteration(change="remove", node=(before or behind or mentions)[0].path)]


def _paused(found: Wish, copied: WorkingCopy, mentions: _Mentions) -> Iterable[Alteration]:
    """The writer looks before a node, or after one."""
    if not mentions or not found.has("pause", "edit", "approve"):
        return ()
    marks = found.marks("before")
    if not marks:
        pause = found.marks("pause", "edit", "approve")[0]
        ahead = [each for each in mentions if each.at < pause.start]
        return [Alteration(change="pause", node=(ahead or mentions)[-1 if ahead else 0].path)]
    near = min(mentions, key=lambda each: abs(each.at - marks[0].start))
    return [Alteration(change="pause", before=near.path)]
