"""The statements of a draft, one by one: their subjects, words and kinds of things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

from flowcabal_tui.agents.checking.evidence.reading import SentenceContent, TextReader
from flowcabal_tui.agents.sentences import paragraphs
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.known_names import NameHit

T = TypeVar("T")
_CARRIED: Final = 0.6
"""Weight of a subject of the previous statement, to which a pronoun may refer; its powers for earlier ones."""
_FURTHER: Final = 3


@dataclass(frozen=True, slots=True)
class DraftClause:
    """A sentence or clause of a draft. `subjects` come with their weights, 1 for those that it names itself."""

    start: int
    end: int
    subjects: Mapping[EntityId, float]
    words: frozenset[str]
    beside: frozenset[str]
    """Words of the statements before and after it in the paragraph, without its own."""
    content: SentenceContent

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of things that it mentions."""
        return self.content.kinds


def statements_of(draft: str, names: Sequence[NameHit], reader: TextReader) -> tuple[DraftClause, ...]:
    """All statements of a draft in order; subjects carry over to the end of their paragraph."""
    found = (_of_paragraph(paragraph, at, names, reader) for at, paragraph in paragraphs(draft))
    return tuple(chain.from_iterable(found))


def _of_paragraph(paragraph: str, at: int, names: Sequence[NameHit], reader: TextReader) -> list[DraftClause]:
    units = reader.units(paragraph, at)
    own = [reader.words(paragraph[unit.start - at : unit.end - at]) for unit in units]
    named = [frozenset(hit.entity for hit in names if unit.start <= hit.start < unit.end) for unit in units]
    found = []
    for place, unit in enumerate(units):
        beside = around(own, place) - own[place]
        content = reader.content(paragraph[unit.start - at : unit.end - at])
        found.append(DraftClause(unit.start, unit.end, _subjects(named, place), own[place], beside, content))
    return found


def around(each: Sequence[frozenset[T]], place: int) -> frozenset[T]:
    """The union of the sets before and after a place."""
    none: frozenset[T] = frozenset()
    return none.union(*each[max(0, place - 1) : place], *each[place + 1 : place + 2])


def _subjects(named: Sequence[frozenset[EntityId]], place: int) -> dict[EntityId, float]:
    weights: dict[EntityId, float] = {}
    for back in range(min(place, _FURTHER), -1, -1):
        weights |= dict.fromkeys(named[place - back], _CARRIED**back)
    return weights
