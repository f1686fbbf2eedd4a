"""The interfaces that the agents need from the rest of the program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from flowcabal_tui.domain.context import Scene
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter, Passage, PassageHit, Postings
from flowcabal_tui.domain.memory import Derived, Entity, Level, Mention, MetaName
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.run import AngleCheck
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation


class MemoryView(Protocol):
    """The book as of a generation and before a chapter position: nothing later in the story can be seen.

    All sequences come in a total order (story order, then offset, then id), so the same state reads the same.
    """

    @property
    def generation(self) -> Generation: ...

    @property
    def before(self) -> int:
        """The position of the target chapter; only chapters with a smaller one are visible."""

    @property
    def language(self) -> str: ...

    @property
    def target(self) -> Chapter | None:
        """The target chapter, whether it is written or not; None for a view of everything."""

    async def meta(self) -> tuple[tuple[MetaName, str], ...]:
        """Outline, style guide, world rules, notes: those that are not empty."""

    async def outline(self) -> BookOutline:
        """The outline of the whole book, that of later chapters too: `agents/context/outline.py` chooses from it."""

    async def entities(self) -> tuple[Entity, ...]:
        """The entities that the writer made, and those first mentioned before the target chapter."""

    async def chapters(self) -> tuple[Chapter, ...]:
        """Written chapters before the target, in story order."""

    async def chapter_text(self, chapter: ChapterId) -> str: ...

    async def chapter_texts(self, chapters: Sequence[ChapterId]) -> Mapping[ChapterId, str]:
        """The texts of several chapters in one query."""

    async def passages(self, chapter: ChapterId) -> tuple[Passage, ...]: ...

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        """The mentions of an entity before the target, in story order."""

    async def mentions_in(self, chapter: ChapterId) -> tuple[Mention, ...]:
        """The mentions of all entities in a chapter, in the order of the text."""

    async def chapters_with(self, entity: EntityId) -> tuple[ChapterId, ...]:
        """The chapters that name an entity, in story order."""

    async def named_by_passage(self) -> Sequence[frozenset[EntityId]]:
        """The entities named in each passage before the target, in story order."""

    async def passages_naming(self, entities: Collection[EntityId]) -> Mapping[EntityId, Sequence[int]]:
        """For each entity the passages before the target that name it, by their indexes in the postings, ascending."""

    async def offsets_of(
        self, entities: Collection[EntityId], chapters: Collection[ChapterId]
    ) -> Mapping[ChapterId, Sequence[tuple[int, EntityId]]]:
        """The places where chapters before the target name these entities, in the order of the text."""

    async def mention_counts(self) -> tuple[tuple[EntityId, int], ...]:
        """The number of mentions of each entity before the target, most first."""

    async def derived(self, uri: str, level: Level) -> Derived | None:
        """The newest state with a position before the target, as of the generation; None if there is none."""

    async def derived_of(self, uris: Sequence[str], level: Level) -> tuple[Derived, ...]:
        """The newest states of several texts, by position then uri."""

    async def derived_under(self, prefix: str, level: Level) -> tuple[Derived, ...]:
        """The newest state of every text below `prefix`, by position then uri."""

    async def relations(self) -> tuple[Relation, ...]:
        """Relations that began before the target; ended ones have `until`, later ends are not shown."""

    async def facts(self) -> tuple[Fact, ...]:
        """Facts that began before the target; superseded ones have `until`, and only earlier knowers are named."""

    async def promises(self) -> tuple[Promise, ...]:
        """Promises planted before the target; one that is paid later is shown as open."""

    async def moments(self) -> tuple[Moment, ...]:
        """Events narrated before the target, in the order of the story's own time."""

    async def search(self, terms: Sequence[str], limit: int) -> tuple[PassageHit, ...]:
        """bm25 over the passages before the target; statistics count those passages only."""

    async def postings(self, terms: Sequence[str]) -> Postings:
        """The passages before the target that contain each term; nothing else is counted."""

    async def waived(self) -> frozenset[tuple[str, str]]:
        """The signatures of findings that the writer marked as intended."""


class RulesPort(Protocol):
    """Checks that need no model."""

    async def check(self, view: MemoryView, text: str, uri: str, title: str) -> tuple[AngleCheck, ...]:
        """The findings of the rules for the text of the view's target; "not checked" when they could not run."""


class MemoryPort(Protocol):
    """Opens views of the memory."""

    async def view(self, chapter: ChapterId | None, generation: Generation) -> MemoryView:
        """Opens the view of a chapter; `chapter` None: everything written is visible."""

    async def scene(self, chapter: ChapterId, generation: Generation) -> Scene:
        """The scene that the writer set for a chapter."""
