"""The book: chapters with stable ids, their versions, and places of passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Literal, NewType

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, OutputId
from flowcabal_tui.domain.value_class import dataclass

Author = Literal["human", "model", "import", "outside"]


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of character offsets in a stored text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter as a row of the list of chapters.

    `position` is its place in story order, from 1, without gaps; it may change, the id never does. `length` counts
    Chinese characters or words. `version` is 0 while it has no text.
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
    """One state of a chapter's text; never changed, and deleted only by a purge."""

    chapter: ChapterId
    version: int
    digest: Digest
    author: Author
    at: datetime
    generation: Generation
    output: OutputId | None = None
    note: str = ""
    rebuilt: Literal["", "forget", "restore"] = ""
    """The change that made it from earlier versions: the keep of an output was undone, or the output was kept again."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Unsaved text of a chapter.

    `base` is the version that was edited, 0 where there was none, None where it is unknown. `newest` is the chapter's
    newest version.
    """

    chapter: ChapterId
    text: str
    base: int | None
    newest: int
    at: datetime


@dataclass(frozen=True, slots=True)
class ImportedChapter:
    """A chapter found in a file, before anything is stored."""

    title: str
    text: str
    volume: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class FileComment:
    """A comment of a document, with its quotation."""

    author: str
    text: str
    anchor: str = ""
    at: str = ""
    """The time in the file: ISO 8601, mostly without a time zone."""
    resolved: bool = False


ChapterRule = Literal["", "headings", "contents", "lines", "none"]
"""The way in which the beginnings of chapters were found: headings of the file, its table of contents, lines such as
第一章, or not at all."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Counts of the elements other than plain paragraphs in a DOCX or EPUB file; all zero for a text file."""

    paragraphs: int = 0
    rule: ChapterRule = ""
    insertions: int = 0
    deletions: int = 0
    moves: int = 0
    notes: int = 0
    comments: tuple[FileComment, ...] = ()
    tables: int = 0
    text_boxes: int = 0
    pictures: int = 0
    hidden: int = 0
    fields: int = 0
    ruby: int = 0
    italics: int = 0
    symbols: int = 0
    """Characters of symbol fonts that have no known text."""
    numbered_headings: int = 0
    list_items: int = 0
    contents_lines: int = 0
    margins: int = 0
    """Headers and footers."""
    embedded: int = 0
    """Documents inside the document."""
    pages_left_out: int = 0
    pages_missing: int = 0

    def __add__(self, other: ImportReport) -> ImportReport:
        """The report of both files; `rule` is kept when they agree."""
        values = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
            if field.name != "rule"
        }
        rule: ChapterRule = self.rule if other.rule in ("", self.rule) else "" if self.rule else other.rule
        return ImportReport(rule=rule, **values)


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """The chapters that an import would store, with warnings."""

    chapters: tuple[ImportedChapter, ...]
    encoding: str
    language: str
    warnings: tuple[str, ...] = ()
    known: frozenset[int] = frozenset()
    """Indexes (from 0) of `chapters` that the book already contains."""
    report: ImportReport = ImportReport()


@dataclass(frozen=True, slots=True)
class BookDetails:
    """The metadata of an exported book.

    `identifier` is a UUID that stays the same when the book is renamed or exported again. `created` and `modified` are
    those of the text, so two exports of the same text are the same file. `cover` is a JPEG or PNG, or empty.
    """

    title: str
    language: str
    author: str = ""
    identifier: str = ""
    created: datetime | None = None
    modified: datetime | None = None
    cover: bytes = b""


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
    """A passage found by a search, best first; `terms` are the matching terms."""

    passage: Passage
    score: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """The chapter and offsets of a passage, without its text."""

    chapter: ChapterId
    position: int
    index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Postings:
    """Passages in story order, and for each requested term the indexes (in `passages`) of those that contain it."""

    passages: tuple[PassagePlace, ...]
    found: tuple[Sequence[int], ...]


ReferenceId = NewType("ReferenceId", str)


@dataclass(frozen=True, slots=True)
class Reference:
    """A book that the writer consults: not part of their own book, and outside the story's order."""

    id: ReferenceId
    title: str
    parts: int
    length: int
    """The length in characters."""
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
