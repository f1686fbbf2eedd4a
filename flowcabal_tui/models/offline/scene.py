"""The prose of a draft: the beats as they are, and frames of sentences around them, filled from the request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

from flowcabal_tui.models.offline.asked import Asked
from flowcabal_tui.models.offline.reading import PERSON, mentions

_SPOKEN: Final = re.compile("“([^“”\n]{3,59}[.?!。？！])”")


def people(asked: Asked, texts: Sequence[str]) -> list[str]:
    """The people named in the texts, in order of appearance."""
    found = mentions("\n".join(texts), [name for name in asked.names if name.kind == PERSON])
    return list(dict.fromkeys(name.chief for _, _, name in found))


class Scene:
    """Puts sentences round the beats; no frame is used twice. The dead are spoken of and do not act."""

    def __init__(self, asked: Asked, beats: Sequence[str], seed: int) -> None:
        self._asked, self._beats, self._words, self._random = asked, beats, asked.words, Random(seed)
        self._calls = {person: self._called(person) for person in people(asked, beats) if person not in asked.dead}
        self._used: set[str] = set()

    def _called(self, person: str) -> str:
        """What narration calls somebody: the part of the name that the book uses most."""
        own = [name for name in self._asked.names if name.chief == person]
        used = Counter(self._asked.whole[start:end] for start, end, _ in mentions(self._asked.whole, own))
        shorter = [form for name in own for form in name.names if form != person and form.split()[-1] in person]
        return max(shorter, key=lambda form: (used[form], form), default=person)

    def _pick(self, kind: str, **values: str) -> list[str]:
        """One sentence from a frame that is still fresh; none when all are used up."""
        fresh = [frame for frame in self._words.frames[kind] if frame not in self._used]
        if not fresh:
            return []
        frame = self._random.choice(fresh)
        self._used.add(frame)
        text = frame.format(**values)
        return [text[0].upper() + text[1:]]

    def text(self) -> str:
        """Two or three paragraphs a beat."""
        said = self._words.said
        first = lead = next(iter(self._calls.values()), said["they"])
        groups = [self._pick("opening", a=lead)]
        if spoken := _SPOKEN.findall(self._asked.part("last-pages")):
            groups[0] += self._pick("recall", a=lead, line=spoken[-1])
        for beat in self._beats:
            here = [call for person, call in self._calls.items() if person in beat or call in beat] or [lead]
            others = (call for call in (*here[1:], *self._calls.values()) if call != here[0])
            first, second = here[0], next(others, "")
            groups += self._around(beat, first, second)
        groups.append(self._pick("closing", a=first))
        return "\n\n".join(said["indent"] + said["space"].join(group) for group in groups if group)

    def _around(self, beat: str, first: str, second: str) -> list[list[str]]:
        """The beat and what is noticed; then what passes between people, if there are two."""
        told, seen = [beat], self._pick("pause")
        if thing := self._thing(beat):
            told += self._pick("thing", a=first, b=second or first, thing=thing)
        if place := next((name.chief for name in self._asked.places if any(form in beat for form in name.names)), ""):
            seen += self._pick("place", place=place)
        seen += self._pick("alone", a=first)
        between = self._pick("pair", a=first, b=second) if second else []
        return [told, seen, between] if self._random.random() < 0.5 else [[*told, *seen[:1]], [*seen[1:], *between]]

    def _thing(self, beat: str) -> str:
        """Something in the beat that can be looked at, and was not before."""
        listed = [
            form for name in self._asked.names if name.kind in ("", "item") for form in name.names if form in beat
        ]
        seen = [match[1] for match in self._words.pattern("thing").finditer(beat)]
        places = " ".join(form.lower() for name in self._asked.places for form in name.names)
        found = [re.sub("^the ", "", form) for form in listed] + [each for each in seen if each not in places]
        dull = (*self._words.lists["dull"], *self._used)
        fresh = [each for each in found if each not in dull and each.split()[-1] not in dull]
        self._used.update(fresh[-1:])
        return fresh[-1] if fresh else ""
