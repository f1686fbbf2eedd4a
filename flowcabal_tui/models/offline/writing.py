"""Plans, drafts, polishes and rewrites, put together from the parts of a request, with the corrections of a retry."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

from flowcabal_tui.models.offline.asked import PARAGRAPH, Asked, labelled_parts
from flowcabal_tui.models.offline.reading import PERSON, lines, named, terms
from flowcabal_tui.models.offline.statements import Values, clashes, corrected, facts
from flowcabal_tui.nodes.mending import paragraphs

_ITEM: Final = re.compile(r"^[^\S\n]*(?:\d{1,2}[.、)）]|[-*])\s*(.+)$", re.MULTILINE)
_OUTLINED: Final = re.compile(rf"^##+ .*|{_ITEM.pattern}", re.MULTILINE)
_SPOKEN: Final = re.compile("“([^“”\n]{3,59}[.?!。？！])”")
_QUOTATION: Final = re.compile(r"^[^(（“:：]*(?:[(（]([^“]*)[)）])?[:：] ?“(.*)”$")
"""A line like `Source (its title): “words”`."""
_ALIKE: Final = 0.9
"""Texts that share so many of their words are nearly the same."""


def _beats(asked: Asked) -> list[str]:
    """Those of the chapter's outline; else what the writer wished for, and where the pages before end."""
    if beats := asked.part("beats"):
        return _ITEM.findall(beats) or [line for line in beats.split("\n") if line.strip()]
    wished, before = (lines(asked.part(key)) for key in ("wish", "last-pages"))
    return list(dict.fromkeys(line.text for line in (*wished, *before[-3:])))


def plan(asked: Asked) -> str:
    """Cast, places and numbered beats. A note of the writer is a beat of its own."""
    beats = [*_beats(asked), *(line.strip("- ") for line in asked.feedback.splitlines() if line.strip("- "))]
    text, words, rows = "\n".join(beats), asked.words.said, list[str]()
    for head, kind in (("cast", PERSON), ("places", "location")):
        if here := named(text, asked.names, kind):
            rows.append(words[head] + words["comma"].join(name.chief for name in here))
    rows += [f"{number}. {beat}" for number, beat in enumerate(beats, start=1)]
    return "\n".join([*rows, *(words["mind"] + part.text for part in asked.all("wish") if part.text)])


def draft(asked: Asked) -> str:
    """Prose from the beats of the plan (or of the outline): each beat as it is, with sentences around it.

    A retry corrects the facts that its quotations contradict; without any it expresses the same beats in other words.
    """
    if asked.feedback and (text := mended(asked)) != asked.draft:
        return text
    beats, words = _ITEM.findall(asked.part("plan")) or _beats(asked), asked.words.said
    people = [name for name in named("\n".join(beats), asked.names, PERSON) if not name.is_dead]
    calls = {name.chief: next((form for form in name.names[1:] if form in name.chief), name.chief) for name in people}
    pick, lead = _frames(asked), next(iter(calls.values()), words["they"])
    spoken = _SPOKEN.findall(asked.part("last-pages"))
    groups = [pick("opening", a=lead), pick("recall", a=lead, line="".join(spoken[-1:]))]
    for beat in beats:
        here = [call for person, call in calls.items() if person in beat or call in beat] or [lead]
        values = {"a": here[0], "b": next((call for call in (*here, *calls.values()) if call != here[0]), "")}
        place = "".join(name.chief for name in named(beat, asked.names, "location")[:1])
        things = [each for each in asked.words.patterns["thing"].findall(beat) if each not in place]
        thing = pick("thing", **values, thing="".join(things[-1:]))
        seen = (pick("pause"), pick("place", place=place), pick("alone", a=here[0]))
        groups += [f"{beat}{words['space']}{thing}", pick("pair", **values), words["space"].join(filter(None, seen))]
    groups.append(pick("closing", a=lead))
    return "\n\n".join(words["indent"] + group.strip() for group in groups if group.strip())


def _frames(asked: Asked) -> Callable[..., str]:
    """Gives a sentence of a kind with its holes filled, each once; "" where a value is missing or none is left."""
    random = Random(asked.seed)
    fresh = {kind: random.sample(frames, k=len(frames)) for kind, frames in asked.words.frames.items()}

    def pick(kind: str, **values: str) -> str:
        text = fresh[kind].pop().format_map(values) if fresh[kind] and all(values.values()) else ""
        return text[:1].upper() + text[1:]

    return pick


def mended(asked: Asked) -> str:
    """The attempt before, with every fact set right that the quotations of the feedback speak against.

    A note without quotation marks is read as it is.
    """
    here = facts(asked.sentences(asked.draft), asked.words)
    held = {(fact.what, fact.value) for fact in here}
    notes = map(str.strip, asked.feedback.splitlines())
    quoted = (
        (quoted_note[2], quoted_note[1] or "") if (quoted_note := _QUOTATION.match(note)) else (note, "")
        for note in notes
    )
    sources = [line for words, title in quoted for line in asked.sentences(words, title)]
    against = [fact for fact in facts(sources, asked.words) if (fact.what, fact.value) not in held]
    return corrected(asked.draft, clashes(here, against))


def changed_paragraphs(asked: Asked) -> str:
    """The answer to a mend: the paragraphs that differ; "" when others than those that may change do, or none."""
    old, new = paragraphs(asked.draft), paragraphs(mended(asked))
    differ = [n for n, (one, other) in enumerate(zip(old, new, strict=False), 1) if one != other]
    if len(old) != len(new) or not set(differ) <= set(asked.numbers):
        return ""
    return "\n".join(f'{PARAGRAPH}{n}">\n{new[n - 1].strip()}\n</paragraph>' for n in differ)


def _unworn(text: str, asked: Asked) -> str:
    for worn, better in asked.words.worn:
        text = worn.sub(better, text)
    return text


def polish(asked: Asked) -> str:
    """The draft without worn words; of a retry the answer before, with its facts set right."""
    return mended(asked) if asked.feedback else _unworn(asked.part("draft"), asked)


def criticise(asked: Asked) -> Values:
    """The verdict on a draft: its worn words, and done when it has none."""
    worn = [word for pattern, _better in asked.words.worn for word in pattern.findall(asked.part("draft"))]
    points = [f"“{word.strip()}”" for word in dict.fromkeys(worn)]
    return {"done": not points, "points": points}


def rewrite(asked: Asked) -> str:
    """The selection, shorter, longer, or without worn words, by the instruction."""
    selection, wish, words = asked.part("selection"), asked.part("wish").strip(), asked.words
    found, space = [line.text for line in lines(selection)], words.said["space"]
    if swap := words.patterns["swap"].search(wish):
        return re.sub(re.escape(swap[1]), lambda _: swap[2], selection, flags=re.IGNORECASE)
    if words.patterns["shorter"].search(wish):
        longest = sorted(found, key=len, reverse=True)[: max(1, (len(found) + 1) // 2)]
        return space.join(text for text in found if text in longest)
    if words.patterns["longer"].search(wish):
        return space.join([*found, *Random(asked.seed).sample(words.frames["pause"], k=2)])
    return _unworn(selection, asked)


def outline(asked: Asked) -> str:
    """The headings and beats of the outline; without any the plan of a first chapter."""
    found = "\n".join(line[0] for line in _OUTLINED.finditer(asked.part("outline")))
    return found or f"## {asked.words.said['first']}\n{plan(asked)}"


def alike(asked: Asked) -> Values:
    """The groups of candidates that have most of their words in common."""
    shown = labelled_parts(asked.part("candidates"))
    words = [terms(part.text) for part in shown if part.key == "candidate"]
    groups: dict[int, list[int]] = {}
    for number, each in enumerate(words, start=1):
        near = (first for first in groups if len(each & words[first - 1]) >= _ALIKE * len(each | words[first - 1]))
        groups.setdefault(next(near, number), []).append(number)
    return {"groups": list(groups.values())}
