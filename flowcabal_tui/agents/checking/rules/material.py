"""What rules read: the draft, and the chapters before it, each of which is read once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

from flowcabal_tui.agents.checking.rules.speech import without_speech
from flowcabal_tui.agents.names.names import NameHit, NameIndex
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import Quotation

T = TypeVar("T")
_LONGEST: Final = 300
"""Characters of a sentence that are quoted at most."""


class Told:
    """A text, its sentences, and what of it is narration. Offsets are those of the text."""

    def __init__(self, text: str, language: str, uri: str = "", title: str = "") -> None:
        self.text, self.language, self.uri, self.title = text, language, uri, title
        self._made: dict[Callable[[Told], Any], Any] = {}
        self._hits: tuple[NameIndex, tuple[NameHit, ...]] | None = None

    @cached_property
    def narration(self) -> str:
        """The text with `speech.BLANK` for each character of speech."""
        return without_speech(self.text)

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """Its sentences, in order."""
        return sentences(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [span.start for span in self.sentences]

    def sentence_number(self, place: int) -> int:
        """The number of the sentence that holds a place, or of the one before it."""
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
        """These words, and where they are."""
        return Quotation(self.text[start:end], self.uri, start, end, self.title)

    def made(self, make: Callable[[Told], T]) -> T:
        """What a rule reads from this text, made once."""
        if make not in self._made:
            self._made[make] = make(self)
        found: T = self._made[make]
        return found

    def hits(self, names: NameIndex) -> tuple[NameHit, ...]:
        """The names in this text, looked for once."""
        if self._hits is None or self._hits[0] is not names:
            self._hits = names, names.find(self.text)
        return self._hits[1]


@dataclass(frozen=True)
class EarlierBook:
    """The chapters before the draft, in story order, and the names of the book."""

    language: str
    chapters: tuple[Told, ...] = ()
    entities: tuple[Entity, ...] = ()
    _counts: dict[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def names(self) -> NameIndex:
        """Finds the names of the entities."""
        return NameIndex(self.entities)

    @cached_property
    def by_id(self) -> dict[EntityId, Entity]:
        """The entities by their id."""
        return {entity.id: entity for entity in self.entities}

    def hits(self, told: Told) -> tuple[NameHit, ...]:
        """The names in a text; looked for once."""
        return told.hits(self.names)

    def each(self, make: Callable[[Told], Sequence[T]]) -> Iterator[tuple[Told, T]]:
        """What a rule reads from the chapters, one after the other."""
        for chapter in self.chapters:
            for one in chapter.made(make):
                yield chapter, one

    def chapters_with(self, word: str, most: int) -> int:
        """How many chapters hold a word; counted up to `most` + 1."""
        key = f"{most} {word}"
        if key not in self._counts:
            found = 0
            for chapter in self.chapters:
                found += word in chapter.text
                if found > most:
                    break
            self._counts[key] = found
        return self._counts[key]
