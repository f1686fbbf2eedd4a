"""Searches the indexes of the book, which contexts use too, for passages on the statements of a draft."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Protocol, TypeVar, TypeVarTuple

from flowcabal_tui.agents.checking.evidence.ranking import (
    Index,
    NamedPassage,
    Sentence,
    Shortlist,
    ranked,
    shortlisted,
)
from flowcabal_tui.agents.checking.evidence.reading import Reader
from flowcabal_tui.agents.checking.evidence.statements import Statement, statements_of
from flowcabal_tui.agents.context.gather import Book
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import PassagePlace
from flowcabal_tui.domain.memory import Entity

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")


class Helper(Protocol):
    """Runs a module-level function where it holds nobody up."""

    async def __call__(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T: ...


async def in_thread(work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """A Helper that uses a thread of this process."""
    return await asyncio.to_thread(work, *arguments)


async def evidence_for(book: Book, draft: str, helper: Helper = in_thread) -> list[Sentence]:
    """Sentences of the chapters that the view sees, those that fit best first; one may come for two statements."""
    language = book.view.language
    here = tuple(entity for entity in book.entities if any(name in draft for name in entity.names))
    statements = await helper(read_statements, draft, here, language)
    index, places = await _index(book, draft, statements, Reader(language))
    shortlist = await helper(shortlisted, statements, index)
    passages = await _read(book, places, shortlist, index.subjects.keys())
    return await helper(sentences_of, statements, shortlist, passages, language)


def read_statements(draft: str, entities: Iterable[Entity], language: str) -> tuple[Statement, ...]:
    """The statements of a draft in which only these entities are named."""
    return statements_of(draft, NameIndex(entities).find(draft), Reader(language))


def sentences_of(
    statements: Sequence[Statement], shortlist: Shortlist, passages: Mapping[int, NamedPassage], language: str
) -> list[Sentence]:
    """The result of `ranked`, for a language."""
    return ranked(statements, shortlist, passages, Reader(language))


async def _index(
    book: Book, draft: str, statements: Sequence[Statement], reader: Reader
) -> tuple[Index, Sequence[PassagePlace]]:
    """Where the subjects, words and kinds of the statements are, and the passages in story order."""
    forms = reader.forms(draft)
    kinds = {kind for each in statements for kind in each.kinds}
    of_kind = {kind: reader.groups[kind] for kind in sorted(kinds) if kind in reader.groups}
    terms = sorted({*chain(*forms.values()), *chain(*of_kind.values())})
    postings = await book.view.postings(terms)
    places = {term: _array(at) for term, at in zip(terms, postings.found, strict=True)}
    named = await book.view.passages_naming({subject for each in statements for subject in each.subjects})
    return Index(
        len(postings.passages),
        {subject: _array(at) for subject, at in named.items()},
        {word: [places[form] for form in sorted(each)] for word, each in forms.items()},
        {kind: [places[word] for word in words] for kind, words in of_kind.items()},
    ), postings.passages


def _array(numbers: Sequence[int]) -> array[int]:
    return numbers if isinstance(numbers, array) else array("I", numbers)


async def _read(
    book: Book, places: Sequence[PassagePlace], shortlist: Shortlist, subjects: Collection[EntityId]
) -> dict[int, NamedPassage]:
    """The shortlisted passages, with the subjects that they name."""
    wanted = {at: places[at] for each in shortlist.passages.values() for at in each}
    chapters = tuple(dict.fromkeys(place.chapter for place in wanted.values()))
    texts = await book.view.chapter_texts(chapters)
    named = await book.view.offsets_of(subjects, chapters)
    return {
        at: NamedPassage(place, texts[place.chapter][place.start : place.end], _within(place, named[place.chapter]))
        for at, place in wanted.items()
    }


def _within(place: PassagePlace, named: Sequence[tuple[int, EntityId]]) -> tuple[tuple[int, EntityId], ...]:
    first = bisect_left(named, place.start, key=_offset)
    return tuple(named[first : bisect_left(named, place.end, first, key=_offset)])


def _offset(named: tuple[int, EntityId]) -> int:
    return named[0]
