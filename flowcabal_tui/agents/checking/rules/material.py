"""The texts that rules read (the draft, and the chapters before it, each read once), and their findings."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

from flowcabal_tui.agents.checking.rules.speech import BLANK, without_speech
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.agents.words import word_list
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.known_names import NameHit
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.story import Relation

T = TypeVar("T")
_CLAUSE_END: Final = late(r"[，。！？；：、,;:!?…“”「」『』\"\n]|\.(?=[”’\"]*(?:\s|\Z))")
_SAMPLE: Final = 200
_LONGEST: Final = 300
"""Characters of a sentence that are quoted at most."""
_REACH: Final = 250
"""Characters before a place of the narration in which the person is named whom it is about."""


class NarratedText:
    """A text, its sentences, and its narration. All offsets are those of the text."""

    def __init__(self, text: str, language: str, uri: str = "", title: str = "") -> None:
        self.text, self.language, self.uri, self.title = text, language, uri, title
        self._made: dict[Callable[[NarratedText], Any], Any] = {}
        self._hits: tuple[NameIndex, tuple[NameHit, ...]] | None = None
        self._made_of_names: dict[Callable[[NarratedText, EarlierBook], Any], Any] = {}

    @cached_property
    def narration(self) -> str:
        """The text with `speech.BLANK` for each character of speech."""
        return without_speech(self.text)

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """The sentences, in order."""
        return sentences(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [span.start for span in self.sentences]

    def sentence_number(self, place: int) -> int:
        """The number of the sentence that contains a place, or of the one before it."""
        return max(0, bisect_right(self._starts, place) - 1)

    def around(self, place: int, before: int = 0, after: int = 0) -> Span:
        """The sentence at a place with some of its neighbours, cut to `_LONGEST` characters on each side of it."""
        if not self.sentences:
            return Span(0, len(self.text))
        number = self.sentence_number(place)
        first = self.sentences[max(0, number - before)]
        last = self.sentences[min(len(self.sentences) - 1, number + after)]
        return Span(max(first.start, place - _LONGEST * (before + 1)), min(last.end, place + _LONGEST * (after + 1)))

    def quoted(self, start: int, end: int) -> Quotation:
        """The quotation of these words, with their place."""
        return Quotation(self.text[start:end], self.uri, start, end, self.title)

    def sentence_at(self, place: int) -> Quotation:
        """The quotation of the sentence at a place."""
        span = self.around(place)
        return self.quoted(span.start, span.end)

    def clause_at(self, start: int, end: int) -> Quotation:
        """The quotation of the words from `start` to `end` with the rest of their clause, in their sentence."""
        whole = self.around(start)
        before = [mark.end() for mark in _CLAUSE_END.finditer(self.text, whole.start, start)]
        after = _CLAUSE_END.search(self.text, end, max(end, whole.end))
        begins = before[-1] if before else whole.start
        begins += len(self.text[begins:start]) - len(self.text[begins:start].lstrip())
        return self.quoted(begins, after.start() if after else max(end, whole.end))

    def says_changed(self, place: int) -> bool:
        """True when the sentence at a place states that something has changed."""
        sentence = self.sentence_at(place).text.lower()
        return any(word in sentence for word in word_list(f"changed.{self.language[:2]}"))

    def made(self, make: Callable[[NarratedText], T]) -> T:
        """The result of `make` for this text, computed once."""
        if make not in self._made:
            self._made[make] = make(self)
        found: T = self._made[make]
        return found

    def hits(self, names: NameIndex) -> tuple[NameHit, ...]:
        """The names in this text, found once and then cached."""
        if self._hits is None or self._hits[0] is not names:
            self._hits = names, names.find(self.text)
            self._made_of_names.clear()
        return self._hits[1]

    def made_of_names(self, make: Callable[[NarratedText, EarlierBook], T], book: EarlierBook) -> T:
        """The result of `make` for this text and the names of a book, computed once for these names."""
        book.hits(self)
        if make not in self._made_of_names:
            self._made_of_names[make] = make(self, book)
        found: T = self._made_of_names[make]
        return found


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """Words of the draft, and the contradicting words of an earlier chapter (None: the draft alone is odd)."""

    subtype: str
    explanation: str
    draft: Quotation
    source: Quotation | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """The text of a note or record about a person or thing, and the words to quote."""

    about: EntityId
    narrated: NarratedText
    source: Quotation


@dataclass(frozen=True)
class EarlierBook:
    """The chapters before the draft, in story order, the names of the book, and the notes on their bearers."""

    language: str
    chapters: tuple[NarratedText, ...] = ()
    entities: tuple[Entity, ...] = ()
    declared: tuple[Declared, ...] = ()
    relations: tuple[Relation, ...] = ()
    index: NameIndex | None = None
    """The index of the names of `entities`, if it exists already."""
    _naming: Counter[EntityId] = field(default_factory=Counter, repr=False)
    _shares: dict[str, float] = field(default_factory=dict, repr=False)

    @cached_property
    def names(self) -> NameIndex:
        """An index of the names of the entities."""
        return self.index or NameIndex(self.entities)

    @cached_property
    def by_id(self) -> dict[EntityId, Entity]:
        """The entities by their id."""
        return {entity.id: entity for entity in self.entities}

    def hits(self, narrated: NarratedText) -> tuple[NameHit, ...]:
        """The names in a text, found once and then cached."""
        return narrated.hits(self.names)

    def hits_within(self, narrated: NarratedText, start: int, end: int) -> tuple[NameHit, ...]:
        """The names in a part of a text."""
        hits = self.hits(narrated)
        first, last = (bisect_right(hits, place, key=lambda hit: hit.start) for place in (start, end))
        return hits[first:last]

    def each(self, make: Callable[[NarratedText], Sequence[T]]) -> Iterator[tuple[NarratedText, T]]:
        """The results of `make` for each chapter, in order."""
        for chapter in self.chapters:
            for one in chapter.made(make):
                yield chapter, one

    def chapters_with(self, word: str, most: int) -> int:
        """The number of chapters that contain a word; counted up to `most` + 1."""
        found = 0
        for chapter in self.chapters:
            found += word in chapter.text
            if found > most:
                break
        return found

    def share_with(self, word: str) -> float:
        """The share of the chapters that contain a word, estimated from some two hundred chapters of a long book."""
        if word not in self._shares:
            sample = self.chapters[:: max(1, len(self.chapters) // _SAMPLE)]
            self._shares[word] = sum(word in chapter.text for chapter in sample) / max(1, len(sample))
        return self._shares[word]

    def share_naming(self, entity: EntityId) -> float:
        """The share of the chapters that name an entity; always above 0."""
        if not self._naming:
            for chapter in self.chapters:
                self._naming.update({hit.entity for hit in self.hits(chapter)})
        return max(1, self._naming[entity]) / max(1, len(self.chapters))

    def is_named(self, word: str) -> bool:
        """True when a word, or a piece of one, is part of a name."""
        return word in self._names_joined

    @cached_property
    def _names_joined(self) -> str:
        people = (entity for entity in self.entities if entity.kind == "character")
        return "\n".join(name for entity in people for name in entity.names)

    def subject(self, narrated: NarratedText, place: int) -> EntityId | None:
        """The person that a place of the narration is about: the last one that it names before, in the paragraph."""
        hits = self.hits(narrated)
        number = bisect_right(hits, place, key=lambda hit: hit.start) - 1
        while number >= 0 and place - hits[number].start <= _REACH:
            between = narrated.text[hits[number].end : place]
            if narrated.narration[hits[number].start] != BLANK and self.by_id[hits[number].entity].kind == "character":
                return None if "\n" in between else hits[number].entity
            number -= 1
        return None
