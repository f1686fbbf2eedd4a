"""The book: chapters with stable ids, their versions, and where a passage stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NewType

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, OutputId

Author = Literal["human", "model", "import", "outside"]


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of character offsets in a stored text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter as the list shows it.

    `position` is its place in story order, from 1, without gaps; it may change, the id never does.
    `length` counts Chinese characters or words. `version` is 0 when nothing was written yet.
    """

    id: ChapterId
    position: int
    title: str
    volume: str = ""
    version: int = 0
    digest: Digest | None = None
    length: int = 0
    author: Author | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChapterVersion:
    """One state of a chapter's text; never changed, never deleted but by purge."""

    chapter: ChapterId
    version: int
    digest: Digest
    author: Author
    at: datetime
    generation: Generation
    output: OutputId | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImportedChapter:
    """A chapter found in a file, before anything is stored."""

    title: str
    text: str
    volume: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What an import would store, and what looks odd about it."""

    chapters: tuple[ImportedChapter, ...]
    encoding: str
    language: str
    warnings: tuple[str, ...] = ()
    known: frozenset[int] = frozenset()
    """Which of `chapters` (from 0) stand in the book already."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a chapter, a paragraph or a few; `text` is the chapter's text between start and end."""

    chapter: ChapterId
    position: int
    index: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage found by a search, best first; `terms` are what matched."""

    passage: Passage
    score: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """Where a passage stands, without its text."""

    chapter: ChapterId
    position: int
    index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Postings:
    """Passages in story order, and for each term that was asked for the places (in `passages`) that hold it."""

    passages: tuple[PassagePlace, ...]
    found: tuple[tuple[int, ...], ...]


ReferenceId = NewType("ReferenceId", str)


@dataclass(frozen=True, slots=True)
class Reference:
    """A book that the writer looks things up in: no chapter of theirs, outside of the story's order."""

    id: ReferenceId
    title: str
    parts: int
    length: int
    """Characters."""
    added_at: datetime


@dataclass(frozen=True, slots=True)
class ReferenceHit:
    """A passage of a reference book, found by its words; `text` is its part's text between start and end.

    `uri` is `reference/<id>/<number of the part>`. A higher `score` is better.
    """

    uri: str
    book: str
    title: str
    text: str
    start: int
    end: int
    score: float
