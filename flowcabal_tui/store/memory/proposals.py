"""The list of proposals: listed for the page, decided by the writer, and undone by decision."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.comments import CommentId
from flowcabal_tui.domain.errors import Gone, RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.impact import WriterWord
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    DecisionScope,
    NewName,
    OutlineEdit,
    Proposal,
    ProposalFilter,
    ProposalId,
    ProposalPage,
    ProposalState,
    TextEdit,
    Verdict,
)
from flowcabal_tui.domain.story import RecordId, Sequel, StoryRecord
from flowcabal_tui.locale import _, mark
from flowcabal_tui.store.file.blobs import get_text
from flowcabal_tui.store.file.connection import StorePart, one_row, transaction
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.memory.records import changed_since, remove_record, restore_record, write_record
from flowcabal_tui.store.memory.reviews import Reviewed, apply_review, restore_review
from flowcabal_tui.store.rows.entities import FIELDS as ENTITY_FIELDS
from flowcabal_tui.store.rows.entities import entity_of, put_entity_row
from flowcabal_tui.store.rows.generations import NOW, next_generation
from flowcabal_tui.store.rows.note_words import LAST_DECISION, undo_notes
from flowcabal_tui.store.rows.proposals import (
    FIELDS,
    decide,
    next_decision,
    proposal_of,
    raise_proposals,
    reword_proposal,
)
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks, no_tasks
from flowcabal_tui.store.rows.texts import NewVersion, append_version, chapter_now, latest

OUTLINE = "meta/outline"


def subject_of(edit: TextEdit | OutlineEdit) -> str:
    """The subject of the versions that an edit writes."""
    return OUTLINE if isinstance(edit, OutlineEdit) else edit.chapter


def begin_edit(connection: sqlite3.Connection, edit: TextEdit | OutlineEdit, expected: int, at: str) -> Generation:
    """The generation of the next version. Raises VersionConflict when the text is no longer the expected version."""
    subject = subject_of(edit)
    newest = latest(connection, subject)
    if (newest.version if newest else 0) != expected:
        raise VersionConflict(
            _("The text was changed in the meantime."), _("Nothing was changed."), _("Review it again.")
        )
    position = 0 if subject == OUTLINE else chapter_now(connection, ChapterId(subject)).position
    return next_generation(connection, "truth", position, at)


def write_edit(
    connection: sqlite3.Connection,
    edit: TextEdit | OutlineEdit,
    text: str,
    generation: Generation,
    note: str,
    tasks: TaskMaker,
    at: str,
) -> None:
    """Writes the whole text with the edit as the newest version."""
    subject = subject_of(edit)
    version = append_version(connection, NewVersion(subject, text, "human", note), generation, at)
    position = 0 if subject == OUTLINE else chapter_now(connection, ChapterId(subject)).position
    add_tasks(connection, tasks(subject, version.digest, position))


def restore_text(
    connection: sqlite3.Connection, edit: TextEdit | OutlineEdit, written: Generation, tasks: TaskMaker, at: str
) -> None:
    """Undoes an edit: restores the text before it, or replaces its words in the present text.

    Raises RunError when neither is possible, and then changes nothing.
    """
    subject = subject_of(edit)
    newest = latest(connection, subject)
    made = connection.execute(
        "SELECT made.number, before.digest FROM version AS made LEFT JOIN version AS before"
        " ON before.subject=made.subject AND before.number=made.number-1 WHERE made.subject=? AND made.generation=?",
        (subject, written),
    ).fetchone()
    text = None
    if newest is not None and made is not None and newest.version == made[0]:
        text = get_text(connection, Digest(made[1])) if made[1] else ""
    elif newest is not None and isinstance(edit, TextEdit) and edit.after:
        now = get_text(connection, newest.digest)
        if now.count(edit.after) == 1:
            text = now.replace(edit.after, edit.before)
    if text is None:
        raise RunError(
            _("The last decision was not undone."),
            _("The text or entry that it wrote has been changed since."),
            _("Nothing was changed. Check the versions of the text."),
        )
    generation = begin_edit(connection, edit, newest.version if newest else 0, at)
    write_edit(connection, edit, text, generation, _("edit undone"), tasks, at)


_IN_BOOK: Final = """(chapter='' OR EXISTS (SELECT 1 FROM place WHERE place.chapter=proposal.chapter AND NOT deleted
    AND generation=(SELECT max(generation) FROM place AS other WHERE other.chapter=place.chapter)))"""
_FITTING: Final = f"""{_IN_BOOK} AND (:chapter IS NULL OR chapter=:chapter)
    AND (:kinds='[]' AND kind<>'finding' OR kind IN (SELECT value FROM json_each(:kinds)))
    AND (:words='' OR instr(lower(quotation || ' ' || body), :words))"""
_REVIEWS: Final = "SELECT decision FROM proposal WHERE kind='review' AND decision NOTNULL"
_DECISIONS: Final[Mapping[DecisionScope, str]] = {
    "any": LAST_DECISION,
    "findings": f"""max(coalesce((SELECT max(decision) FROM proposal WHERE kind='finding'
        AND decision NOT IN ({_REVIEWS})), 0), coalesce((SELECT max(decision) FROM note_word), 0))""",
    "proposals": f"""(SELECT max(decision) FROM proposal WHERE kind<>'finding' AND decision NOT IN ({_REVIEWS})
        AND decision NOT IN (SELECT decision FROM proposal WHERE kind='finding' AND decision NOTNULL)
        AND decision NOT IN (SELECT decision FROM note_word WHERE decision NOTNULL))""",
    "impact": f"(SELECT max(decision) FROM ({_REVIEWS}))",
}
"""For each scope, SQL for the number of the last decision that can be undone."""
STATES: Final[Mapping[Verdict, ProposalState]] = {"confirm": "confirmed", "correct": "corrected", "drop": "dropped"}


class Proposals(StorePart):
    """Waiting, applied, decided and resolved rows."""

    @transaction
    def add(self, connection: Connection, proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
        """Stores proposals; known ones keep their id and the state that the writer gave them."""
        (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM generation").fetchone()
        return raise_proposals(connection, proposals, newest)

    @transaction
    def write_edit(
        self,
        connection: Connection,
        proposal: Proposal,
        verdict: Verdict,
        text: str,
        expected_version: int,
        note: str,
        tasks: TaskMaker,
    ) -> None:
        """Stores the writer's decision on an edit of a text, and the whole new text as the newest version, in one
        transaction.

        Raises VersionConflict when the text is no longer `expected_version`, Gone for an unknown id.
        """
        at, edit = self._now(), proposal.difference.after
        assert isinstance(edit, TextEdit | OutlineEdit)
        if not connection.execute("SELECT 1 FROM proposal WHERE id=?", (proposal.id,)).fetchone():
            raise Gone(proposal.id)
        generation = begin_edit(connection, edit, expected_version, at)
        reword_proposal(connection, proposal)
        decide(connection, proposal.id, STATES[verdict], generation, next_decision(connection))
        write_edit(connection, edit, text, generation, note, tasks, at)

    async def place_words(self) -> Mapping[Digest, WriterWord]:
        """The writer's decisions on places that depend on a change, by their keys."""
        rows = await self._database.rows(
            "SELECT key, word FROM place_word AS latest WHERE word<>''"
            " AND generation=(SELECT max(generation) FROM place_word WHERE key=latest.key)"
        )
        return {Digest(key): word for key, word in rows}

    async def apply(self, new: Reviewed, tasks: TaskMaker) -> Proposal:
        """Writes a change of the whole book, all or nothing, and returns the row that can undo it.

        Raises VersionConflict when something differs from what the writer reviewed.
        """
        at = self._now()
        return await self._database.do(lambda connection: apply_review(connection, new, tasks, at))

    async def page(self, where: ProposalFilter, offset: int = 0, limit: int = 100) -> ProposalPage:
        """Rows of the newest reading first, in the order of their raising."""
        wanted = {
            "chapter": where.chapter,
            "kinds": json.dumps(where.kinds),
            "words": where.words.strip().lower(),
            "states": json.dumps(where.states),
            "limit": limit,
            "offset": offset,
        }
        rows = await self._database.rows(
            f"SELECT {FIELDS} FROM proposal WHERE {_FITTING}"
            " AND (:states='[]' OR state IN (SELECT value FROM json_each(:states)))"
            " ORDER BY raised DESC, number LIMIT :limit OFFSET :offset",
            wanted,
        )
        counts = await self._database.rows(
            f"SELECT state, count(*) FROM proposal WHERE {_FITTING} GROUP BY state", wanted
        )
        return ProposalPage(self._database.readable(mark("proposals"), proposal_of, rows), offset, dict(counts))

    async def get(self, ids: Sequence[ProposalId]) -> tuple[Proposal, ...]:
        """The proposals with these ids, in this order. Raises Gone for an unknown id."""
        rows = await self._database.rows(
            f"SELECT {FIELDS} FROM proposal WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        found = {row[0]: proposal_of(row) for row in rows}
        for each in ids:
            if each not in found:
                raise Gone(each)
        return tuple(found[each] for each in ids)

    async def last_decision(self) -> int:
        """The number of the writer's last decision; 0 if there is none."""
        row = await self._database.row(f"SELECT {LAST_DECISION}")
        return int(row[0]) if row else 0

    @transaction
    def decide(
        self,
        connection: Connection,
        words: Sequence[tuple[ProposalId, Verdict, StoryRecord | None]],
        *,
        since: int | None = None,
    ) -> None:
        """Stores decisions on rows of records, in one transaction; each with the record to write by hand.

        Without a record, the record that an agent wrote is removed. With `since`, decisions after that number become
        part of this one. Raises Gone for an unknown id and then changes nothing.
        """
        at = self._now()
        number = next_decision(connection)
        for identity, verdict, record in words:
            row = one_row(connection, f"SELECT {FIELDS} FROM proposal WHERE id=?", (identity,), identity)
            target = proposal_of(row).target
            if record is not None:
                written: Generation | None = write_record(connection, record, at)
            else:
                written = remove_record(connection, RecordId(target), at)
            decide(connection, identity, STATES[verdict], written, number)
        first = number if since is None else since + 1
        connection.execute("UPDATE proposal SET decision=? WHERE decision>?", (first, first))

    async def decided_with(
        self, identity: ProposalId | None = None, scope: DecisionScope = "any"
    ) -> tuple[Proposal | CommentId, ...]:
        """The rows and the notes of readers of the decision on this proposal (None: of the last one in the scope)."""
        number = f"decision=({_decision(identity, scope)})"
        rows = await self._database.rows(f"SELECT {FIELDS} FROM proposal WHERE {number}", {"id": identity})
        notes = await self._database.rows(f"SELECT number FROM note_word WHERE {number}", {"id": identity})
        return (*map(proposal_of, rows), *(CommentId(note) for (note,) in notes))

    @transaction
    def undo(
        self,
        connection: Connection,
        identity: ProposalId | None = None,
        tasks: TaskMaker = no_tasks,
        scope: DecisionScope = "any",
    ) -> tuple[Proposal, ...]:
        """Undoes the last decision in the scope, or the one on `identity`, for all its rows and notes of readers.
        Returns the rows in their new state.

        Raises RunError when something that it wrote has changed since, and then changes nothing.
        """
        at = self._now()
        (number,) = connection.execute(f"SELECT {_decision(identity, scope)}", {"id": identity}).fetchone()
        rows = connection.execute(
            f"SELECT {FIELDS}, body ->> '$.written', was, generation FROM proposal WHERE decision=?"
            " ORDER BY generation DESC",
            (number,),
        ).fetchall()
        written: defaultdict[tuple[str, str], list[Generation]] = defaultdict(list)
        for record, made in undo_notes(connection, number):
            written["record", record].append(made)
        applied = {row[-1] for row in rows if row[1] == "review"}
        for generation in applied:
            restore_review(connection, generation, tasks, at)
        for *row, by_finding, _was, generation in rows:
            if generation in applied:  # the review's own row and those that follow its writes
                continue
            for record, made in read_json(list[tuple[str, Generation]], by_finding or "[]"):
                written["record", record].append(made)
            edit = proposal_of(row).difference.after
            if generation is not None and isinstance(edit, TextEdit | OutlineEdit):
                restore_text(connection, edit, generation, tasks, at)
            elif generation is not None and not by_finding:
                written[_written(proposal_of(row))].append(generation)
        for (table, target), generations in written.items():
            _restore(connection, table, target, min(generations), max(generations), at)
        connection.executemany(
            "UPDATE proposal SET state=CASE WHEN kind='review' THEN 'withdrawn' WHEN lost THEN 'resolved'"
            " ELSE ? END, was='', word='', decision=NULL,"
            " generation=NULL, body=json_remove(body, '$.written') WHERE id=?",
            [(row[-2], row[0]) for row in rows],
        )
        found = (connection.execute(f"SELECT {FIELDS} FROM proposal WHERE id=?", (row[0],)) for row in rows)
        return tuple(proposal_of(each.fetchone()) for each in found)


def _decision(identity: ProposalId | None, scope: DecisionScope) -> str:
    return _DECISIONS[scope] if identity is None else "(SELECT decision FROM proposal WHERE id=:id)"


def _written(proposal: Proposal) -> tuple[str, str]:
    """The table and id that a decision on the proposal wrote: a confirmed sequel writes its record."""
    after = proposal.difference.after
    if isinstance(after, Sequel) and proposal.state != "dropped":
        return "record", after.record
    return ("entity" if isinstance(after, Entity | NewName) else "record"), proposal.target


def _restore(connection: Connection, table: str, target: str, first: Generation, last: Generation, at: str) -> None:
    """Restores the state before generation `first`. Raises RunError when there is one after `last`."""
    (newest,) = connection.execute(f"SELECT max(generation) FROM {table} WHERE id=?", (target,)).fetchone()
    if newest != last:
        raise changed_since()
    if table == "record":
        restore_record(connection, RecordId(target), first, at)
        return
    fields = f"{ENTITY_FIELDS}, removed"
    before, now = (
        connection.execute(
            f"SELECT {fields} FROM entity WHERE id=? AND generation<? ORDER BY generation DESC LIMIT 1",
            (target, generation),
        ).fetchone()
        for generation in (first, NOW)
    )
    generation = next_generation(connection, "truth", 0, at)
    restored, removed = (before or now)[:-1], before is None or bool(before[-1])
    put_entity_row(connection, entity_of(restored), generation, removed=removed)
