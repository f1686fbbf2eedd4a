"""Reads a text without a model: its sentences, the names in them, and the most informative ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from typing import Final, NamedTuple

from flowcabal_tui.models.offline.words import NAME, words_of

PERSON: Final = "character"
_LATIN_END: Final = r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?…]+[”\"’']*(?=\s|$)"
_HAN_END: Final = r"(?:[。！？]|(?<=[\u3000-\uffef])…)[。！？…]*[”’」』]*"
_SENTENCE: Final = re.compile(rf"(?=\S).*?(?:{_LATIN_END}|{_HAN_END}|$)", re.M)
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]+")
_LEAST: Final = 0.2
"""Least length of a sentence, relative to a usual one."""
_SPEECH: Final = frozenset('“”"「」『』')


class ListedName(NamedTuple):
    """An entity in a request's list: all its names, the main one first."""

    kind: str
    names: tuple[str, ...]
    is_dead: bool = False

    @property
    def chief(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True, eq=False)
class MaskedSentence:
    """A sentence of a text, starting at `start`, with its `paragraph` up to its end and the id of its source. In
    `masked`, every name is hidden and its length kept.

    A sentence of a note that names nobody has the name in the title of the note, at -1.
    """

    text: str
    start: int
    paragraph: str
    masked: str
    at: Mapping[int, ListedName]
    source: str = ""

    @property
    def length(self) -> float:
        """Its length, compared with a usual sentence of its script."""
        return len(self.text) / (40 if _HAN.search(self.text) else 110)

    @property
    def is_narration(self) -> bool:
        """True without direct speech, and long enough to say anything: 魏长河说。 does not."""
        return self.length >= _LEAST and _SPEECH.isdisjoint(self.text)

    @property
    def weight(self) -> float:
        """How informative the sentence is, by its names and its length."""
        return 2.0 * min(len(self.named()), 3) - abs(1 - self.length)

    def named(self, start: int = 0, end: float = inf) -> list[str]:
        """The names that begin in the sentence, or in a part of it, each once."""
        return list(dict.fromkeys(name.chief for place, name in self.at.items() if start <= place < end))


@lru_cache(maxsize=64)
def _finder(names: tuple[ListedName, ...]) -> tuple[re.Pattern[str], Mapping[str, ListedName]]:
    """A pattern for all names, longest first, and the owner of each; a shared name belongs to the first owner."""
    owners = {form: name for name in names[::-1] for form in name.names}
    longest = sorted(owners, key=len, reverse=True)
    forms = (rf"(?<!\w){re.escape(form)}(?!\w)" if form[0].isascii() else re.escape(form) for form in longest)
    return re.compile("|".join(forms) or "(?!)"), owners


def lines(text: str, names: tuple[ListedName, ...] = (), title: str = "", source: str = "") -> Iterator[MaskedSentence]:
    """The sentences, verbatim without surrounding white space; none extends over a line end."""
    finder, owners = _finder(names)
    about = {-1: owners[title]} if title in owners else {}
    for sentence in _SENTENCE.finditer(text):
        bare, before = sentence[0].rstrip(), text[text.rfind("\n", 0, sentence.start()) + 1 : sentence.end()]
        masked = finder.sub(lambda name: NAME[0] + NAME[1] * (len(name[0]) - 1), bare)
        at = {name.start(): owners[name[0]] for name in finder.finditer(bare)}
        yield MaskedSentence(bare, sentence.start(), before, masked, at or about, source)


def named(text: str, names: Sequence[ListedName], kind: str) -> list[ListedName]:
    """The entities of that kind that a text names, in order of appearance."""
    finder, owners = _finder(tuple(name for name in names if name.kind == kind))
    return list(dict.fromkeys(owners[form] for form in finder.findall(text)))


@cache
def _common() -> frozenset[str]:
    return frozenset(word for chinese in (True, False) for word in words_of(chinese).lists["common"].split())


@lru_cache(maxsize=4_096)
def terms(text: str) -> frozenset[str]:
    """The content words of a text, without the common ones: words in letters, and pairs of Chinese characters."""
    runs = _HAN.findall("".join(" " if char in _common() else char for char in text))
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return frozenset({word.lower() for word in _WORD.findall(text)} - _common() | pairs)


def share(wanted: str, text: str) -> float:
    """The share of the content words of one text that another text has, 0 to 1."""
    words = terms(wanted)
    return len(words & terms(text)) / max(1, len(words))


def extract(found: Sequence[MaskedSentence], parts: int) -> list[MaskedSentence]:
    """The most informative sentence of each part of a text; the later one in a tie."""
    step = max(1, -(-len(found) // parts))
    groups = (found[at : at + step] for at in range(0, len(found), step))
    return [max(reversed(group), key=lambda line: line.weight) for group in groups]


def nearest(found: Sequence[MaskedSentence], question: str) -> list[MaskedSentence]:
    """The sentences that share the rarest words with a question, two at most; the later one in a tie."""
    words, wanted = [terms(line.text) for line in found], terms(question)
    seen = Counter(term for each in words for term in each)
    scores = [sum(1 / seen[term] for term in sorted(wanted & each)) for each in words]
    best = max(scores, default=0.0)
    order = sorted(range(len(found)), key=lambda at: (-scores[at], -at))[:2]
    return [found[at] for at in sorted(order) if scores[at] and scores[at] * 2 > best]
