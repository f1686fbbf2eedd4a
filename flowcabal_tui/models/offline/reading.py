"""Reading a text without a model: its sentences, the names in them, the words that it shares with another."""

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

    A sentence of a note that names nobody begins with the title of the note: `added` characters are not its own.
    """

    text: str
    start: int
    paragraph: str
    masked: str
    at: Mapping[int, Name]
    added: int = 0

    @property
    def spoken(self) -> bool:
        return self.text[0] in _SPEECH

    def within(self, start: int, end: int) -> list[str]:
        """The names that begin in a part of the sentence, each once."""
        return list(dict.fromkeys(name.chief for place, name in self.at.items() if start <= place < end))

    @property
    def named(self) -> list[str]:
        return self.within(0, len(self.masked))


def is_chinese(text: str) -> bool:
    """True when there are more Chinese characters than Latin words."""
    return sum(map(len, _HAN.findall(text))) > len(_WORD.findall(text))


def lines(text: str, names: Sequence[Name], chinese: bool, title: str = "") -> list[Line]:
    """The sentences, verbatim without the space around them; none reaches over a line end."""
    about = next((name for name in names if title and title in name.names), None)
    found: list[Line] = []
    offset = 0
    for paragraph in text.split("\n"):
        start = 0
        for cut in [*(match.end() for match in _END[chinese].finditer(paragraph)), len(paragraph)]:
            piece = paragraph[start:cut]
            if bare := piece.strip():
                at = offset + start + len(piece) - len(piece.lstrip())
                found.append(_masked(bare, at, paragraph.strip(), names, about, chinese))
            start = cut
        offset += len(paragraph) + 1
    return found


def _masked(text: str, start: int, paragraph: str, names: Sequence[Name], about: Name | None, chinese: bool) -> Line:
    found, whole = mentions(text, names), text
    if about and not found:
        whole = about.chief + (text if chinese else f" {text[0].lower()}{text[1:]}")
        found = [(0, len(about.chief), about)]
    masked, cut = "", 0
    for begin, end, _name in found:
        masked += whole[cut:begin] + NAME[0] + NAME[1] * (end - begin - 1)
        cut = end
    at = {begin: name for begin, _end, name in found}
    return Line(text, start, paragraph, masked + whole[cut:], at, len(whole) - len(text))


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


@lru_cache(maxsize=4_096)
def terms(text: str, chinese: bool) -> frozenset[str]:
    """The content words of a text: words without the common ones; pairs of characters in Chinese."""
    common = frozenset(words_of(chinese).lists["common"])
    found = {word.lower() for word in _WORD.findall(text)} - common
    runs = _HAN.findall("".join(" " if c in common else c for c in text)) if chinese else []
    return frozenset(found | {run[i : i + 2] for run in runs for i in range(len(run) - 1)})


def with_short_forms(names: Iterable[Name]) -> tuple[Name, ...]:
    """English persons are also called by the parts of their names that nobody else has."""
    listed = list(names)
    parts = Counter(part for name in listed if name.kind == PERSON for part in set(name.chief.split()))
    return tuple(
        Name(name.kind, tuple(dict.fromkeys([*name.names, *(p for p in name.chief.split() if parts[p] == 1)])))
        for name in listed
    )


def weightiest(found: Sequence[Line], parts: int, chinese: bool) -> list[Line]:
    """The most informative sentence of each part of a text: by names, recurring words, narration, and some length."""
    counted = Counter(term for line in found for term in terms(line.text, chinese))

    def weight(line: Line) -> float:
        about = sum(min(counted[term], 4) for term in terms(line.text, chinese)) / 12
        length = len(line.text) / (40 if chinese else 110)
        return 2.0 * min(len(line.named), 3) + min(about, 2.0) - 1.5 * line.spoken - abs(1 - length)

    step = max(1, -(-len(found) // parts))
    return [max(found[at : at + step], key=weight) for at in range(0, len(found), step)]
