"""Values that an edit removes from a text, and other places where the book states them of the same subject.

A value is a number, or a word of a kind of things (kinship, looks, place ...), in a statement about a named entity. An
edit that removes no value changes nothing on which a later text could rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.evidence.reading import TextReader
from flowcabal_tui.agents.checking.rules.quantities import NUMBER_EN, NUMBER_ZH, range_of
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.sentences import paragraphs, sentences
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import plain_quotation

_NUMBERS: Final = {
    "zh": re.compile(NUMBER_ZH),
    "en": re.compile(rf"\b{NUMBER_EN}\b", re.IGNORECASE),
}
_WORD: Final = re.compile(r"[a-z\u00c0-\u024f]+")
_LEAST_NUMBER: Final = 2
_NAMED, _CARRIED, _BEFORE = 1.0, 0.6, 0.4
"""Weight when the sentence, an earlier one in its paragraph, or only the paragraph before names the subject."""
_BESIDE: Final = {"zh": (4, 4), "en": (14, 18)}
"""Characters before and after a number that are searched for its unit."""
_UNCOUNTED: Final = 0.5
"""Weight of a number without a unit; a unit of the same kind weighs 1, one of another kind 0."""
_LOOSE: Final = frozenset(("number", "name"))
"""Kinds that nearly every statement mentions."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a statement: `words` as written; for a number also the amount."""

    words: str
    amount: float | None = None

    @property
    def key(self) -> str | float:
        """A key that is equal for equal values, however they are written."""
        return self.words.lower() if self.amount is None else self.amount


@dataclass(frozen=True, slots=True)
class Lost:
    """A statement that an edit removed: its place, its subjects, the values that the new text no longer gives, and
    their replacements.

    `now` is the sentence in its place, "" for none.
    """

    start: int
    end: int
    text: str
    subjects: frozenset[EntityId]
    values: tuple[Value, ...]
    kinds: frozenset[str]
    instead: Value | None = None
    now: str = ""


@dataclass(frozen=True, slots=True)
class SamePlace:
    """A place of the text number `text` with a removed value: its sentence, the value's words, and a score.

    `named`: the sentence itself names the value's subject, and a number has the same unit.
    """

    text: int
    start: int
    end: int
    at: int
    value: Value
    lost: Lost
    score: float
    named: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence and the entities it names; if it names nobody, those of the sentence before it in its paragraph."""

    start: int
    end: int
    text: str
    named: frozenset[EntityId]
    carried: frozenset[EntityId]


def _sentences(text: str, index: NameIndex, at: int) -> Iterator[_Sentence]:
    """The sentences of a paragraph; offsets count from `at`."""
    hits, carried = index.find(text), frozenset[EntityId]()
    for span in sentences(text):
        named = frozenset(hit.entity for hit in hits if span.start <= hit.start < span.end)
        yield _Sentence(at + span.start, at + span.end, text[span.start : span.end], named, carried)
        carried = named or carried


def lost_statements(
    before: str, after: str, entities: Iterable[Entity], language: str, about: frozenset[EntityId] = frozenset()
) -> tuple[Lost, ...]:
    """The statements that the text no longer contains. Punctuation, spaces and the order of statements do not matter.

    A statement that names nobody is about `about`.
    """
    if plain_quotation(before) == plain_quotation(after):
        return ()
    reader, index = TextReader(language), NameIndex(entities)
    old, new = (
        [each for at, paragraph in paragraphs(text) for each in _sentences(paragraph, index, at)]
        for text in (before, after)
    )
    present, known = ({plain_quotation(each.text) for each in side} for side in (new, old))
    added = [each.text for each in new if plain_quotation(each.text) not in known]
    gone = [each for each in old if plain_quotation(each.text) not in present]
    found = (_lost(one, added, about, reader) for one in gone)
    return tuple(each for each in found if each.subjects and each.values)


def _lost(one: _Sentence, added: Sequence[str], about: frozenset[EntityId], reader: TextReader) -> Lost:
    """The lost statement, with the replacement in the most similar of the added sentences."""
    words = reader.words(one.text)
    instead = max(added, key=lambda each: len(reader.words(each) & words), default="")
    old, new, all_new = (_values(text, reader) for text in (one.text, instead, "\n".join(added)))
    gone = tuple(value for key, value in old.items() if key not in all_new)
    came = [value for key, value in new.items() if key not in old]
    of_a_kind = [value for value in came if gone and (value.amount is None) == (gone[0].amount is None)]
    replaced = of_a_kind[0] if len(gone) == 1 and len(of_a_kind) == 1 else None
    kinds = _kinds(one.text, gone, reader)
    now = instead if reader.words(instead) & words else ""
    return Lost(one.start, one.end, one.text, one.named or one.carried or about, gone, kinds, replaced, now)


def _kinds(text: str, values: Iterable[Value], reader: TextReader) -> frozenset[str]:
    """The kinds of things that a text mentions besides its numbers."""
    for value in values:
        if value.amount is not None:
            text = text.replace(value.words, "1" if reader.language == "zh" else " ")
    return reader.content(text).kinds - _LOOSE


def _near(text: str, value: Value, reader: TextReader) -> frozenset[str]:
    """The kinds of things of the words next to a number: years, sheep, miles."""
    at = max(0, text.lower().find(value.words.lower()))
    before, behind = _BESIDE[reader.language]
    end = at + len(value.words)
    return _kinds(text[max(0, at - before) : end + behind], [value], reader)


def _values(text: str, reader: TextReader) -> dict[str | float, Value]:
    """The numbers from two on, and words of the kinds of things."""
    found: dict[str | float, Value] = {}
    for match in _NUMBERS[reader.language].finditer(text):
        amount = range_of(match[0], "", reader.language)
        if amount is not None and amount.least == amount.most and amount.least >= _LEAST_NUMBER:
            value = Value(match[0], amount.least)
            found.setdefault(value.key, value)
    numbers = {word for value in found.values() for word in _WORD.findall(value.words.lower())}
    for words in _kind_words(text, reader):
        if words not in numbers:
            found.setdefault(words, Value(words))
    return found


def _kind_words(text: str, reader: TextReader) -> Iterable[str]:
    groups = [words for kind, words in reader.groups.items() if not kind.endswith("+") and kind != "number"]
    if reader.language == "en":
        present = set(_WORD.findall(text.lower()))
        return [word for words in groups for word in words if word in present]
    return [word for words in groups for word in words if len(word) > 1 and word in text]


def same_places(
    lost: Sequence[Lost], texts: Sequence[str], entities: Sequence[Entity], language: str
) -> tuple[SamePlace, ...]:
    """The places where the texts state a removed value of the same subject, the most direct first."""
    reader = TextReader(language)
    subjects = {subject for each in lost for subject in each.subjects}
    index = NameIndex(entities)
    names = [name for entity in entities if entity.id in subjects for name in entity.names]
    found: list[SamePlace] = []
    for number, text in enumerate(texts):
        if any(name in text for name in names):
            found += _of_text(number, text, lost, index, reader)
    return tuple(sorted(found, key=lambda each: (-each.score, each.text, each.start)))


def _of_text(number: int, text: str, lost: Sequence[Lost], index: NameIndex, reader: TextReader) -> list[SamePlace]:
    found: list[SamePlace] = []
    wanted = {value.key for each in lost for value in each.values}
    before = frozenset[EntityId]()
    for at, paragraph in paragraphs(text):
        if paragraph.strip():
            named = frozenset(hit.entity for hit in index.find(paragraph))
            if (named or before) and wanted & _values(paragraph, reader).keys():
                pairs = [(one, each) for one in _sentences(paragraph, index, at) for each in lost]
                places = (_same_place(number, one, each, before, reader) for one, each in pairs)
                found += [place for place in places if place is not None]
            before = named
    return found


def _same_place(
    number: int, one: _Sentence, lost: Lost, before: frozenset[EntityId], reader: TextReader
) -> SamePlace | None:
    """The place of the sentence if it gives a lost value of the same subject and mentions the same kind of thing."""
    values = _values(one.text, reader)
    same = [values[value.key] for value in lost.values if value.key in values]
    if not same or (lost.instead is not None and lost.instead.key in values):  # it tells of the change
        return None
    weight = _weight(one, lost, before)
    numbers = [value for value in same if value.amount is not None]
    if not weight or (numbers and lost.kinds and not lost.kinds & _kinds(one.text, numbers, reader)):
        return None
    value = (numbers or same)[0]
    if value.amount is None and weight < _NAMED:
        return None
    shared = len(reader.words(one.text) & reader.words(lost.text))
    is_alike = value.amount is None or bool(_near(one.text, value, reader) & _near(lost.text, lost.values[0], reader))
    alike = 1.0 if is_alike else _UNCOUNTED if _counts_nothing(one.text, value) else 0.0
    score = weight + alike + len(same) / len(lost.values) + shared / (4 + shared)
    at = one.start + max(0, one.text.lower().find(value.words.lower()))
    return SamePlace(number, one.start, one.end, at, value, lost, score, weight >= _NAMED and is_alike)


def _counts_nothing(text: str, value: Value) -> bool:
    """True when no noun follows a number in its clause, so that it has no other unit."""
    behind = text[text.lower().find(value.words.lower()) + len(value.words) :].lstrip(" ")
    return not behind[:1].isalnum()


def _weight(one: _Sentence, lost: Lost, before: frozenset[EntityId]) -> float:
    """A weight: how certainly a sentence is about a subject of the lost one."""
    if lost.subjects & one.named:
        return _NAMED
    if one.named:
        return 0.0
    if lost.subjects & one.carried:
        return _CARRIED
    return _BEFORE if not one.carried and lost.subjects & before else 0.0
