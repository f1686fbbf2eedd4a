"""Plans, drafts, polished texts and rewrites, composed from the parts of a request, with the corrections of a retry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from flowcabal_tui.models.offline.parsed_request import LabelledRequest, labelled_parts
from flowcabal_tui.models.offline.reading import PERSON, extract, lines, named
from flowcabal_tui.models.offline.statements import clashes, corrected, facts
from flowcabal_tui.nodes.kinds.candidates import bigrams, likeness
from flowcabal_tui.nodes.mending import paragraphs

_ITEM: Final = re.compile(r"^[^\S\n]*(?:\d{1,2}[.、)）]|[-*])\s*(.+)$", re.M)
_OUTLINED: Final = re.compile(rf"^##+ .*|{_ITEM.pattern}", re.M)
_SPOKEN: Final = re.compile("“([^“”\n]{3,59}[.?!。？！])”")
_HOLE: Final = re.compile(r"\{(\w+)\}")
_QUOTATION: Final = re.compile(r"^(?:[^(（“:：\n]*(?:[(（]([^“\n]*)[)）])?[:：] ?“(.*)”|(.*))$", re.M)
"""A line like `Source (its title): “words”`, or one without quotation marks."""
_ALIKE: Final = 0.9
"""Texts that share at least this part of their pairs of characters are nearly the same."""


def _beats(request: LabelledRequest) -> list[str]:
    """The beats of the chapter's outline; otherwise the writer's instruction and the end of the previous pages."""
    if beats := request.part("beats"):
        return _ITEM.findall(beats) or [line for line in beats.split("\n") if line.strip()]
    wished, before = ([*lines(request.part(key))] for key in ("wish", "last-pages"))
    return list(dict.fromkeys(line.text for line in (*wished, *before[-3:])))


def plan(request: LabelledRequest) -> str:
    """Cast, places and numbered beats. A note of the writer is a beat of its own."""
    beats = [*_beats(request), *(line.strip("- ") for line in request.feedback.splitlines() if line.strip("- "))]
    phrases, rows = request.words.phrases, list[str]()
    for head, kind in (("cast", PERSON), ("places", "location")):
        if here := named("\n".join(beats), request.names, kind):
            rows.append(phrases[head] + phrases["comma"].join(name.chief for name in here))
    rows += [f"{number}. {beat}" for number, beat in enumerate(beats, start=1)]
    return "\n".join([*rows, *(phrases["mind"] + part["text"] for part in request.all("wish") if part["text"])])


def draft(request: LabelledRequest) -> str:
    """Prose from the beats of the plan (or of the outline): each beat unchanged, with sentences around it.

    A retry corrects the facts that its quotations contradict; without any, it phrases the same beats differently.
    """
    if request.feedback and (text := mended(request)) != request.draft:
        return text
    beats = _ITEM.findall(request.part("plan")) or _beats(request)
    people = [name for name in named("\n".join(beats), request.names, PERSON) if not name.is_dead]
    calls = {name.chief: next((form for form in name.names[1:] if form in name.chief), name.chief) for name in people}
    phrases = request.words.phrases
    lead, line = next(iter(calls.values()), phrases["they"]), _SPOKEN.findall(request.part("last-pages"))[-1:]
    pick = _frames(request)
    groups = [[pick("opening", a=lead)], [pick("recall", a=lead, line="".join(line))]]
    for beat in beats:
        here = [call for person, call in calls.items() if person in beat or call in beat] or [lead]
        other = next((call for call in (*here, *calls.values()) if call != here[0]), "")
        place = "".join(name.chief for name in named(beat, request.names, "location")[:1])
        thing = "".join(request.words.patterns["thing"].findall(beat)[-1:])
        values = {"a": here[0], "b": other, "place": place, "thing": thing}
        groups += [[beat, pick("thing", **values)], [pick("pair", **values)]]
        groups.append([pick(kind, **values) for kind in ("pause", "place", "alone")])
    texts = (phrases["space"].join(filter(None, group)) for group in [*groups, [pick("closing", a=lead)]])
    return "\n\n".join(phrases["indent"] + text for text in texts if text)


def _frames(request: LabelledRequest) -> Callable[..., str]:
    """Gives a sentence of a kind with its holes filled, each once; "" where a value is missing or none is left."""
    random = Random(request.seed)
    fresh = {kind: random.sample(frames, k=len(frames)) for kind, frames in request.words.frames.items()}

    def pick(kind: str, **values: str) -> str:
        wanted = {hole for frame in request.words.frames[kind] for hole in _HOLE.findall(frame)}
        text = fresh[kind].pop().format_map(values) if fresh[kind] and all(values[hole] for hole in wanted) else ""
        return text[:1].upper() + text[1:]

    return pick


def mended(request: LabelledRequest) -> str:
    """The previous attempt, with every fact corrected that the quotations of the feedback contradict."""
    quoted = [(title, words or bare) for title, words, bare in _QUOTATION.findall(request.feedback)]
    sources = [line for title, text in quoted if text not in request.draft for line in request.sentences(text, title)]
    here, there = ([*facts(found, request.words)] for found in (request.sentences(request.draft), sources))
    return corrected(request.draft, clashes(here, there))


def changed_paragraphs(request: LabelledRequest) -> str:
    """The answer to a partial rewrite: those of the permitted paragraphs that a correction changes; "" for none."""
    old, new = paragraphs(request.draft), paragraphs(mended(request))
    changed = [n for n in request.numbers if len(old) == len(new) and old[n - 1] != new[n - 1]]
    return "\n".join(f'<paragraph n="{n}">\n{new[n - 1].strip()}\n</paragraph>' for n in changed)


def _unworn(text: str, request: LabelledRequest) -> str:
    for worn, better in request.words.worn:
        text = worn.sub(better, text)
    return text


def polish(request: LabelledRequest) -> str:
    """The draft without clichés; for a retry, the previous answer with its facts corrected."""
    return mended(request) if request.feedback else _unworn(request.part("draft"), request)


def criticise(request: LabelledRequest) -> str:
    """The verdict on a draft as JSON: its clichés, and `done` when it has none."""
    worn = [f"“{word.strip()}”" for each, _better in request.words.worn for word in each.findall(request.part("draft"))]
    return json.dumps({"done": not worn, "points": [*dict.fromkeys(worn)]}, ensure_ascii=False)


def rewrite(request: LabelledRequest) -> str:
    """The selection, shorter, longer, or without clichés, as instructed."""
    selection, wish, words = request.part("selection"), request.part("wish").strip(), request.words
    found, space = [*lines(selection)], words.phrases["space"]
    if swap := words.patterns["swap"].search(wish):
        return re.sub(re.escape(swap[1]), lambda _: swap[2], selection, flags=re.IGNORECASE)
    if words.patterns["shorter"].search(wish):
        return space.join(line.text for line in extract(found, max(1, len(found) // 2)))
    if words.patterns["longer"].search(wish):
        return space.join([selection, *Random(request.seed).sample(words.frames["pause"], k=2)])
    return _unworn(selection, request)


def outline(request: LabelledRequest) -> str:
    """The headings and beats of the outline; without any, the plan of a first chapter."""
    found = "\n".join(line[0] for line in _OUTLINED.finditer(request.part("outline")))
    return found or f"## {request.words.phrases['first']}\n{plan(request)}"


def candidates(request: LabelledRequest) -> str:
    """The groups of candidates that are nearly the same, as JSON."""
    shapes = [bigrams(one["text"]) for one in labelled_parts(request.part("candidates")) if one["key"] == "candidate"]
    first = [next(n for n, other in enumerate(shapes, 1) if likeness(each, other) >= _ALIKE) for each in shapes]
    return json.dumps({"groups": [[n for n, at in enumerate(first, 1) if at == each] for each in dict.fromkeys(first)]})


TASKS: Final[Mapping[str, Callable[[LabelledRequest], str]]] = {
    each.__name__: each for each in (plan, draft, polish, rewrite, outline, candidates, criticise)
}
"""Each function has the name of its task."""
