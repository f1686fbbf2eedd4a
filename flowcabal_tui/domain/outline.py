"""The outline of a book as a tree: book, volumes and chapters, each with its own text (decision 21)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Final, Literal

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.value_class import dataclass

PartKind = Literal["book", "volume", "chapter"]
Fit = Literal["", "hand", "title", "number"]
"""The reason why a part belongs to a chapter: the writer's assignment, the same title, the same number ("": none)."""
NOWHERE: Final = ChapterId("")
"""The chapter of a link by which the writer assigned a part to no chapter."""


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A heading of the outline with the text below it, up to the next heading.

    `title` is the heading without marks; the book's own part has none. `heading` and `body` are spans of the text.
    `last` is set for a heading of several chapters (第四至六章). `nth` counts parts of the same title. `parent` is an
    index of `Outline.parts` (-1: none). A scene would be a part whose parent is a chapter's.
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
    """The writer's text, which is authoritative, and the parts of its headings. The first part is the book's own."""

    text: str
    parts: tuple[OutlinePart, ...]
    veil: Callable[[str], str] | None = field(default=None, compare=False)
    """Masks words that the point of view must not learn; `text` itself is unchanged."""

    def body(self, part: OutlinePart) -> str:
        """The text of a part, without empty lines around it."""
        words = self.text[part.body.start : part.body.end].strip("\n").rstrip()
        return self.veil(words) if self.veil else words

    def beats(self, part: OutlinePart) -> str:
        """The text of a part; without one, the title of its heading."""
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
    """The chapters of a part. `place` is its place in the story: a chapter's position, or between two (None: unknown).

    `volume` is the volume of the book to which a volume's part belongs.
    """

    part: OutlinePart
    chapters: tuple[ChapterId, ...] = ()
    by: Fit = ""
    place: float | None = None
    volume: str = ""
    planned: bool = False
    """The part belongs to a chapter that the book does not have yet."""

    @property
    def is_unassigned(self) -> bool:
        """True for a chapter's heading that fits no chapter, neither an existing nor a planned one."""
        return self.part.kind == "chapter" and not self.chapters and not self.planned


@dataclass(frozen=True)
class BookOutline:
    """An outline with the chapters of its book. `placed` is in the order of the text."""

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
        """All text of the outline for a chapter; "" when there is none."""
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
        """The part of the outline for a volume of the book."""
        return next(
            (each for each in self.placed if each.part.kind == "volume" and volume and each.volume == volume), None
        )

    def volume_of(self, chapter: ChapterId) -> Placed | None:
        """The part of a chapter's volume: the book's volume, else the heading above the chapter's own part."""
        here = next((each.volume for each in self.chapters if each.id == chapter), "")
        if (own := self.part_of_volume(here)) is not None:
            return own
        above = (self.placed[parent] for parent in sorted({each.part.parent for each in self.of(chapter)} - {-1, 0}))
        return next((each for each in above if not here or not each.volume), None)
