"""Values that a text gives to somebody or something, and contradicting earlier values of the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.speech import BLANK
from flowcabal_tui.agents.words import alternatives, word_list, word_table
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.run import Quotation

_WORD: Final = re.compile(r"[A-Za-zÀ-ɏ]{3,}")
_HAN_RUN: Final = re.compile(r"[㐀-鿿]{2,}")
_RARITY: Final = 0.7
_ENDINGS: Final = re.compile(r"(?:ing|ed|es|ly|s|e)$")


@cache
def _empty() -> frozenset[str]:
    return word_list("empty.en") | word_list("acts.en")


def terms(text: str, language: str) -> frozenset[str]:
    """The comparable terms of a text: pairs of characters, or stems of words."""
    if language.startswith("zh"):
        return frozenset(run[0][at : at + 2] for run in _HAN_RUN.finditer(text) for at in range(len(run[0]) - 1))
    return frozenset(stem for word in _WORD.findall(text) if (stem := _stem(word)) not in _empty())


def shared(one: frozenset[str], other: frozenset[str], book: EarlierBook, rarity: float = _RARITY) -> dict[str, float]:
    """The weights of the shared terms, rarest first, without those below `rarity`.

    A word of every chapter weighs nothing, one of a single chapter of 100 weighs 4.6.
    """
    weights = sorted(((_weight(term, book), term) for term in one & other), reverse=True)
    kept = [(weight, term) for weight, term in weights if weight > rarity]
    return {term: weight for weight, term in kept}


def _weight(term: str, book: EarlierBook) -> float:
    return math.log(1 / max(book.share_with(term), 1 / (len(book.chapters) + 1)))


def _stem(word: str) -> str:
    low = word if word[0].isupper() else word.lower()
    return _ENDINGS.sub("", low) if len(low) > 5 else low


_AS_ONE: Final = 3.0
"""Weight of both places having the same person as subject."""

_DECLARED: Final = 100.0
_CERTAIN: Final = 50.0
_BESIDE, _SHARE = 2.5, 0.8
"""Maximum weight of a person who is named near both places, and the factor on the rarity of the name."""
_MOST, _COMPARED = 60, 4_000
"""Values of one kind that are read in a chapter, and earlier ones that one is compared with, at most."""
_RARE: Final = 1.6
_PHRASE: Final = 0.7
"""The share of its weight that a word inside a phrase loses."""
_CLOSE: Final = {"zh": 40, "en": 160}
"""Characters around a value whose words are its own."""
_NEARBY: Final = 400
_ROLES: Final = word_list("roles.zh")
"""Words for roles that are found as names and that many people share."""
_BETWEEN_WORDS: Final = word_table("rules", "ages")
_BETWEEN: Final = {
    "zh": late(rf"(?:{alternatives(_BETWEEN_WORDS['told_zh'])}){{0,5}}"),
    "en": late(rf"(?: ?(?:{alternatives(_BETWEEN_WORDS['told_en'])})){{0,6}} ?"),
}


@dataclass(frozen=True, slots=True)
class NarratedValue:
    """A statement of the narration about `part` of something; only the rule that read `value` compares it."""

    part: str
    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clash:
    """A value of the draft with its words, and the words of the earlier value that contradicts it."""

    value: NarratedValue
    draft: Quotation
    source: Quotation
    weight: float

    def finding(self, subtype: str, explanation: str) -> RuleFinding:
        """The finding of a rule that reports every clash."""
        return RuleFinding(subtype, explanation, self.draft, self.source)


def unmistakable(narrated: NarratedText, values: Iterable[NarratedValue]) -> tuple[NarratedValue, ...]:
    """The first of the values of each part in a sentence, unless the sentence has different ones of that part."""
    found: dict[tuple[str, int], list[NarratedValue]] = {}
    for value in values:
        found.setdefault((value.part, narrated.sentence_number(value.start)), []).append(value)
    return tuple(same[0] for same in found.values() if len({value.value for value in same}) == 1)


Reads = Callable[[NarratedText], Sequence[NarratedValue]]


def clashes(
    draft: NarratedText,
    book: EarlierBook,
    read: Reads,
    disagree: Callable[[Any, Any], bool | None],
    least: float,
    same: Callable[[ValueContext, ValueContext, EarlierBook], float] | None = None,
) -> Iterator[Clash]:
    """For each value of the draft, the earlier one about the same thing that differs, unless an earlier one agrees.

    `disagree` returns None for values that cannot be compared. `least` is the least weight of shared rare words at
    which two places count as the same subject.
    """
    earlier: dict[str, list[tuple[NarratedText, NarratedValue]]] = {}
    for chapter in book.chapters:
        for one in chapter.made(read)[:_MOST]:
            earlier.setdefault(one.part, []).append((chapter, one))
    for value in read(draft)[:_MOST]:
        if not draft.says_changed(value.start):
            best, agreed = _against_declared(draft, value, book, read, disagree)
            here, mine = _place(draft, value, book), draft.quoted(value.start, value.end)
            for chapter, one in earlier.get(value.part, [])[-_COMPARED:]:
                weight = (same or same_subject)(here, _place(chapter, one, book), book)
                if weight < min(least, 2.5):
                    continue
                differs = disagree(value.value, one.value)
                if differs is False:
                    agreed = max(agreed, weight)
                elif differs and weight >= least and (best is None or weight > best.weight):
                    best = Clash(value, mine, chapter.sentence_at(one.start), weight)
            if best is not None and best.weight > agreed:
                yield best


def _against_declared(
    draft: NarratedText,
    value: NarratedValue,
    book: EarlierBook,
    read: Reads,
    disagree: Callable[[Any, Any], bool | None],
) -> tuple[Clash | None, float]:
    """The clash with a note about the person whom the value is about; or the weight of a note that agrees."""
    about = book.subject(draft, value.start)
    best, agreed = None, 0.0
    for each in book.declared:
        for one in each.narrated.made(read) if each.about == about else ():
            differs = disagree(value.value, one.value) if one.part == value.part else None
            if differs:
                best = Clash(value, draft.quoted(value.start, value.end), each.source, _DECLARED)
            elif differs is False:
                agreed = _DECLARED
    return best, agreed


@dataclass(frozen=True, slots=True)
class ValueContext:
    """The words around a value, the person it is about, and the people named near it."""

    near: frozenset[str]
    own: frozenset[str]
    """The words of its own sentence."""
    about: EntityId | None
    named: frozenset[EntityId]
    preceding: EntityId | None
    """The person whose name comes directly before the value; None if no name does."""


def _place(narrated: NarratedText, value: NarratedValue, book: EarlierBook) -> ValueContext:
    span, own = narrated.around(value.start, 1, 1), narrated.around(value.start)
    reach = _CLOSE["zh" if narrated.language.startswith("zh") else "en"]
    known = narrated.made(_places)
    key = (value.start, id(book.names))
    if key not in known:
        known[key] = ValueContext(
            terms(
                narrated.text[span.start : value.start] + " " + narrated.text[value.end : span.end], narrated.language
            ),
            terms(
                narrated.text[max(own.start, value.start - reach) : value.start]
                + " "
                + narrated.text[value.end : min(own.end, value.end + reach)],
                narrated.language,
            ),
            book.subject(narrated, value.start),
            frozenset(hit.entity for hit in book.hits_within(narrated, value.start - _NEARBY, value.end + _NEARBY)),
            _preceding(narrated, value, book),
        )
    found: ValueContext = known[key]
    return found


def _preceding(narrated: NarratedText, value: NarratedValue, book: EarlierBook) -> EntityId | None:
    between = _BETWEEN["zh" if narrated.language.startswith("zh") else "en"]
    for hit in reversed(book.hits_within(narrated, value.start - _NEARBY, value.start)):
        if hit.end <= value.start and narrated.narration[hit.start] != BLANK:
            is_person = book.by_id[hit.entity].kind == "character" and narrated.text[hit.start : hit.end] not in _ROLES
            is_subject = between.fullmatch(narrated.narration, hit.end, value.start)
            return hit.entity if is_person and is_subject else None
    return None


def _places(narrated: NarratedText) -> dict[tuple[int, int], ValueContext]:
    return {}


def same_subject(one: ValueContext, other: ValueContext, book: EarlierBook) -> float:
    """A score for two places being about the same person or thing: shared words count, and shared people more."""
    about = _AS_ONE if one.about is not None and one.about == other.about else _company(one, other, book)
    return about + sum(shared(one.near, other.near, book).values())


def same_named(one: ValueContext, other: ValueContext, book: EarlierBook) -> float:
    """A score like `same_subject`; if a name directly precedes both values, certain for one person and 0 for two.

    The name of a main character is in every chapter, so it says little by itself.
    """
    if one.preceding is not None and other.preceding is not None:
        return _CERTAIN if one.preceding == other.preceding else 0.0
    return same_subject(one, other, book)


def same_person(one: ValueContext, other: ValueContext, book: EarlierBook) -> float:
    """A score for two places describing the same person.

    Shared names alone score 0, unless both places are about the same person. Shared words count unless they belong to
    names of other people.
    """
    words = one.near & other.near
    described = shared(frozenset(word for word in words if not book.is_named(word)), words, book)
    is_same = one.about is not None and one.about == other.about
    if not described and not is_same:
        return 0.0
    own = {name for about in (one.about, other.about) if about for name in book.by_id[about].names}
    named = shared(frozenset(word for word in words if any(word in name for name in own)), words, book)
    return sum(described.values()) + sum(named.values()) + (_AS_ONE if is_same else _company(one, other, book))


def same_event(one: ValueContext, other: ValueContext, book: EarlierBook) -> float:
    """Rates how likely two places describe the same event.

    Rare words that are not part of a name have their full weight, shared people only a little. A phrase in both counts
    as one word, however long: formulas and proverbs occur in many events.
    """
    words = one.own & other.own
    rare = shared(frozenset(word for word in words if not book.is_named(word)), words, book, _RARE)
    weight = sum(rare.values()) - sum(_PHRASE * rare[word] for word in _inside_phrases(tuple(rare)))
    return weight + (_company(one, other, book) if rare else 0.0)


def _inside_phrases(words: Sequence[str]) -> list[str]:
    """The pairs of Chinese characters that overlap a rarer pair, so that both belong to one phrase."""
    inside: list[str] = []
    for number, word in enumerate(words):
        if len(word) == 2 and any(word[1] == other[0] or word[0] == other[1] for other in words[:number]):
            inside.append(word)
    return inside


def _company(one: ValueContext, other: ValueContext, book: EarlierBook) -> float:
    """The weight of names that both places share: higher for names that fewer chapters contain."""
    both = one.named & other.named
    return min(_BESIDE, _SHARE * max((-math.log(book.share_naming(entity)) for entity in both), default=0.0))
