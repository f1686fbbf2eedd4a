"""Entities, chapters and records of a book, read together: names by id, and places in the story."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import Fact, Relation, Story, StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import Appearances
from flowcabal_tui.tui.shared.words import one_line


class Cast:
    """The entities of the book with their records."""

    def __init__(
        self, entities: Sequence[Entity], chapters: Sequence[Chapter], story: Story, seen: Sequence[Appearances],
        kinds: Sequence[BookKind] = (),
    ) -> None:  # fmt: skip
        self.kinds = tuple(kinds)
        self.entities, self.chapters, self.story = tuple(entities), tuple(chapters), story
        self.seen = {each.entity: each for each in seen}
        self._by_id = {each.id: each for each in entities}
        self._placed = {each.id: each for each in chapters}

    @property
    def written(self) -> int:
        """The position of the last chapter that has a text; 0 when nothing is written."""
        return max((chapter.position for chapter in self.chapters if chapter.version), default=0)

    def entity(self, entity: EntityId) -> Entity | None:
        """The entity; None for one that was removed."""
        return self._by_id.get(entity)

    def record(self, record: str) -> StoryRecord | None:
        """The current state of a record; None for one that no longer exists."""
        story = self.story
        every: list[StoryRecord] = [*story.relations, *story.facts, *story.promises, *story.moments]
        return next((each for each in every if each.id == record), None)

    def name(self, entity: EntityId) -> str:
        """The name of an entity; its id when it was removed."""
        known = self._by_id.get(entity)
        return one_line(known.name if known else entity, 60)

    def names(self, entities: Iterable[EntityId]) -> str:
        """The names of several entities in one text."""
        return _(", ").join(map(self.name, entities))

    def mentions(self, entity: EntityId) -> int:
        """The number of mentions."""
        return self.seen[entity].mentions if entity in self.seen else 0

    def position(self, chapter: ChapterId | None) -> int:
        """The position of a chapter; 0 for None (before the book) and for one that has left the book."""
        known = self._placed.get(chapter) if chapter else None
        return known.position if known else 0

    def at(self, position: int) -> Chapter | None:
        """The chapter at a position."""
        return next((chapter for chapter in self.chapters if chapter.position == position), None)

    def chapter(self, chapter: ChapterId | None) -> str:
        """Number and title; "before the book" for None."""
        known = self._placed.get(chapter) if chapter else None
        if chapter is None:
            return _("before the book")
        return chapter_words(known) if known else one_line(chapter, 40)

    def holds(self, record: Relation | Fact, position: int) -> bool:
        """True when the record is valid in the chapter at `position`."""
        ended = record.until is not None and self.position(record.until) <= position
        return self.position(record.since) <= position and not ended

    def fits(self, words: str, text: str, about: Iterable[EntityId]) -> bool:
        """True when the text, or a name of an entity that it is about, contains the words, in any letter case."""
        wanted = words.casefold()
        known = filter(None, map(self._by_id.get, about))
        names = (name for each in known for name in (*each.names, *each.proposed))
        return wanted in text.casefold() or any(wanted in name.casefold() for name in names)


async def read_cast(project: Project) -> Cast:
    """All entities with their records."""
    story, book = project.story, project.book
    return Cast(*await asyncio.gather(story.entities(), book.chapters(), story.all(), story.seen(), story.name_kinds()))


async def read_people(project: Project) -> Cast:
    """All entities and chapters, without records."""
    return Cast(*await asyncio.gather(project.story.entities(), project.book.chapters()), Story(), ())


def chapter_words(chapter: Chapter) -> str:
    """Number and title, such as "12 The Ferry"; a title that only repeats the number is left out."""
    title = one_line(chapter.title, 40)
    is_number = title.isdecimal() and int(title) == chapter.position
    return str(chapter.position) if is_number else f"{chapter.position} {title}".rstrip()
