"""The story: names, their records, scenes, and the proposals of agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.impact import BookChange, Impact
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.domain.name_card import NameCard
from flowcabal_tui.domain.proposals import Proposal, ProposalFilter, ProposalId, ProposalPage
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.story import Story
from flowcabal_tui.domain.text import clean
from flowcabal_tui.project.commands import Service, handles, passed_on
from flowcabal_tui.project.story.kinds import known_kinds, set_kinds
from flowcabal_tui.project.story.scenes import set_scene
from flowcabal_tui.project.views import Appearances
from flowcabal_tui.protocol.book import BookChanged, SetScene
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


class StoryService(Service):
    """Questions and commands about the story. Lives on the engine's loop."""

    passes_on = (
        passed_on(
            AskPatches, lambda parts, command: parts.impacts.ask_patches(command.change, command.places), hurries=True
        ),
    )

    async def all(self) -> Story:
        """All current relations, facts, promises and moments, in story order."""
        return await self._parts.story.story()

    async def entities(self) -> tuple[Entity, ...]:
        """All entities, by first mention, then id."""
        return await self._store.memory.entities()

    async def name_kinds(self) -> tuple[BookKind, ...]:
        """The writer's own kinds of names, and those of the program that have fields."""
        return known_kinds(self._parts.base)

    async def seen(self) -> tuple[Appearances, ...]:
        """The mentions of each entity: their number, and the first and last chapter."""
        view = await self._store.memory.view(None)
        return tuple(Appearances(*each) for each in await view.seen())

    async def name_card(self, entity: EntityId, chapter: ChapterId | None = None) -> NameCard:
        """The data of an entity as of a chapter (None: of the end of the book). Raises Gone."""
        return await self._parts.cards.card(entity, chapter)

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        """Every place of the present texts that names an entity, in story order."""
        return await (await self._store.memory.view(None)).mentions(entity)

    async def companions(
        self, entity: EntityId, before: ChapterId | None = None
    ) -> tuple[tuple[EntityId, int, ChapterId], ...]:
        """The entities named in the same passages: number of passages and last chapter; most frequent first."""
        return await (await self._store.memory.view(before)).companions(entity)

    async def proposals(self, where: ProposalFilter, offset: int = 0, limit: int = 100) -> ProposalPage:
        """A page of proposals of agents and rules from `offset` on, those of the newest reading first."""
        return await self._store.proposals.page(where, offset, limit)

    async def proposal(self, identity: ProposalId) -> Proposal:
        """One proposal. Raises UnknownName when there is none of this id."""
        (found,) = await self._store.proposals.get([identity])
        return found

    async def impact(self, change: BookChange) -> Impact:
        """The places that depend on a change, the most direct first. Raises RunError, UnknownName."""
        return await self._parts.impacts.of(change)

    async def quote_patches(self, change: BookChange, places: Sequence[str] = ()) -> Quote:
        """The price of patches by the user's model for these rows of the impact (none given: for all that no rule can
        patch).

        Raises RunError if there are no such rows, ModelError without a model.
        """
        await self._parts.base.models.learn_windows()
        return await self._parts.impacts.quote_patches(change, places)

    @handles(ApplyImpact)
    async def apply_impact(self, command: ApplyImpact) -> str:
        before = await self._store.book.chapters()
        row = await self._parts.impacts.apply(command)
        await self._parts.book.outlining.written()
        await self._parts.memory.updates.chapters_placed(before)
        await self._parts.proposals.edits.emit_versions(before)
        await self._names_changed()
        return row.id

    @handles(PutEntity)
    async def put_entity(self, command: PutEntity) -> None:
        entity = command.entity
        self._parts.story.require_name(entity)
        await self._parts.memory.steps.put_by_hand(replace(entity, name=clean(entity.name).strip(), by="hand"))
        await self._names_changed()

    @handles(SetNameKinds)
    async def set_name_kinds(self, command: SetNameKinds) -> None:
        await set_kinds(self._parts.base, command.kinds)
        self._parts.base.emit(BookChanged())

    @handles(RemoveEntity)
    async def remove_entity(self, command: RemoveEntity) -> None:
        entity = next((each for each in await self._store.memory.names() if each.id == command.entity), None)
        if entity is None:
            raise Gone(command.entity)
        await self._parts.memory.steps.remove_by_hand(entity)
        await self._names_changed()

    async def _names_changed(self) -> None:
        await self._parts.memory.updates.story_changed()
        self._parts.base.emit(BookChanged())

    @handles(PutRecord)
    async def put_record(self, command: PutRecord) -> str:
        put = await self._parts.story.put(command.record)
        await self._parts.memory.updates.story_changed()
        return put

    @handles(RemoveRecord)
    async def remove_record(self, command: RemoveRecord) -> None:
        await self._parts.story.remove(command.record)
        await self._parts.memory.updates.story_changed()

    @handles(DecideProposals)
    async def decide(self, command: DecideProposals) -> None:
        await self._parts.proposals.decide(command.proposals, command.verdict)
        await self._parts.memory.updates.story_changed()

    @handles(CorrectProposal)
    async def correct(self, command: CorrectProposal) -> None:
        await self._parts.proposals.correct(command.proposal, command.change)
        await self._parts.memory.updates.story_changed()

    @handles(UndoDecision)
    async def undo(self, command: UndoDecision) -> None:
        await self._parts.proposals.undo(command.proposal, command.scope)
        await self._parts.memory.updates.story_changed()

    @handles(SetScene)
    async def set_scene(self, command: SetScene) -> None:
        await set_scene(self._parts.base, command)
        self._parts.base.emit(BookChanged())
