"""Reading a text without a model: its sentences, the names in them, and those that say most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flowcabal_tui.models.offline.words import NAME, words_of

PERSON: Final = "character"
_END: Final = {
    False: re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?…]+[”\"’']*(?=\s|$)"),
    True: re.compile("[。！？…]+[”’」』]*"),
}
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]+")
_SPEECH: Final = '“"「‘『'


@dataclass(frozen=True, slots=True)
class Name:
    """An entity as a request lists it: all its names, the chief one first."""

    kind: str
    names: tuple[str, ...]

    @property
    def chief(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A sentence of a text, from `start` on, with its paragraph. In `masked` every name is hidden, its length kept.

    A sentence of a note that names nobody has the name in the title of the note, at -1.
    """

    text: str
    start: int
    paragraph: str
    masked: str
    at: Mapping[int, Name]

    @property
    def spoken(self) -> bool:
        return self.text[0] in _SPEECH

    def named(self, start: int = 0, end: int | None = None) -> list[str]:
        """The names that begin in the sentence, or in a part of it, each once."""
        inside = range(start, len(self.masked) if end is None else end)
        return list(dict.fromkeys(name.chief for place, name in self.at.items() if place in inside))


def is_chinese(text: str) -> bool:
    """True when there are more Chinese characters than Latin words."""
    return sum(map(len, _HAN.findall(text))) > len(_WORD.findall(text))


def lines(text: str, names: Sequence[Name], chinese: bool, title: str = "") -> list[Line]:
    """The sentences, verbatim without the space around them; none reaches over a line end."""
    of_note = next((name for name in names if title and title in name.names), None)
    about = {-1: of_note} if of_note else {}
    found: list[Line] = []
    for paragraph in re.finditer(r"[^\n]+", text):
        start = paragraph.start()
        for end in [*(each.end() for each in _END[chinese].finditer(text, *paragraph.span())), paragraph.end()]:
            if bare := text[start:end].strip():
                masked, named = bare, mentions(bare, names)
                for at, until, _name in named:
                    masked = masked[:at] + NAME[0] + NAME[1] * (until - at - 1) + masked[until:]
                places = {at: name for at, _until, name in named} or about
                found.append(Line(bare, text.index(bare, start), paragraph[0].strip(), masked, places))
            start = end
    return found


def mentions(text: str, names: Sequence[Name]) -> list[tuple[int, int, Name]]:
    """The places of names in `text`, longest first, none inside another, in order."""
    taken: list[tuple[int, int, Name]] = []
    there = ((form, name) for name in names for form in name.names if form in text)
    for form, name in sorted(there, key=lambda pair: (-len(pair[0]), pair[0])):
        edge = r"(?<!\w){}(?!\w)" if form[:1].isascii() else "{}"
        for match in re.finditer(edge.format(re.escape(form)), text):
            if all(match.end() <= start or match.start() >= end for start, end, _ in taken):
                taken.append((match.start(), match.end(), name))
    return sorted(taken, key=lambda mention: mention[:2])


def chiefs(text: str, names: Iterable[Name], kind: str) -> list[str]:
    """The names of that kind that a text holds, in order of appearance."""
    found = mentions(text, [name for name in names if name.kind == kind])
    return list(dict.fromkeys(name.chief for _start, _end, name in found))


@lru_cache(maxsize=4_096)
def terms(text: str, chinese: bool) -> frozenset[str]:
    """The content words of a text: words without the common ones; pairs of characters in Chinese."""
    common = frozenset(words_of(chinese).lists["common"].split())
    found = {word.lower() for word in _WORD.findall(text)} - common
    runs = _HAN.findall("".join(" " if c in common else c for c in text)) if chinese else []
    return frozenset(found | {run[i : i + 2] for run in runs for i in range(len(run) - 1)})


def weightiest(found: Sequence[Line], parts: int, chinese: bool) -> list[Line]:
    """The most informative sentence of each part of a text: by names, recurring words, narration, and some length."""
    counted = Counter(term for line in found for term in terms(line.text, chinese))

    def weight(line: Line) -> float:
        about = sum(min(counted[term], 4) for term in terms(line.text, chinese)) / 12
        length = len(line.text) / (40 if chinese else 110)
        return 2.0 * min(len(line.named()), 3) + min(about, 2.0) - 1.5 * line.spoken - abs(1 - length)

    step = max(1, -(-len(found) // parts))
    return [max(found[at : at + step], key=weight) for at in range(0, len(found), step)]


def nearest(found: Sequence[Line], question: str, chinese: bool) -> list[Line]:
    """The sentences that share the rarest words with a question, two at most; the later one where they tie."""
    words, wanted = [terms(line.text, chinese) for line in found], terms(question, chinese)
    seen = Counter(term for each in words for term in each)
    scores = [sum(1 / seen[term] for term in sorted(wanted & each)) for each in words]
    best = max(scores, default=0.0)
    order = sorted(range(len(found)), key=lambda at: (-scores[at], -at))[:2]
    return [found[at] for at in sorted(order) if scores[at] and scores[at] * 2 > best]
