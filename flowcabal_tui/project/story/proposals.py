"""The writer's decisions on proposals: confirming, correcting, dropping, and undoing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    DecisionScope,
    Edit,
    Finding,
    NewName,
    OutlineEdit,
    Proposal,
    ProposalId,
    Review,
    TextEdit,
    TitleEdit,
    Verdict,
    continued,
    judged,
)
from flowcabal_tui.domain.story import Sequel, StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_EDIT, AFTER_RENAME, following
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.project.story.edits import ProposedEdits
from flowcabal_tui.project.story.records import StoryRecords
from flowcabal_tui.protocol.book import BookChanged
from flowcabal_tui.protocol.revision import CommentsChanged


class ProposalDecisions:
    """Decides proposals. Lives on the engine's loop. A decision writes like any other edit of the writer."""

    def __init__(self, base: ProjectBase, story: StoryRecords, steps: Steps, edits: ProposedEdits) -> None:
        self._store, self._emit, self._story, self._steps, self.edits = base.store, base.emit, story, steps, edits

    async def decide(self, ids: Sequence[ProposalId], verdict: Verdict) -> None:
        """Confirms or drops rows as one decision. Raises Gone or RunError; then no record was changed."""
        rows = await self._store.proposals.get(ids)
        for row in rows:
            _require_no_finding(row)
        since = await self._store.proposals.last_decision()
        words = await self._words(rows, verdict)
        for row in rows:
            if isinstance(row.difference.after, Edit):
                await (self.edits.write(row, verdict) if verdict == "confirm" else self.edits.drop(row))
        await self._entities([row for row in rows if row.kind in ("entity", "name")], verdict)
        await self._store.proposals.decide(words, since=since)
        self._emit(BookChanged())

    async def correct(self, identity: ProposalId, change: Entity | StoryRecord | TextEdit | OutlineEdit) -> None:
        """Writes the writer's version of a proposal: its record, entity or text, as edited."""
        (row,) = await self._store.proposals.get([identity])
        _require_no_finding(row)
        after = row.difference.after
        target = after.record if isinstance(after, Sequel) else row.target
        is_same_kind = isinstance(change, Entity) == isinstance(after, Entity | NewName) and isinstance(
            change, TextEdit | OutlineEdit
        ) == isinstance(after, TextEdit | OutlineEdit)
        if change.id != target or not is_same_kind:
            raise RunError(
                _("The correction is for something else: {id}.").format(id=change.id), _("Nothing was changed.")
            )
        if isinstance(change, Entity):
            self._story.require_name(change)
            await self._steps.put_by_hand(replace(change, by="hand"))
        elif isinstance(change, TextEdit | OutlineEdit):
            await self.edits.write(row, "correct", change)
        else:
            await self._story.require_record(change)
            await self._store.proposals.decide([(identity, "correct", change)])
        self._emit(BookChanged())

    async def undo(self, identity: ProposalId | None = None, scope: DecisionScope = "any") -> None:
        """Undoes the last decision in the scope, or the one on `identity`.

        Raises RunError when there is none or it was overwritten.
        """
        decided = await self._store.proposals.decided_with(identity, scope)
        if not decided:
            raise RunError(_("There is no decision to undo."), _("Nothing was changed."))
        rows = [row for row in decided if isinstance(row, Proposal)]
        changes = [row.difference.after for row in rows]
        is_rename = any(isinstance(change, Review) and change.is_rename for change in changes)
        after = following(AFTER_RENAME if is_rename else AFTER_EDIT)
        await self.edits.take_back(rows, lambda: self._store.proposals.undo(identity, after, scope))
        known = {entity.id: entity for entity in await self._store.memory.names()}
        for target in dict.fromkeys(row.target for row in rows if row.kind in ("entity", "name")):
            if (entity := known.get(EntityId(target))) is not None:
                await self._steps.enqueue_entity(entity)
        await self._steps.enqueue_index()
        self._emit(BookChanged())
        if len(rows) < len(decided):
            self._emit(CommentsChanged())

    async def _words(
        self, rows: Sequence[Proposal], verdict: Verdict
    ) -> list[tuple[ProposalId, Verdict, StoryRecord | None]]:
        """The decisions on rows of records, with the records to write by hand: a confirmed one as it is now, with its
        end."""
        words: list[tuple[ProposalId, Verdict, StoryRecord | None]] = []
        story = await (await self._store.memory.view(None)).story()
        now: dict[str, StoryRecord] = {each.id: each for each in story.records}
        known = {entity.id for entity in await self._store.memory.names()}
        for row in rows:
            after = row.difference.after
            if isinstance(after, Finding | TitleEdit | Review):
                continue
            if isinstance(after, Edit):
                words += [(row.id, verdict, None)] if verdict == "drop" else []
                continue
            if isinstance(after, Entity | NewName):
                unwritten = isinstance(after, Entity) and after.id not in known
                words += [(row.id, verdict, None)] if verdict == "drop" and unwritten else []
                continue
            record: StoryRecord | None = None
            if verdict == "confirm" and isinstance(after, Sequel):
                before = now[after.record]
                record = now[after.record] = before if row.state == "applied" else continued(before, after)
            elif verdict == "confirm" and not isinstance(after, Sequel):
                record = now.get(after.id, after)
            if record is not None:
                await self._story.require_record(record)
            words.append((row.id, verdict, record))
        return words

    async def _entities(self, rows: Sequence[Proposal], verdict: Verdict) -> None:
        """Applies all decisions on an entity and its names at once."""
        known = {entity.id: entity for entity in await self._store.memory.names()}
        for target in dict.fromkeys(row.target for row in rows):
            changes = [row.difference.after for row in rows if row.target == target]
            entity = known.get(EntityId(target))
            proposed = next((each for each in changes if isinstance(each, Entity)), None)
            if proposed is not None and verdict == "drop":
                if entity is not None:
                    await self._steps.remove_by_hand(entity)
                continue
            entity = entity or proposed
            if entity is None:
                raise Gone(target)
            for name in (each.name for each in changes if isinstance(each, NewName)):
                entity = judged(entity, name, confirms=verdict == "confirm")
            await self._steps.put_by_hand(replace(entity, by="hand"))


def _require_no_finding(row: Proposal) -> None:
    if row.kind == "finding":
        raise RunError(
            _("{id} is a finding.").format(id=row.id),
            _("Nothing was changed."),
            _("Findings have their own command: `flowcabal-tui findings`."),
        )
