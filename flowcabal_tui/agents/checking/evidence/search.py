"""Searches the indexes of the book, which contexts use too, for passages on the statements of a draft."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar, TypeVarTuple

from flowcabal_tui.agents.checking.evidence.ranking import Index, NamedPassage, Sentence, Shortlist, ranked, shortlisted
from flowcabal_tui.agents.checking.evidence.reading import TextReader
from flowcabal_tui.agents.checking.evidence.statements import DraftClause, statements_of
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import PassagePlace
from flowcabal_tui.domain.memory import Entity

if TYPE_CHECKING:
    from flowcabal_tui.agents.context.gather import BookInputs

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")
_DRAFTS_KEPT: Final = 4
"""Maximum number of prepared drafts in the cache."""


class Helper(Protocol):
    """Runs a module-level function without blocking anyone."""

    async def __call__(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T: ...


async def in_thread(work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """A Helper that uses a thread of this process."""
    import asyncio  # a helper process has no loop, and starts sooner without

    return await asyncio.to_thread(work, *arguments)


class SearchedDraft(NamedTuple):
    """A draft with the entities whose names occur in it."""

    text: str
    named: tuple[Entity, ...]
    language: str


class EvidenceQuery(NamedTuple):
    """The terms to look up in the indexes of the book for a draft."""

    terms: Sequence[str]
    subjects: Sequence[EntityId]


class FoundPassages(NamedTuple):
    """The numbers of the passages that contain the terms, then of those that name the subjects, one list after the
    other.

    `ends` holds the end of each list. The lists are two arrays, because thousands of small ones take long to pack for
    the helper process. `total` counts the passages of the book.
    """

    total: int
    passages: array[int]
    ends: array[int]

    @property
    def each(self) -> Iterator[array[int]]:
        """The passages of each term or subject in turn."""
        return (self.passages[start:end] for start, end in pairwise((0, *self.ends)))


async def evidence_for(book: BookInputs, draft: str, helper: Helper = in_thread) -> list[Sentence]:
    """Sentences of the visible chapters, best matches first; a sentence may occur for several statements."""
    here = tuple(entity for entity in book.entities if any(name in draft for name in entity.names))
    own = SearchedDraft(draft, here, book.view.language)
    wanted = await helper(wanted_for, own)
    found, places = await _found(book, wanted)
    shortlist = await helper(shortlist_for, own, found)
    passages = await _read(book, places, shortlist, wanted.subjects)
    return await helper(sentences_for, own, shortlist, passages)


def wanted_for(draft: SearchedDraft) -> EvidenceQuery:
    """The subjects, words and kinds of the statements of a draft, in the form of the indexes."""
    return _reading(draft).wanted


def shortlist_for(draft: SearchedDraft, found: FoundPassages) -> Shortlist:
    """The result of `shortlisted` for the passages found in the indexes."""
    reading, each = _reading(draft), found.each
    terms = dict(zip(reading.wanted.terms, each, strict=False))
    index = Index(
        found.total,
        dict(zip(reading.wanted.subjects, each, strict=True)),
        {word: [terms[form] for form in sorted(forms)] for word, forms in reading.forms.items()},
        {kind: [terms[word] for word in words] for kind, words in reading.of_kind.items()},
    )
    return shortlisted(reading.statements, index)


def sentences_for(draft: SearchedDraft, shortlist: Shortlist, passages: Mapping[int, NamedPassage]) -> list[Sentence]:
    """The result of `ranked`, for a draft."""
    return ranked(_reading(draft).statements, shortlist, passages, TextReader(draft.language))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A draft prepared for the search: `forms` of its words, and all words `of_kind`."""

    statements: Sequence[DraftClause]
    forms: Mapping[str, frozenset[str]]
    of_kind: Mapping[str, Sequence[str]]
    wanted: EvidenceQuery


@lru_cache(_DRAFTS_KEPT)
def _reading(draft: SearchedDraft) -> _Reading:
    """Prepares a draft; cached in the process that runs the steps, so that it is not sent through a pipe."""
    reader = TextReader(draft.language)
    statements = statements_of(draft.text, NameIndex(draft.named).find(draft.text), reader)
    forms = reader.forms(draft.text)
    kinds = {kind for each in statements for kind in each.kinds}
    of_kind = {kind: reader.groups[kind] for kind in sorted(kinds) if kind in reader.groups}
    subjects = {subject for each in statements for subject in each.subjects}
    terms = {*chain(*forms.values()), *chain(*of_kind.values())}
    return _Reading(statements, forms, of_kind, EvidenceQuery(sorted(terms), sorted(subjects)))


async def _found(book: BookInputs, wanted: EvidenceQuery) -> tuple[FoundPassages, Sequence[PassagePlace]]:
    """The contents of the indexes, and the passages in story order."""
    postings = await book.view.postings(wanted.terms)
    named = await book.view.passages_naming(wanted.subjects)
    passages, ends = array("I"), array("I")
    for numbers in (*postings.found, *(named[subject] for subject in wanted.subjects)):
        passages.extend(numbers)
        ends.append(len(passages))
    return FoundPassages(len(postings.passages), passages, ends), postings.passages


async def _read(
    book: BookInputs, places: Sequence[PassagePlace], shortlist: Shortlist, subjects: Collection[EntityId]
) -> dict[int, NamedPassage]:
    """The shortlisted passages, with the subjects that they name."""
    wanted = {at: places[at] for each in shortlist.passages.values() for at in each}
    chapters = tuple(dict.fromkeys(place.chapter for place in wanted.values()))
    texts = await book.view.chapter_texts(chapters)
    named = await book.view.offsets_of(subjects, chapters)
    return {
        at: NamedPassage(
            place.chapter,
            place.position,
            place.start,
            texts[place.chapter][place.start : place.end],
            _within(place, named[place.chapter]),
        )
        for at, place in wanted.items()
    }


def _within(place: PassagePlace, named: Sequence[tuple[int, EntityId]]) -> tuple[tuple[int, EntityId], ...]:
    first = bisect_left(named, place.start, key=itemgetter(0))
    return tuple(named[first : bisect_left(named, place.end, first, key=itemgetter(0))])
