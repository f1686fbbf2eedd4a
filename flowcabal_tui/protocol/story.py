"""Commands of the story: names, records, proposals."""

from __future__ import annotations

from typing import Literal

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import BookChange
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import DecisionScope, OutlineEdit, ProposalId, TextEdit
from flowcabal_tui.domain.story import RecordId, StoryRecord
from flowcabal_tui.protocol.base import Command


class PutEntity(Command, type="entity:put"):
    """Stores the writer's version of an entity, which has priority."""

    entity: Entity


class SetNameKinds(Command, type="kinds:set"):
    """Replaces the writer's kinds of names and their fields. Names keep their field values."""

    kinds: tuple[BookKind, ...]


class RemoveEntity(Command, type="entity:remove"):
    """Removes an entity."""

    entity: EntityId


class PutRecord(Command, type="story:put"):
    """Stores the writer's version of a relation, fact, promise or moment, which has priority. An empty id makes a new
    one.

    The result is its id.
    """

    record: StoryRecord


class RemoveRecord(Command, type="story:remove"):
    """Removes a record on the writer's behalf; agents do not propose it again."""

    record: RecordId


class DecideProposals(Command, type="proposal:decide"):
    """Confirms proposals, which are then written as the writer's, or drops them, which agents then do not propose
    again.

    All are decided at once; `UndoDecision` undoes it.
    """

    proposals: tuple[ProposalId, ...]
    verdict: Literal["confirm", "drop"]


class CorrectProposal(Command, type="proposal:correct"):
    """Writes the entity, record or text of a proposal as the writer has edited it."""

    proposal: ProposalId
    change: Entity | StoryRecord | TextEdit | OutlineEdit


class UndoDecision(Command, type="proposal:undo"):
    """Undoes the last decision in the scope, wherever it was made; or the decision on a proposal."""

    proposal: ProposalId | None = None
    scope: DecisionScope = "any"


class ApplyImpact(Command, type="impact:apply"):
    """Applies a change of the book at all places that depend on it, at once; `UndoDecision` undoes it.

    `digest` is that of the `Impact` that was shown; VersionConflict when the book has changed since. `leave` are ids of
    ticked rows to skip, `take` ids of unticked rows to apply; rows without a patch become findings. `holds` are rows
    that are correct as they are: like the findings, they are not listed again until they or the value change. `again`
    are settled places to list again. The result is the id of the proposal that undoes it.
    """

    change: BookChange
    digest: str
    leave: tuple[str, ...] = ()
    take: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


class AskPatches(Command, type="impact:patch"):
    """Asks the user's model for patches of places that depend on a change and that no rule can patch.

    `places` are ids of rows of the `Impact` (none: all such). The answers are stored, and the impact of the same change
    includes them. The result is the number of answers that could not be read.
    """

    change: BookChange
    places: tuple[str, ...] = ()
