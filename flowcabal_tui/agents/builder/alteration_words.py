"""Alterations of a workflow, found in a wish by the names of its nodes and a vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from flowcabal_tui.agents.builder.document import Json, all_found, own_params
from flowcabal_tui.agents.builder.forms import Alteration, Step
from flowcabal_tui.agents.builder.wish import TEMPERATURE, Wish, places, verbs
from flowcabal_tui.agents.builder.working_copy import WorkingCopy

_LENGTHS: Final = ("expand", "cut", "polish", "summarise")
_SETTINGS: Final = {"evolution": ("candidates",), "recursive": ("depth",), "loop": ("side_by_side", "max_iterations")}


@dataclass(frozen=True, slots=True)
class _Mention:
    """A node where the wish names it."""

    path: str
    node: Json
    at: int


def alterations_of(found: Wish, copied: WorkingCopy, language: str) -> tuple[Alteration, ...]:
    """What is to be changed; () where that cannot be said."""
    mentions = sorted(_mentions(found, copied, language), key=lambda each: each.at)
    for reading in (_replaced, _models, _conditional, _inserted, _settings, _removed, _paused):
        if made := list(reading(found, copied, mentions)):
            return tuple(made)
    return ()


def _mentions(found: Wish, copied: WorkingCopy, language: str) -> Iterator[_Mention]:
    """By id or name, else by the words of the step that a node is called after; where each stands first."""
    tables = verbs(language)
    for place in all_found(copied.document):
        called = [place.node["id"].casefold(), str(place.node.get("name") or "").casefold()]
        spots = [at for name in called if name for at in places(found.folded, name)]
        if not spots:
            own = [words for key, words in tables.items() if key in called or any(word in called for word in words)]
            spots = [at for words in own for word in words for at in places(found.folded, word)]
            spots += _parts(found, called[1])
        yield from (_Mention(place.path, place.node, at) for at in spots)


def _parts(found: Wish, name: str) -> list[int]:
    """Where the longer words of a name stand."""
    return [at for word in name.split() if len(word) > 4 and word.isascii() for at in places(found.folded, word)]


def _near(mentions: Sequence[_Mention], at: int) -> _Mention | None:
    """The mention that stands closest."""
    return min(mentions, key=lambda each: abs(each.at - at), default=None)


def _replaced(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> list[Alteration]:
    """Two quotations: words of a prompt, and what they become."""
    texts = [text for text, _at in found.quoted]
    for old, new in pairwise(texts):
        for place in all_found(copied.document):
            if old in str(own_params(place.node)) and found.has("to"):
                return [Alteration(change="replace", node=place.path, find=old, to=new)]
    return []


def _models(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> list[Alteration]:
    """Each model that the wish names goes to the node that is named closest, where it has another one."""
    made = []
    for model in copied.known.models or ():
        for at in places(found.folded, model.casefold()):
            near = _near(mentions, at)
            if near is not None and near.node.get("params", {}).get("model") != model:
                made.append(Alteration(change="set", node=near.path, field="model", to=model))
    return made[:1]


def _conditional(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> list[Alteration]:
    """A length and a verb: a step for texts that are longer or shorter."""
    for hit in found.marks("longer", "shorter"):
        number = found.number_after(hit.end)
        verb = next(
            (each for each in found.hits["steps"] if each.key in ("expand", "cut", "polish", "summarise")), None
        )
        if number is None or number.value < 100 or verb is None or not mentions:
            continue
        verb = next((each for each in found.hits["steps"] if each.start > number.end and each.key == verb.key), verb)
        first = min(mentions, key=lambda each: each.at)
        step = Step(does=verb.key)
        when: Any = f"{hit.key}_than"
        return [Alteration(change="insert", node=first.path, step=step, when=when, length=int(number.value))]
    return []


def _inserted(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> list[Alteration]:
    """A new step between two nodes, or behind one."""
    if not found.has("insert") or not mentions:
        return []
    named = list(dict.fromkeys(each.path for each in mentions))
    order = [each.path for each in all_found(copied.document)]
    ends = sorted(named[:2], key=order.index)
    about = next((hit.key for hit in found.hits["about"]), "")
    taken = {word for each in mentions for word in (each.at,)}
    verb = next((hit.key for hit in found.hits["steps"] if hit.start not in taken), "check" if about else "")
    if not verb:
        return []
    step = Step(does=verb, about=about if verb == "check" else "")
    return [Alteration(change="insert", node=ends[0], before=ends[1] if len(ends) > 1 else "", step=step)]


def _removed(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> list[Alteration]:
    marks = [hit for hit in found.marks("remove") if not found.is_denied(hit)]
    if not marks or not mentions:
        return []
    behind = [each for each in mentions if each.at >= marks[0].start] or list(mentions)
    before = [each for each in mentions if 0 <= marks[0].start - each.at <= found.reach]
    return [Alteration(change="remove", node=(before or behind)[0].path)]


def _paused(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> list[Alteration]:
    """The writer looks before a node, or after one."""
    if not found.has("pause", "edit", "approve") or not mentions:
        return []
    marks = found.marks("before")
    named = _near(mentions, marks[0].start) if marks else None
    if named is not None:
        reads = [each for each in mentions if each.path != named.path]
        return [Alteration(change="pause", before=named.path)] if reads or marks else []
    return [Alteration(change="pause", node=mentions[0].path)]


def _settings(found: Wish, copied: WorkingCopy, mentions: Sequence[_Mention]) -> Iterator[Alteration]:
    """Numbers and switches of the node that is named, or of the only one that has such a setting."""
    marks = found.marks("to")
    number = found.number_after(marks[-1].end) if marks else None
    told = TEMPERATURE.search(found.text)
    if told is not None and mentions:
        yield Alteration(change="set", node=mentions[0].path, field="temperature", to=float(told[1]))
        return
    for place in all_found(copied.document):
        kind = place.node.get("kind", "prompt")
        if kind not in _SETTINGS or (mentions and all(each.path != place.path for each in mentions)):
            continue
        if number is not None and number.value == int(number.value) >= 1:
            yield Alteration(change="set", node=place.path, field=_SETTINGS[kind][0], to=int(number.value))
        if kind == "evolution" and found.has("blind"):
            yield Alteration(change="set", node=place.path, field="blind", to=True)
