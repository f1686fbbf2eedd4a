"""Reads and changes a project for the screens of names and records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.findings import CheckReport, FindingPage, FindingWish
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.impact import BookChange, Impact
from flowcabal_tui.domain.memory import Entity, Evidence, Mention
from flowcabal_tui.domain.proposals import ProposalPage, ProposalWish
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.story import RecordId, Story, StoryRecord
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.story import (
    ApplyImpact,
    AskPatches,
    CorrectProposal,
    DecideProposals,
    PutEntity,
    PutRecord,
    RemoveEntity,
    RemoveRecord,
    SetNameKinds,
    UndoDecision,
)
from flowcabal_tui.tui.shared.spending import agents_cost
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.changes import merged, moved_records

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.project.views import SourceText
    from flowcabal_tui.tui.story.around import Companion


class StoryAccess:
    """Reads and writes names and records; shows nothing."""

    def __init__(self, workbench: Project) -> None:
        self._workbench = workbench

    async def cast(self) -> Cast:
        """All entities with their records."""
        story, book = self._workbench.story, self._workbench.book
        return Cast(
            *await asyncio.gather(story.entities(), book.chapters(), story.all(), story.seen(), story.name_kinds())
        )

    async def people(self) -> Cast:
        """All entities and chapters, without records."""
        story, book = self._workbench.story, self._workbench.book
        return Cast(*await asyncio.gather(story.entities(), book.chapters()), Story(), ())

    async def proposals(self, wish: ProposalWish, offset: int, limit: int) -> ProposalPage:
        """Some rows of the list."""
        return await self._workbench.story.proposals(wish, offset, limit)

    async def impact(self, change: BookChange) -> Impact:
        """The places that depend on a change."""
        return await self._workbench.story.impact(change)

    async def quote_patches(self, change: BookChange, places: Sequence[str]) -> Quote:
        """The price of patches by the user's model."""
        return await self._workbench.story.quote_patches(change, tuple(places))

    async def ask_patches(self, change: BookChange, places: Sequence[str]) -> int:
        """Asks for them; how many answers could not be read."""
        return int(await self._workbench.carry_out(AskPatches(change, tuple(places))) or 0)

    def costs_reading(self) -> bool:
        """True when the agents' model reads changed chapters again for money."""
        return agents_cost(self._workbench)

    async def decide(self, command: DecideProposals | CorrectProposal | ApplyImpact | UndoDecision) -> None:
        """Decides or corrects proposals, applies a change of the book, or undoes the last decision."""
        await self._workbench.carry_out(command)

    async def findings(self, wish: FindingWish, offset: int, limit: int) -> FindingPage:
        """Some findings of checks."""
        return await self._workbench.findings.findings(wish, offset, limit)

    async def finding_report(self) -> CheckReport:
        """The checked chapters, and the usefulness of each check."""
        return await self._workbench.findings.finding_report()

    async def quote_check(self, first: int | None, last: int | None) -> Quote:
        """The price of a check by the agents' model."""
        return await self._workbench.findings.quote_check(first, last)

    async def word_on_findings(self, command: Command) -> None:
        """Decides findings, checks chapters, or switches a rule."""
        await self._workbench.carry_out(command)

    async def companions(self, entity: EntityId, before: ChapterId | None) -> tuple[Companion, ...]:
        """With whom it is named before a chapter (None: in the whole book), most often first."""
        return await self._workbench.story.companions(entity, before)

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        """In story order."""
        return await self._workbench.story.mentions(entity)

    async def text(self, chapter: ChapterId, version: int | None = None) -> str:
        """The text of a version of a chapter; None: of the newest."""
        return await self._workbench.book.chapter_text(chapter, version)

    async def source(self, evidence: Evidence) -> SourceText:
        """The chapter of the evidence, at its place."""
        return await self._workbench.memory.source(f"manuscript/{evidence.chapter}", evidence.start, evidence.end)

    async def put_entity(self, entity: Entity) -> None:
        """Writes an entity by hand, which takes precedence over agents."""
        await self._workbench.carry_out(PutEntity(entity))

    async def set_kinds(self, kinds: Sequence[BookKind]) -> None:
        """Sets the kinds of names of the book."""
        await self._workbench.carry_out(SetNameKinds(tuple(kinds)))

    async def remove_entity(self, entity: EntityId) -> None:
        """Removes an entity."""
        await self._workbench.carry_out(RemoveEntity(entity))

    async def put(self, record: StoryRecord) -> RecordId:
        """Writes a record by hand, which takes precedence over agents. Returns its id."""
        return RecordId(await self._workbench.carry_out(PutRecord(record)))

    async def remove(self, record: RecordId) -> None:
        """Removes a record; agents do not add it again."""
        await self._workbench.carry_out(RemoveRecord(record))

    async def merge(self, gone: Entity, kept: Entity, cast: Cast) -> None:
        """Merges two names of one: the names and records of `gone` move to `kept`.

        The records are written first, so that nothing is lost when the work is cut off in the middle.
        """
        for record in moved_records(gone.id, kept.id, cast):
            await self.put(record)
        for relation in cast.story.relations:
            if {relation.source, relation.target} == {gone.id, kept.id}:
                await self.remove(relation.id)
        await self.remove_entity(gone.id)
        await self.put_entity(merged(gone, kept))
