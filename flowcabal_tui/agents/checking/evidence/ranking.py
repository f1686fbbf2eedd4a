"""Ranks the sentences of the book for each statement of a draft: same subject, same kind of thing."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from itertools import chain
from typing import Final, NamedTuple

from flowcabal_tui.agents.checking.evidence.reading import Comparison, SentenceContent, TextReader
from flowcabal_tui.agents.checking.evidence.statements import DraftClause, around
from flowcabal_tui.agents.context.things import rarity
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Span

_EVERYWHERE: Final = 0.03
"""A word or name in a larger share of the passages leads to no passage by itself."""
_LEAST_COMMON: Final = 20
_MOST_RARE: Final = 150
_PASSAGES: Final = 16
"""Minimum passages for each statement; a draft of few statements gets more for each."""
_PAIRS: Final = 600
"""Maximum pairs of a statement and a passage that are compared sentence by sentence."""
_PASSAGES_KEPT: Final = 2_000
_MOST_OF_BOTH: Final = 400
_HOPEFUL: Final = 200
"""Passages for each statement whose common words are counted."""
_POWER: Final = 1.3
"""Exponent of a word's rarity in its weight."""
_NAME: Final = 1.0
_NEAR_NAME: Final = 0.5
"""Factor on a subject's weight when the passage contains its name and the sentence does not."""
_KIND: Final = 2.5
_COUNTED: Final = 2.0
"""Weight of a kind without words in any index: a number with a unit."""
_BOTH: Final = 0.15
_MOST_OF: Final = 6.0
"""Added for the same kind of thing about the same subject, times both weights."""
_BESIDE: Final = 0.6
"""Factor on the weight of a word in a neighbour of the statement or of the sentence."""
_DECAY: Final = 0.25
"""Exponent of the rank by which further passages for one statement count less."""
_APART: Final = 0.9
"""Factor on the score of a sentence that shares no kind of thing with the statement and is not near in other ways."""
_NEAR_BY_WORDS: Final = 2.0
"""Least strength at which words alone make two sentences near."""
_LENGTH: Final = 0.3
"""Exponent of the length of a sentence, by which its score is divided."""


@dataclass(frozen=True, slots=True)
class Index:
    """The passages, of the `total` of the book, that hold the draft's subjects, words and kinds, by number."""

    total: int
    subjects: Mapping[EntityId, array[int]]
    words: Mapping[str, Sequence[array[int]]]
    """For each word all its forms."""
    kinds: Mapping[str, Sequence[array[int]]]
    """For each kind all its words."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each subject, word and kind of a draft, by its rarity in the book."""

    subjects: Mapping[EntityId, float]
    words: Mapping[str, float]
    kinds: Mapping[str, float]
    rarest: float = 1.0
    """The weight of a word that occurs in one passage of the book."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The passages to read for each statement, by their indexes and the numbers of the statements."""

    passages: Mapping[int, Sequence[int]]
    weights: Weights


class NamedPassage(NamedTuple):
    """A passage with the offsets in its chapter at which subjects are named. `position` is the chapter's."""

    chapter: ChapterId
    position: int
    start: int
    text: str
    named: tuple[tuple[int, EntityId], ...]


class Sentence(NamedTuple):
    """A sentence or clause of the book, by offsets in its chapter, that fits the statement which begins at `draft`.

    `kinds` are the kinds of things that both mention; `about` are subjects that only its passage names.
    """

    chapter: ChapterId
    position: int
    start: int
    end: int
    draft: int
    score: float
    kinds: frozenset[str]
    about: tuple[EntityId, ...]
    strength: float = 0.0
    """The score in words that one passage of the book has: the same measure for short books and long ones."""
    compared: Comparison = "differ"
    """The values of the statement beside those of the sentence, by rule."""


class _Unit(NamedTuple):
    """A sentence of a shortlisted passage. `beside`: words of its neighbours; `near`: who is named in the passage."""

    passage: NamedPassage
    start: int
    end: int
    words: frozenset[str]
    beside: frozenset[str]
    subjects: frozenset[EntityId]
    near: frozenset[EntityId]
    content: SentenceContent
    kinds: frozenset[str]
    length: float


def shortlisted(statements: Sequence[DraftClause], index: Index) -> Shortlist:
    """The passages of the book that may concern the statements."""
    most = min(_MOST_RARE, max(_LEAST_COMMON, _EVERYWHERE * index.total))
    places = _Places(
        {each: _places([at], most) for each, at in index.subjects.items()},
        {each: _places(forms, most) for each, forms in index.words.items()},
        {each: _places(words, most) for each, words in index.kinds.items()},
    )
    weights = Weights(
        {each: _NAME * rarity(len(at), index.total) for each, at in places.subjects.items()},
        {each: rarity(len(at), index.total) ** _POWER for each, at in places.words.items()},
        {each: _KIND * rarity(len(at), index.total) for each, at in places.kinds.items()},
        rarity(1, max(2, index.total)) ** _POWER,
    )
    lookup = _Lookup(places, weights, most)
    count = max(_PASSAGES, _PAIRS // (2 * max(1, len(statements))))
    pairs = [
        (score / (1 + rank) ** _DECAY, -number, place)
        for number, statement in enumerate(statements)
        for rank, (score, place) in enumerate(lookup.best(statement, count))
    ]
    chosen: defaultdict[int, list[int]] = defaultdict(list)
    for _score, number, place in nlargest(_PAIRS, pairs):
        chosen[-number].append(place)
    return Shortlist(dict(chosen), weights)


def _places(each: Sequence[array[int]], most: float) -> Collection[int]:
    """The passages that any of the lists contains, each once; a set if there are more than `most`."""
    one: Collection[int] = each[0] if len(each) == 1 else frozenset(chain(*each))
    return frozenset(one) if len(one) > most else one


@dataclass(frozen=True, slots=True)
class _Places:
    """The passages of each subject, word and kind; as sets for common ones."""

    subjects: Mapping[EntityId, Collection[int]]
    words: Mapping[str, Collection[int]]
    kinds: Mapping[str, Collection[int]]


class _Lookup:
    """Finds passages with a rare word or subject of a statement, or with a common subject and a kind of it."""

    def __init__(self, places: _Places, weights: Weights, most: float) -> None:
        self._places, self._weights, self._most = places, weights, most
        self._of_both: dict[tuple[EntityId, str], tuple[int, ...]] = {}

    def best(self, statement: DraftClause, count: int) -> list[tuple[float, int]]:
        """Up to `count` passages with their scores, the best first."""
        subjects = sorted(statement.subjects.items())
        places, weights = self._places, self._weights
        kinds = sorted(statement.kinds & places.kinds.keys())
        weighted = [
            *((places.words[each], weights.words[each]) for each in sorted(statement.words)),
            *((places.kinds[each], weights.kinds[each]) for each in kinds),
            *((places.subjects[each], part * weights.subjects[each]) for each, part in subjects),
        ]
        rare: defaultdict[int, float] = defaultdict(float)
        for at, weight in weighted:
            if len(at) <= self._most:
                for place in at:
                    rare[place] += weight
        hopeful = rare.copy()
        for subject, part in subjects:
            if part == 1 and len(places.subjects[subject]) > self._most:
                for kind in kinds:
                    weight = weights.kinds[kind] + weights.subjects[subject]
                    for place in self._both(subject, kind):
                        hopeful[place] += weight
        scores = {at: rare.get(at, 0.0) for at in largest(hopeful, _HOPEFUL)}
        candidates = frozenset(scores)
        for at, weight in weighted:
            if len(at) > self._most:
                for place in candidates.intersection(at):
                    scores[place] += weight
        return nlargest(count, zip(scores.values(), scores, strict=True))

    def _both(self, subject: EntityId, kind: str) -> tuple[int, ...]:
        """Passages with a subject and a kind; if there are very many, the oldest and the newest."""
        key = (subject, kind)
        if key not in self._of_both:
            found = sorted(frozenset(self._places.subjects[subject]).intersection(self._places.kinds[kind]))
            half = _MOST_OF_BOTH // 2
            self._of_both[key] = tuple(found if len(found) <= _MOST_OF_BOTH else (*found[:half], *found[-half:]))
        return self._of_both[key]


def largest(scores: Mapping[int, float], count: int) -> Collection[int]:
    """The places of the `count` largest scores; of equal ones the last places."""
    if len(scores) <= count:
        return scores.keys()
    least = sorted(scores.values(), reverse=True)[count - 1]
    above = [place for place, score in scores.items() if score > least]
    equal = sorted((place for place, score in scores.items() if score == least), reverse=True)
    return above + equal[: count - len(above)]


def ranked(
    statements: Sequence[DraftClause], shortlist: Shortlist, passages: Mapping[int, NamedPassage], reader: TextReader
) -> list[Sentence]:
    """The sentences of the shortlisted passages, best matches first; a sentence may occur for several statements."""
    vocabulary = frozenset(shortlist.weights.words)
    units = {at: tuple(_units(each, vocabulary, reader)) for at, each in passages.items()}
    found: list[Sentence] = []
    for number, places in sorted(shortlist.passages.items()):
        statement = statements[number]
        looked_at = [unit for at in sorted(places) for unit in units[at]]
        scores = _fits(statement, looked_at, shortlist.weights)
        best = nlargest(2 * len(places), zip(scores, range(len(scores)), strict=True))  # of equal ones the last
        found += [_sentence(statement, looked_at[at], score, shortlist.weights.rarest) for score, at in best]
    return sorted(found, key=lambda each: (-each.score, each.position, each.start, each.draft))


def _sentence(statement: DraftClause, unit: _Unit, score: float, rarest: float) -> Sentence:
    compared, strength = statement.content.compared(unit.content), score / rarest
    apart = compared == "none" and strength < _NEAR_BY_WORDS
    return Sentence(
        unit.passage.chapter,
        unit.passage.position,
        unit.start,
        unit.end,
        statement.start,
        score * (_APART if apart else 1),
        statement.kinds & unit.kinds,
        _only_near(statement, unit),
        strength,
        compared,
    )


def _only_near(statement: DraftClause, unit: _Unit) -> tuple[EntityId, ...]:
    """The subjects of the statement that the passage names, if the sentence names none of them."""
    if not unit.near or not unit.subjects.isdisjoint(statement.subjects):
        return ()
    near = sorted(statement.subjects.keys() & unit.near)
    return tuple(sorted(near, key=lambda each: -statement.subjects[each]))


def _fits(statement: DraftClause, units: Sequence[_Unit], weights: Weights) -> list[float]:
    """A score for each sentence of the book: how likely it is about the content of the statement."""
    words, beside_it, kinds = statement.words, statement.beside, statement.kinds
    subjects = [(each, part * weights.subjects[each]) for each, part in sorted(statement.subjects.items())]
    fits = []
    for unit in units:
        own = _sum(weights.words, words & unit.words)
        beside = _sum(weights.words, words & unit.beside)
        beside += _sum(weights.words, beside_it & unit.words)
        of = 0.0
        for subject, weight in subjects:
            if subject in unit.near:
                of += weight * (1 if subject in unit.subjects else _NEAR_NAME)
        kind = sum([weights.kinds.get(each, _COUNTED) for each in sorted(kinds & unit.kinds)])
        fits.append((own + _BESIDE * beside + of + kind + _BOTH * min(of, _MOST_OF) * kind) / unit.length)
    return fits


def _sum(weights: Mapping[str, float], words: frozenset[str]) -> float:
    """The sum of the weights, independent of the iteration order of a set."""
    return math.fsum(map(weights.__getitem__, words)) if words else 0.0


def _units(passage: NamedPassage, vocabulary: frozenset[str], reader: TextReader) -> Iterator[_Unit]:
    spans = _read(passage.text, reader.language)
    words = [reader.words_among(passage.text[span.start : span.end], vocabulary) for span, _content in spans]
    near = frozenset(subject for _at, subject in passage.named)
    for number, (span, content) in enumerate(spans):
        start, end = passage.start + span.start, passage.start + span.end
        yield _Unit(
            passage,
            start,
            end,
            words[number],
            around(words, number) - words[number],
            frozenset([subject for at, subject in passage.named if start <= at < end]) if near else near,
            near,
            content,
            content.kinds,
            (1 + (end - start) / reader.usual) ** _LENGTH,
        )


@lru_cache(_PASSAGES_KEPT)
def _read(passage: str, language: str) -> tuple[tuple[Span, SentenceContent], ...]:
    """The sentences of a passage with their content; the result does not depend on the draft."""
    reader = TextReader(language)
    return tuple((span, reader.content(passage[span.start : span.end])) for span in reader.units(passage))
