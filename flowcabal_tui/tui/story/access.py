"""Reads and changes a project for the screens of names and records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import BookChange
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.story import RecordId, Story, StoryRecord
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.protocol.story import AskPatches, PutEntity, PutRecord, RemoveEntity, RemoveRecord, SetNameKinds
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.changes import merged, moved_records


class StoryAccess:
    """Reads and writes that take several questions or commands; screens use the services for single ones."""

    def __init__(self, workbench: Project) -> None:
        self.workbench = workbench

    async def cast(self) -> Cast:
        """All entities with their records."""
        story, book = self.workbench.story, self.workbench.book
        return Cast(
            *await asyncio.gather(story.entities(), book.chapters(), story.all(), story.seen(), story.name_kinds())
        )

    async def people(self) -> Cast:
        """All entities and chapters, without records."""
        story, book = self.workbench.story, self.workbench.book
        return Cast(*await asyncio.gather(story.entities(), book.chapters()), Story(), ())

    async def ask_patches(self, change: BookChange, places: Sequence[str]) -> int:
        """Requests patches; returns the number of answers that could not be read."""
        return int(await self.workbench.carry_out(AskPatches(change, tuple(places))) or 0)

    async def source(self, evidence: Evidence) -> OpenedSource:
        """The chapter of the evidence, at its place."""
        return await self.workbench.memory.source(f"manuscript/{evidence.chapter}", evidence.start, evidence.end)

    async def put_entity(self, entity: Entity) -> None:
        """Writes an entity by hand, which takes precedence over agents."""
        await self.workbench.carry_out(PutEntity(entity))

    async def set_kinds(self, kinds: Sequence[BookKind]) -> None:
        """Sets the kinds of names of the book."""
        await self.workbench.carry_out(SetNameKinds(tuple(kinds)))

    async def remove_entity(self, entity: EntityId) -> None:
        """Removes an entity."""
        await self.workbench.carry_out(RemoveEntity(entity))

    async def put(self, record: StoryRecord) -> RecordId:
        """Writes a record by hand, which takes precedence over agents. Returns its id."""
        return RecordId(await self.workbench.carry_out(PutRecord(record)))

    async def remove(self, record: RecordId) -> None:
        """Removes a record; agents do not add it again."""
        await self.workbench.carry_out(RemoveRecord(record))

    async def merge(self, gone: Entity, kept: Entity, cast: Cast) -> None:
        """Merges two entities: the names and records of `gone` move to `kept`.

        The records are written first, so that nothing is lost if the work is interrupted.
        """
        for record in moved_records(gone.id, kept.id, cast):
            await self.put(record)
        for relation in cast.story.relations:
            if {relation.source, relation.target} == {gone.id, kept.id}:
                await self.remove(relation.id)
        await self.remove_entity(gone.id)
        await self.put_entity(merged(gone, kept))
