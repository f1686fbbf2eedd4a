"""Ranks earlier chapters and passages for a prompt, by its names and its other words; rare and long absent ones first.

The weights were set on one Chinese and one English novel and confirmed on two others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import islice, pairwise
from typing import Final

from flowcabal_tui.agents.context.borders import excerpt
from flowcabal_tui.agents.context.circle import ExpectedPerson
from flowcabal_tui.agents.context.drill import Opened
from flowcabal_tui.agents.context.intent import PromptName, SceneReading
from flowcabal_tui.agents.context.things import ABSENCE, RARITY, across_words, cohesion, rarity, strings, things
from flowcabal_tui.agents.context.turns import NameParts, by_turns
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import PassagePlace, Postings, Span

_WORD_RARITY: Final = 1.3
_ABSENCE_IN_PASSAGES: Final = 0.4
"""Exponent of the absence in passages. It is lower than for chapters: people who are always present matter too."""
_WORDS: Final = 0.7
_WORDS_IN_PASSAGES: Final = 0.35
_THINGS: Final = 0.3
_EXPECTED: Final = 1.0
"""Weight of the expected people's share, relative to the share of the names; above: those of words and things."""
_MANY: Final = 6
"""Names in a prompt from which expected people have full weight; with fewer, it falls with the square."""
_MOST_ALONE: Final = 12
"""Maximum passages with expected people only, without a word or name of the prompt."""
_NEAR: Final = 3
_PHRASE: Final = 0.5
"""Weight of two adjacent words, relative to one word of the same rarity."""
_TOGETHER: Final = 0.5
"""Bonus for two names in one passage, relative to the weaker one's weight."""
_TOGETHER_IN_CHAPTER: Final = 1.0
_OF_CHAPTER: Final = 0.1
"""Weight of the chapter's relevance in the scores of its passages."""
_EMPHASIS: Final = 1.4
"""Additional weight of a name that occurs very often in a passage; a single occurrence adds nothing."""
_TELLING: Final = 0.5
"""Bonus of a name for the passage of a chapter with most occurrences, relative to its weight there."""
_IN_FEW_CHAPTERS: Final = 15
"""Maximum chapters of a name for this bonus: for a more frequent name, no passage is distinctive."""
_OFTEN: Final = 1.5
"""Number of passages with a name that gives a chapter half of the name's possible weight."""
_EVERYWHERE: Final = 0.02
"""A word in a larger part of the passages distinguishes nothing, and costs the most time."""
_FEW: Final = 20
_MOST_PLACES: Final = 6_000
"""Maximum places of a name, the oldest and the newest, which bounds the time of an assembly."""
_PHRASE_LENGTH: Final = 3
"""Characters of two pairs that overlap."""
_PLACE: Final = 0.99
"""Maximum weight of a place in passages, relative to the weight of two others together."""
_NAMED_AS_REASON: Final = 4
_LED: Final = 10
"""Number of chapters whose best passages precede all second ones."""
_AT_LENGTH, _FITTING = 24, 64
"""If the context has no space for the second number of whole passages, only the first number is shown at length."""
_SLOTS: Final = 12
"""Number of passages reserved for things, distributed by the squares of their weights."""
HasSpace = Callable[[str], bool]
"""True where the context can hold a text."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """A passage with the terms of the prompt that found it, names first, the people expected in it, and its span."""

    place: PassagePlace
    found_by: tuple[str, ...]
    expected: tuple[str, ...]
    span: Span
    opened: Opened | None = None
    """Its chapter was chosen by its summary, not by this text."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """Chapters and passages, the most relevant first."""

    chapters: tuple[ChapterId, ...]
    passages: tuple[Relevant, ...]


@dataclass(frozen=True, slots=True)
class _Hits:
    """The places (indexes into the postings) of one name, thing, word or phrase, and its weight in each."""

    text: str
    places: Sequence[int]
    weight: float
    in_chapters: float
    forms: tuple[str, ...] = ()
    cut: float = 0.0
    """The weight in passages that a cap removed; the shares of the other names do not change."""


class _Weigher:
    """Weighs by rarity and absence, for a target at position `before`."""

    def __init__(self, places: Sequence[PassagePlace], before: int) -> None:
        self._places, self._before = places, before
        self._chapters = places[-1].position if places else 0

    def hits(
        self,
        text: str,
        at: Sequence[int],
        power: float,
        *,
        factor: float = 1.0,
        absent: bool = True,
        forms: tuple[str, ...] = (),
    ) -> _Hits:
        """Weighs one term. `at` is ascending and not empty; without `absent`, only rarity counts."""
        with_it = len({self._places[each].position for each in at})
        gap = max(1, self._before - self._places[at[-1]].position) if absent else 1
        return _Hits(
            text,
            at,
            factor * gap**_ABSENCE_IN_PASSAGES * rarity(len(at), len(self._places)) ** power,
            factor * gap**ABSENCE * rarity(with_it, max(self._chapters, with_it)) ** power,
            forms,
        )


@dataclass(frozen=True, slots=True)
class Weighed:
    """Ranks from the postings: chapters, the most relevant first, and the scores of passages; the texts refine them."""

    chapters: tuple[ChapterId, ...]
    _places: Sequence[PassagePlace]
    _scores: Mapping[int, float]
    _names: Sequence[_Hits]
    _things: Sequence[_Hits]
    _others: Sequence[_Hits]
    _expected: Sequence[_Hits]
    _unit: float
    """Factor from a name's weight to its part of a score."""

    @property
    def leading(self) -> tuple[ChapterId, ...]:
        """The chapters whose best passage is included first."""
        return self.chapters[:_LED]

    def shortlist(self, most: int, opened: Sequence[Opened] = ()) -> tuple[ChapterId, ...]:
        """The chapters whose texts are needed to choose `most` passages."""
        return tuple(dict.fromkeys(self._places[at].chapter for at in self._shortlist(most, opened)))

    def relevance(
        self, texts: Mapping[ChapterId, str], most: int, opened: Sequence[Opened] = (), has_space: HasSpace = bool
    ) -> Relevance:
        """The best `most` passages; the number of occurrences of a name in a passage counts too.

        The best passage of each chapter that its summary `opened` follows those of the leading chapters.
        """
        scores = {at: self._scores.get(at, 0.0) for at in self._shortlist(most, opened)}
        parts = self._emphasised(scores, texts)
        for at, of_names in parts.items():
            plain = sum(self._unit * self._names[name].weight for name in of_names)
            scores[at] = round(scores[at] + sum(of_names.values()) - plain, 9)
        best = ((self._best_of(each, scores, texts), each) for each in opened)
        by_summary = {at: each for at, each in best if at is not None}
        first = [*_leading(scores, self._places, self.leading), *by_summary]
        first += _of_things(self._things_by_cohesion(texts), scores, self._places, self._counts(scores, texts))
        for at, name in [*_most_telling(self._names, scores, parts, self._places)]:
            more = _TELLING * parts[at][name]
            parts[at][name] += more
            scores[at] = round(scores[at] + more, 9)
        chosen = by_turns(first, scores, parts, [name.weight for name in self._names], most)
        found_by = _found_by((*self._names, *self._things, *self._others), chosen)
        whole = (texts[place.chapter][place.start : place.end] for place in map(self._places.__getitem__, chosen))
        at_length = most if has_space("".join(islice(whole, _FITTING))) else _AT_LENGTH
        spans = self._spans(chosen, texts, at_length)
        found = found_by, _found_by(self._expected, chosen), spans, map(by_summary.get, chosen)
        return Relevance(self.chapters, tuple(map(Relevant, (self._places[at] for at in chosen), *found)))

    def _emphasised(self, shown: Collection[int], texts: Mapping[ChapterId, str]) -> dict[int, dict[int, float]]:
        """For each passage, the additional score of its names, higher for frequent ones."""
        parts: dict[int, dict[int, float]] = defaultdict(dict)
        for number, name in enumerate(self._names):
            for at in name.places:
                if at in shown:
                    place = self._places[at]
                    passage = texts[place.chapter][place.start : place.end]
                    often = max(1, *(passage.count(form) for form in name.forms))
                    parts[at][number] = self._unit * name.weight * (1 + _EMPHASIS * (often / (often + 1) - 0.5))
        return parts

    def _things_by_cohesion(self, texts: Mapping[ChapterId, str]) -> list[_Hits]:
        """The things, with a higher weight for those whose characters rarely occur together by chance."""
        sample = "".join(texts[each] for each in self.leading if each in texts)
        found = []
        for thing in self._things:
            factor = cohesion(thing.text, len(thing.places) / len(self._places), sample) ** 0.5
            found.append(replace(thing, weight=round(thing.weight * factor, 9)))
        return found

    def _counts(self, shown: Collection[int], texts: Mapping[ChapterId, str]) -> dict[tuple[str, int], int]:
        """The number of occurrences of each thing in each passage."""
        found = {}
        for thing in self._things:
            for at in thing.places:
                if at in shown:
                    place = self._places[at]
                    found[thing.text, at] = texts[place.chapter][place.start : place.end].lower().count(thing.text)
        return found

    def _best_of(self, opened: Opened, scores: Mapping[int, float], texts: Mapping[ChapterId, str]) -> int | None:
        """The passage of a chapter with the highest score; of equal ones the nearest to its summary; None if empty."""
        own = [at for at in scores if self._places[at].chapter == opened.chapter]
        most = max((scores[at] for at in own), default=0.0)
        best = [at for at in own if scores[at] == most]
        if len(best) < 2:
            return best[0] if best else None
        pairs = frozenset(pairwise(opened.text))

        def in_common(at: int) -> tuple[int, int]:
            place = self._places[at]
            return len(pairs & frozenset(pairwise(texts[place.chapter][place.start : place.end]))), -at

        return max(best, key=in_common)

    def _spans(self, chosen: Sequence[int], texts: Mapping[ChapterId, str], at_length: int) -> Iterator[Span]:
        """The spans of each passage about its names and things; shorter ones after the first `at_length`."""
        found: dict[int, list[tuple[float, tuple[str, ...]]]] = {at: [] for at in chosen}
        for hits in (*self._names, *self._things, *self._expected):
            for at in hits.places:
                if at in found:
                    found[at].append((hits.weight, hits.forms or (hits.text,)))
        for number, at in enumerate(chosen):
            place = self._places[at]
            yield excerpt(texts[place.chapter], place.start, place.end, found[at], briefly=number >= at_length)

    def _shortlist(self, most: int, opened: Sequence[Opened]) -> list[int]:
        """Twice as many passages as needed, and all of the chapters and things that get a passage of their own."""
        led = frozenset(self.leading)
        best = nlargest(2 * most, ((score, at) for at, score in self._scores.items()))
        found = dict.fromkeys(at for _score, at in best)
        found |= dict.fromkeys(at for at in self._scores if self._places[at].chapter in led)
        by_summary = frozenset(each.chapter for each in opened)
        found |= dict.fromkeys(at for at, place in enumerate(self._places) if place.chapter in by_summary)
        return list(found | dict.fromkeys(at for thing in self._things for at in thing.places))


def weigh(reading: SceneReading, postings: Postings, before: int, expected: Sequence[ExpectedPerson] = ()) -> Weighed:
    """Weighs chapters and passages for a target at position `before`. People in `expected` count for passages alone.

    `postings` holds the results for all forms of the reading's names, its words, and the forms of `expected`.
    """
    places = postings.passages
    names, found_things, others = _groups(reading, postings, before)
    together = _together(names)
    may_come = _may_come(expected, postings, before)
    in_chapters = ((1.0, names), (_WORDS, others), (_THINGS, found_things))
    in_passages = ((1.0, names), (_WORDS_IN_PASSAGES, others), (_THINGS, found_things))
    share = _EXPECTED * min(1.0, max(1, len(reading.names)) / _MANY) ** 2
    chapters = _chapters(in_chapters, together, places)
    scores = _with(may_come, _passages(in_passages, together), share)
    top, best = max(scores.values(), default=1.0), max(chapters.values(), default=1.0)
    total = {
        at: round(score / top + _OF_CHAPTER * chapters.get(places[at].chapter, 0.0) / best, 9)
        for at, score in scores.items()
    }
    order = {places[at].chapter: places[at].position for at in scores}
    ranked = sorted(chapters, key=lambda each: (-round(chapters[each], 9), -order[each]))
    unit = 1.0 / top / (sum(name.weight for name in names) or 1.0)
    return Weighed(tuple(ranked), places, total, names, found_things, others, may_come, unit)


def _may_come(expected: Sequence[ExpectedPerson], postings: Postings, before: int) -> list[_Hits]:
    """The places of the expected people, without the last chapters, which are included anyway."""
    found = iter(postings.found[len(postings.found) - sum(len(each.forms) for each in expected) :])
    end = bisect_left(postings.passages, before - _NEAR, key=lambda place: place.position)
    hits = []
    for each in expected:
        places = sorted(at for at in set().union(*(next(found) for _form in each.forms)) if at < end)
        if places:
            hits.append(_Hits(each.name, _ends(places), each.weight, each.weight, each.forms))
    return hits


def _groups(reading: SceneReading, postings: Postings, before: int) -> tuple[list[_Hits], list[_Hits], list[_Hits]]:
    """The hits of names, of things, and of words and phrases."""
    weigher, found = _Weigher(postings.passages, before), iter(postings.found)
    of_names = [(each, sorted(set().union(*(next(found) for _form in each.forms)))) for each in reading.names]
    of_words = {word: frozenset(next(found)) for word in reading.words}
    pairs = of_words if reading.runs else {}
    candidates = strings(reading.runs, pairs) if reading.runs else of_words
    few = max(_FEW, len(postings.passages) * _EVERYWHERE)
    across = across_words(reading.runs, pairs)
    words = [
        weigher.hits(text, sorted(at), _WORD_RARITY, absent=False)
        for text, at in of_words.items()
        if 0 < len(at) <= few and text not in across
    ]
    phrases = [
        weigher.hits(text, sorted(at), _WORD_RARITY, factor=_PHRASE)
        for text, at in candidates.items()
        if reading.runs and len(text) == _PHRASE_LENGTH and len(at) <= few and across.isdisjoint((text[:2], text[1:]))
    ]
    named = [(name, weigher.hits(name.name, _ends(at), RARITY, forms=name.forms)) for name, at in of_names if at]
    return (
        _capped(named),
        [
            _Hits(each.text, each.places, each.weight, each.weight)
            for each in things(candidates, pairs, postings.passages, before)
        ],
        [*phrases, *words],
    )


def _capped(named: Sequence[tuple[PromptName, _Hits]]) -> list[_Hits]:
    """The hits with a cap: a place weighs less than the two heaviest of the other names together."""
    two = nlargest(2, (hits.weight for name, hits in named if not name.is_place))
    if len(two) < 2:
        return [hits for _name, hits in named]
    most = _PLACE * (sum(two) + _TOGETHER * two[1])
    return [
        replace(hits, weight=most, cut=hits.weight - most) if name.is_place and hits.weight > most else hits
        for name, hits in named
    ]


def _ends(at: list[int]) -> list[int]:
    """The oldest and the newest places, if there are very many."""
    return at if len(at) <= _MOST_PLACES else at[: _MOST_PLACES // 2] + at[-_MOST_PLACES // 2 :]


def _together(names: Sequence[_Hits]) -> dict[int, float]:
    """The bonus of passages with several names, as a share of all names."""
    total = sum(name.weight + name.cut for name in names)
    weights: defaultdict[int, list[float]] = defaultdict(list)
    for name in names:
        for at in name.places:
            weights[at].append(name.weight)
    return {at: _TOGETHER * (sum(each) - max(each)) / total for at, each in sorted(weights.items()) if len(each) > 1}


def _passages(groups: Iterable[tuple[float, Sequence[_Hits]]], together: Mapping[int, float]) -> dict[int, float]:
    """For each passage, the share of each group's weight that it contains."""
    scores: defaultdict[int, float] = defaultdict(float, together)
    for share, hits in groups:
        total = sum(each.weight + each.cut for each in hits) or 1.0
        for each in hits:
            weight = share * each.weight / total
            for at in each.places:
                scores[at] += weight
    return scores


def _with(may_come: Sequence[_Hits], scores: Mapping[int, float], share: float) -> dict[int, float]:
    """The scores with a share for expected people, and the best few passages about them alone."""
    shares = _passages([(share, may_come)], {})
    alone = nlargest(_MOST_ALONE, ((share, at) for at, share in shares.items() if at not in scores))
    return {at: score + shares.get(at, 0.0) for at, score in scores.items()} | {at: share for share, at in alone}


def _chapters(
    groups: Iterable[tuple[float, Sequence[_Hits]]], together: Mapping[int, float], places: Sequence[PassagePlace]
) -> dict[ChapterId, float]:
    """Like `_passages` for whole chapters, where frequent occurrences count more."""
    scores: defaultdict[ChapterId, float] = defaultdict(float)
    for share, hits in groups:
        total = sum(each.in_chapters for each in hits) or 1.0
        for each in hits:
            weight = share * each.in_chapters / total
            for chapter, count in Counter(places[at].chapter for at in each.places).items():
                scores[chapter] += weight * count / (count + _OFTEN)
    met: defaultdict[ChapterId, float] = defaultdict(float)
    for at, bonus in together.items():
        met[places[at].chapter] += bonus
    for chapter, bonus in met.items():
        scores[chapter] += _TOGETHER_IN_CHAPTER * bonus / (bonus + 1)
    return scores


def _leading(scores: Mapping[int, float], places: Sequence[PassagePlace], chapters: Sequence[ChapterId]) -> list[int]:
    """The best passage of each of the `chapters`, in their order."""
    leading: dict[ChapterId, int] = {}
    for at, score in scores.items():
        other = leading.setdefault(places[at].chapter, at)
        if (score, at) > (scores[other], other):
            leading[places[at].chapter] = at
    return [leading[chapter] for chapter in chapters]


def _most_telling(
    names: Sequence[_Hits], scores: Mapping[int, float], parts: NameParts, places: Sequence[PassagePlace]
) -> Iterator[tuple[int, int]]:
    """For each name in few chapters, the passage of each chapter with most occurrences, and the number of the name.

    Further passages of a chapter seldom say more about such a name than the passage that is about it.
    """
    for number, name in enumerate(names):
        if len({places[at].chapter for at in name.places}) > _IN_FEW_CHAPTERS:
            continue
        best: dict[ChapterId, tuple[float, float, int]] = {}
        for at in name.places:
            if at in scores:
                chapter, rank = places[at].chapter, (parts[at][number], scores[at], -at)
                best[chapter] = max(rank, best.get(chapter, rank))
        yield from ((-at, number) for _part, _score, at in best.values())


def _of_things(
    things: Sequence[_Hits],
    scores: Mapping[int, float],
    places: Sequence[PassagePlace],
    counts: Mapping[tuple[str, int], int],
) -> Iterator[int]:
    """The passages reserved for things: the best of each chapter first, then the others.

    The best is the one with most occurrences of the thing; of equal ones, the one with the highest score. Each further
    one goes to the thing whose squared weight is largest for the number it has (highest averages, D'Hondt).
    """
    waiting: list[deque[int]] = []
    for thing in things:
        ranked = sorted(thing.places, key=lambda at: (-counts.get((thing.text, at), 0), -scores[at], -at))
        leading = {places[at].chapter: at for at in reversed(ranked)}
        waiting.append(deque(sorted(ranked, key=lambda at: leading[places[at].chapter] != at)))
    given = Counter[int]()
    for _slot in range(_SLOTS):
        open_to = [at for at, each in enumerate(waiting) if each]
        if not open_to:
            return
        best = max(open_to, key=lambda at: (things[at].weight ** 2 / (given[at] + 1), -at))
        given[best] += 1
        yield waiting[best].popleft()


def _found_by(hits: Iterable[_Hits], chosen: Iterable[int]) -> Iterator[tuple[str, ...]]:
    """For each chosen passage, the first of its terms."""
    found: dict[int, list[str]] = {at: [] for at in chosen}
    for each in hits:
        for at in each.places:
            if at in found and len(found[at]) < _NAMED_AS_REASON and each.text not in found[at]:
                found[at].append(each.text)
    return map(tuple, found.values())
