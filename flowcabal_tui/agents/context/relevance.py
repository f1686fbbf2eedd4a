"""Which earlier chapters and passages matter to a prompt: names apart from its words, rare and long absent ones first.

The weights were set on one Chinese and one English novel and confirmed on two others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.context.intent import Reading
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import PassagePlace, Postings

_NAME_RARITY: Final = 1.75
_WORD_RARITY: Final = 1.3
_ABSENCE: Final = 0.7
"""The power of the chapters since a name or phrase last stood: who was here a page ago needs no reminder."""
_WORDS: Final = 0.7
"""What the share of the words weighs beside the share of the names."""
_PHRASE: Final = 0.5
"""What two words side by side weigh beside one word as rare as both."""
_TOGETHER: Final = 0.5
"""What two names in one passage add to it, of the weaker of them."""
_TOGETHER_IN_CHAPTER: Final = 1.0
_OF_CHAPTER: Final = 0.2
"""What the chapter's relevance adds to its passages."""
_OFTEN: Final = 1.5
"""So many passages of a chapter with a name are half as much as any number."""
_NAMED_AS_REASON: Final = 4
_LED: Final = 12
"""So many chapters come with their best passage before others come with a second."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """A passage with what it was found by, names first."""

    place: PassagePlace
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relevance:
    """Chapters and passages, the most relevant first."""

    chapters: tuple[ChapterId, ...]
    passages: tuple[Relevant, ...]


@dataclass(frozen=True, slots=True)
class _Hits:
    """One name, word or phrase: the places (in the postings) that have it, and how much it counts there."""

    text: str
    places: Sequence[int]
    weight: float
    in_chapters: float


def weigh(reading: Reading, postings: Postings, before: int, most: int) -> Relevance:
    """Ranks the chapters and the best `most` passages for a target at position `before`.

    `postings` answers all forms of the reading's names, in order, then its words.
    """
    places = postings.passages
    found = iter(postings.found)
    of_names = [(each.name, sorted(set().union(*(next(found) for _form in each.forms)))) for each in reading.names]
    of_words = {word: next(found) for word in reading.words}
    of_phrases = {
        one + other[1:]: sorted({*of_words[one]} & {*of_words[other]})
        for one, other in reading.phrases
        if one in of_words and other in of_words
    }
    names = [_absent(_hits(text, at, places, _NAME_RARITY, 1.0), places, before) for text, at in of_names if at]
    words = [_hits(text, at, places, _WORD_RARITY, 1.0) for text, at in of_words.items() if at]
    rare = (_hits(text, at, places, _WORD_RARITY, _PHRASE) for text, at in of_phrases.items() if at)
    phrases = [_absent(each, places, before) for each in rare]
    together = _together(names)
    chapters = _chapters(names, words, phrases, together, places)
    scores = _passages(names, words, phrases, together)
    top, best = max(scores.values(), default=1.0), max(chapters.values(), default=1.0)
    for at in scores:
        scores[at] = scores[at] / top + _OF_CHAPTER * chapters[places[at].chapter] / best
    order = {place.chapter: place.position for place in places}
    ranked = sorted(chapters, key=lambda each: (-round(chapters[each], 9), -order[each]))
    chosen = _in_turn(scores, ranked[:_LED], places)[:most]
    found_by = _found_by((*names, *phrases, *words), chosen)
    return Relevance(tuple(ranked), tuple(Relevant(places[at], found_by[at]) for at in chosen))


def _rarity(having: int, total: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def _hits(text: str, at: Sequence[int], places: Sequence[PassagePlace], power: float, factor: float) -> _Hits:
    chapters, with_it = places[-1].position, len({places[each].chapter for each in at})
    weight = factor * _rarity(len(at), len(places)) ** power
    return _Hits(text, at, weight, factor * _rarity(with_it, max(chapters, with_it)) ** power)


def _absent(hits: _Hits, places: Sequence[PassagePlace], before: int) -> _Hits:
    """The same with the weight of its absence."""
    absence = max(1, before - places[hits.places[-1]].position) ** _ABSENCE
    return replace(hits, weight=hits.weight * absence, in_chapters=hits.in_chapters * absence)


def _together(names: Sequence[_Hits]) -> dict[int, float]:
    """What passages with several names have more, as a share of all names."""
    total = sum(name.weight for name in names)
    weights: defaultdict[int, list[float]] = defaultdict(list)
    for name in names:
        for at in name.places:
            weights[at].append(name.weight)
    return {at: _TOGETHER * (sum(each) - max(each)) / total for at, each in sorted(weights.items()) if len(each) > 1}


def _passages(
    names: Sequence[_Hits], words: Sequence[_Hits], phrases: Sequence[_Hits], together: Mapping[int, float]
) -> dict[int, float]:
    """For each passage the share of the names' weight that stands in it, and of the words'."""
    scores: defaultdict[int, float] = defaultdict(float, together)
    of_names, of_words = sum(name.weight for name in names), sum(word.weight for word in words)
    for share, hits in ((1.0 / (of_names or 1), names), (_WORDS / (of_words or 1), (*words, *phrases))):
        for each in hits:
            for at in each.places:
                scores[at] += share * each.weight
    return scores


def _chapters(
    names: Sequence[_Hits],
    words: Sequence[_Hits],
    phrases: Sequence[_Hits],
    together: Mapping[int, float],
    places: Sequence[PassagePlace],
) -> dict[ChapterId, float]:
    """The same for whole chapters, where what comes often counts for more."""
    scores: defaultdict[ChapterId, float] = defaultdict(float)
    of_names, of_words = sum(name.in_chapters for name in names), sum(word.in_chapters for word in words)
    for share, hits in ((1.0 / (of_names or 1), names), (_WORDS / (of_words or 1), (*words, *phrases))):
        for each in hits:
            for chapter, count in Counter(places[at].chapter for at in each.places).items():
                scores[chapter] += share * each.in_chapters * count / (count + _OFTEN)
    met: defaultdict[ChapterId, float] = defaultdict(float)
    for at, bonus in together.items():
        met[places[at].chapter] += bonus
    for chapter, bonus in met.items():
        scores[chapter] += _TOGETHER_IN_CHAPTER * bonus / (bonus + 1)
    return scores


def _in_turn(scores: Mapping[int, float], first: Sequence[ChapterId], places: Sequence[PassagePlace]) -> list[int]:
    """The best passage of each of the `first` chapters in their order, then the others by score."""
    ranked = sorted(scores, key=lambda at: (-round(scores[at], 9), -at))
    leading: dict[ChapterId, int] = {}
    for at in ranked:
        leading.setdefault(places[at].chapter, at)
    heads = [leading[chapter] for chapter in first if chapter in leading]
    taken = {*heads}
    return [*heads, *(at for at in ranked if at not in taken)]


def _found_by(hits: Iterable[_Hits], chosen: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The first of what stands in each chosen passage."""
    found: dict[int, list[str]] = {at: [] for at in chosen}
    for each in hits:
        for at in each.places:
            if at in found and len(found[at]) < _NAMED_AS_REASON and each.text not in found[at]:
                found[at].append(each.text)
    return {at: tuple(texts) for at, texts in found.items()}
