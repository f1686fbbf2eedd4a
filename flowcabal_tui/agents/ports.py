"""What the agents need from the rest of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        ...

    @property
    def language(self) -> str: ...

    @property
    def target(self) -> Chapter | None:
        """The target chapter, whether it is written or not; None for a view of everything."""
        ...

    async def meta(self) -> tuple[tuple[MetaName, str], ...]:
        """Outline, style guide, world rules, notes: those that are not empty."""
        ...

    async def outline(self) -> BookOutline:
        """The outline of the whole book, that of later chapters too: `agents/context/outline.py` chooses from it."""
        ...

    async def entities(self) -> tuple[Entity, ...]:
        """Those made by hand, and those first mentioned before the target chapter."""
        ...

    async def chapters(self) -> tuple[Chapter, ...]:
        """Written chapters before the target, in story order."""
        ...

    async def chapter_text(self, chapter: ChapterId) -> str: ...

    async def chapter_texts(self, chapters: Sequence[ChapterId]) -> Mapping[ChapterId, str]:
        """Of several chapters at once."""
        ...

    async def passages(self, chapter: ChapterId) -> tuple[Passage, ...]: ...

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        """Before the target, in story order."""
        ...

    async def mentions_in(self, chapter: ChapterId) -> tuple[Mention, ...]:
        """Of every entity in a chapter, in the order of the text."""
        ...

    async def chapters_with(self, entity: EntityId) -> tuple[ChapterId, ...]:
        """Those that name it, in story order."""
        ...

    async def named_by_passage(self) -> Sequence[frozenset[EntityId]]:
        """Who is named in each passage before the target, in story order."""
        ...

    async def mention_counts(self) -> tuple[tuple[EntityId, int], ...]:
        """How often each entity is named before the target, most first."""
        ...

    async def derived(self, uri: str, level: Level) -> Derived | None:
        """The newest state whose position lies before the target, as of the generation."""
        ...

    async def derived_of(self, uris: Sequence[str], level: Level) -> tuple[Derived, ...]:
        """The same for each of several, by position then uri."""
        ...

    async def derived_under(self, prefix: str, level: Level) -> tuple[Derived, ...]:
        """All of them below `prefix`, newest state each, by position then uri."""
        ...

    async def relations(self) -> tuple[Relation, ...]:
        """Those that began before the target; ended ones have `until`, what ends later reads as open."""
        ...

    async def facts(self) -> tuple[Fact, ...]:
        """Those that began before the target; superseded ones have `until`, and only earlier knowers are named."""
        ...

    async def promises(self) -> tuple[Promise, ...]:
        """Those that were planted before the target; one that is paid later reads as open."""
        ...

    async def moments(self) -> tuple[Moment, ...]:
        """Those that are told before the target, in the order of the story's own time."""
        ...

    async def search(self, terms: Sequence[str], limit: int) -> tuple[PassageHit, ...]:
        """bm25 over the passages before the target; statistics count those passages only."""
        ...

    async def postings(self, terms: Sequence[str]) -> Postings:
        """Which of the passages before the target hold each term; nothing else is counted."""
        ...

    async def waived(self) -> frozenset[tuple[str, str]]:
        """Signatures of findings that the writer called intended."""
        ...


class RulesPort(Protocol):
    """Checks that need no model."""

    async def check(self, view: MemoryView, text: str, uri: str, title: str) -> tuple[AngleCheck, ...]:
        """What the rules find in the text of the target of the view; "not checked" when they could not run."""
        ...


class MemoryPort(Protocol):
    """Opens views."""

    async def view(self, chapter: ChapterId | None, generation: Generation) -> MemoryView:
        """`chapter` None: everything written is visible."""
        ...

    async def scene(self, chapter: ChapterId, generation: Generation) -> Scene:
        """What the writer set for the scene of a chapter."""
        ...
