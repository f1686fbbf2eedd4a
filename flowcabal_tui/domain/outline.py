"""The outline of a book as a tree: the book, its volumes, its chapters, each with its own words (decision 21)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter, Span

PartKind = Literal["book", "volume", "chapter"]
Fit = Literal["", "hand", "title", "number"]
"""Why a part belongs to a chapter: the writer's word, the same title, the same number ("": it does not)."""
NOWHERE: Final = ChapterId("")
"""The chapter of a link by which the writer said that a part belongs to no chapter."""


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A heading of the outline with the words below it, up to the next heading.

    `title` is the heading without marks; the book's own words have none. `heading` and `body` are spans of the text.
    `last` is set for a heading of several chapters (第四至六章). `nth` counts parts of the same title. `parent` is a
    place in `Outline.parts` (-1: none). Scenes, when they come, are parts whose parent is a chapter's.
    """

    kind: PartKind
    title: str
    heading: Span
    body: Span
    number: int | None = None
    last: int | None = None
    nth: int = 1
    parent: int = -1
    words: str = ""
    """The title without its number."""


@dataclass(frozen=True)
class Outline:
    """The writer's text, which is the truth, and what its headings say. The first part is the book's own."""

    text: str
    parts: tuple[OutlinePart, ...]
    veil: Callable[[str], str] | None = field(default=None, compare=False)
    """Takes out of words what a point of view must not be told; `text` itself is the writer's."""

    def body(self, part: OutlinePart) -> str:
        """The part's own words, as they stand in the text, without empty lines around them."""
        words = self.text[part.body.start : part.body.end].strip("\n").rstrip()
        return self.veil(words) if self.veil else words

    def beats(self, part: OutlinePart) -> str:
        """Its own words; where there are none, those of its heading."""
        return self.body(part) if self.body(part).strip() else part.words


@dataclass(frozen=True, slots=True)
class OutlineLink:
    """A part that was assigned to a chapter, by hand or before chapters were moved.

    It finds its part by the digest of its words, else by title and `nth`, so it outlives an edit of either.
    """

    title: str
    nth: int
    body: Digest
    chapter: ChapterId
    by: Fit = "hand"


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a part belongs. `place` is its place in the story: a chapter's position, or between two (None: not known).

    `volume` is the volume of the book to which a volume's part belongs.
    """

    part: OutlinePart
    chapters: tuple[ChapterId, ...] = ()
    by: Fit = ""
    place: float | None = None
    volume: str = ""
    planned: bool = False
    """It is of a chapter that the book does not have yet."""

    @property
    def is_unassigned(self) -> bool:
        """Does its heading fit no chapter, and none that is still to come?"""
        return self.part.kind == "chapter" and not self.chapters and not self.planned


@dataclass(frozen=True)
class BookOutline:
    """An outline together with the chapters that it is of. `placed` is in the order of the text."""

    outline: Outline
    placed: tuple[Placed, ...]
    chapters: tuple[Chapter, ...]

    @property
    def text(self) -> str:
        return self.outline.text

    @cached_property
    def _of(self) -> Mapping[ChapterId, tuple[Placed, ...]]:
        found: dict[ChapterId, list[Placed]] = {}
        for each in self.placed:
            for chapter in each.chapters:
                found.setdefault(chapter, []).append(each)
        return {chapter: tuple(parts) for chapter, parts in found.items()}

    def of(self, chapter: ChapterId) -> tuple[Placed, ...]:
        """The parts that belong to a chapter, in the order of the text."""
        return self._of.get(chapter, ())

    def beats(self, chapter: ChapterId) -> str:
        """What the outline says of a chapter, whole; "" when it says nothing."""
        return "\n\n".join(filter(None, (self.outline.beats(each.part) for each in self.of(chapter))))

    @cached_property
    def unassigned(self) -> tuple[Placed, ...]:
        """Parts whose headings fit no chapter."""
        return tuple(each for each in self.placed if each.is_unassigned)

    @cached_property
    def volumes(self) -> tuple[str, ...]:
        """The volumes of the book, in story order."""
        return tuple(dict.fromkeys(chapter.volume for chapter in self.chapters if chapter.volume))

    def part_of_volume(self, volume: str) -> Placed | None:
        """The part that tells of a volume of the book."""
        return next(
            (each for each in self.placed if each.part.kind == "volume" and volume and each.volume == volume), None
        )

    def volume_of(self, chapter: ChapterId) -> Placed | None:
        """The part of the volume in which a chapter stands: the book's volume, else the heading above its own part."""
        here = next((each.volume for each in self.chapters if each.id == chapter), "")
        if (own := self.part_of_volume(here)) is not None:
            return own
        above = (self.placed[parent] for parent in sorted({each.part.parent for each in self.of(chapter)} - {-1, 0}))
        return next((each for each in above if not here or not each.volume), None)
