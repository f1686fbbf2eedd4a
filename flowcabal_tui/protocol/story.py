"""Commands of the story: names, records, proposals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import BookChange
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import DecisionScope, OutlineEdit, ProposalId, TextEdit
from flowcabal_tui.domain.story import RecordId, StoryRecord
from flowcabal_tui.protocol.base import Command


@dataclass(frozen=True, slots=True)
class PutEntity(Command):
    """Stores the writer's version of an entity, which has priority."""

    type: ClassVar[str] = "entity:put"
    entity: Entity


@dataclass(frozen=True, slots=True)
class SetNameKinds(Command):
    """Replaces the writer's kinds of names and their fields. Names keep their field values."""

    type: ClassVar[str] = "kinds:set"
    kinds: tuple[BookKind, ...]


@dataclass(frozen=True, slots=True)
class RemoveEntity(Command):
    """Removes an entity."""

    type: ClassVar[str] = "entity:remove"
    entity: EntityId


@dataclass(frozen=True, slots=True)
class PutRecord(Command):
    """Stores the writer's version of a relation, fact, promise or moment, which has priority. An empty id makes a new
    one.

    The result is its id.
    """

    type: ClassVar[str] = "story:put"
    record: StoryRecord


@dataclass(frozen=True, slots=True)
class RemoveRecord(Command):
    """Removes a record on the writer's behalf; agents do not propose it again."""

    type: ClassVar[str] = "story:remove"
    record: RecordId


@dataclass(frozen=True, slots=True)
class DecideProposals(Command):
    """Confirms proposals, which are then written as the writer's, or drops them, which agents then do not propose
    again.

    All are decided at once; `UndoDecision` undoes it.
    """

    type: ClassVar[str] = "proposal:decide"
    proposals: tuple[ProposalId, ...]
    verdict: Literal["confirm", "drop"]


@dataclass(frozen=True, slots=True)
class CorrectProposal(Command):
    """Writes the entity, record or text of a proposal as the writer has edited it."""

    type: ClassVar[str] = "proposal:correct"
    proposal: ProposalId
    change: Entity | StoryRecord | TextEdit | OutlineEdit


@dataclass(frozen=True, slots=True)
class UndoDecision(Command):
    """Undoes the last decision in the scope, wherever it was made; or the decision on a proposal."""

    type: ClassVar[str] = "proposal:undo"
    proposal: ProposalId | None = None
    scope: DecisionScope = "any"


@dataclass(frozen=True, slots=True)
class ApplyImpact(Command):
    """Applies a change of the book at all places that depend on it, at once; `UndoDecision` undoes it.

    `digest` is that of the `Impact` that was shown; VersionConflict when the book has changed since. `leave` are ids of
    ticked rows to skip, `take` ids of unticked rows to apply; rows without a patch become findings. `holds` are rows
    that are correct as they are: like the findings, they are not listed again until they or the value change. `again`
    are settled places to list again. The result is the id of the proposal that undoes it.
    """

    type: ClassVar[str] = "impact:apply"
    change: BookChange
    digest: str
    leave: tuple[str, ...] = ()
    take: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskPatches(Command):
    """Asks the user's model for patches of places that depend on a change and that no rule can patch.

    `places` are ids of rows of the `Impact` (none: all such). The answers are stored, and the impact of the same change
    includes them. The result is the number of answers that could not be read.
    """

    type: ClassVar[str] = "impact:patch"
    change: BookChange
    places: tuple[str, ...] = ()
