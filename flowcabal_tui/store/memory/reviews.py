"""A change of the whole book, applied in one transaction and one generation, and undone as one. In the writer's
thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.impact import PlaceWord
from flowcabal_tui.domain.memory import BackgroundTask, Entity
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.proposed_rewrite import NO_REWRITE
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.blobs import get_text
from flowcabal_tui.store.memory.records import Reword, restore_reworded, reword_records
from flowcabal_tui.store.rows.changes import log_change, mark_undone
from flowcabal_tui.store.rows.entities import FIELDS as ENTITY_FIELDS
from flowcabal_tui.store.rows.entities import entity_of, put_entity_row
from flowcabal_tui.store.rows.findings import raise_findings
from flowcabal_tui.store.rows.generations import NOW, next_generation
from flowcabal_tui.store.rows.place_words import put_place_words, take_back_place_words
from flowcabal_tui.store.rows.proposals import decide, next_decision, raise_proposals
from flowcabal_tui.store.rows.rewrites import accept
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks
from flowcabal_tui.store.rows.texts import NewVersion, append_version, chapters_now, latest

_META: Final = "meta/"


@dataclass(frozen=True, slots=True)
class ReviewedText:
    """The whole new text of a chapter or of a text about the book, over the reviewed version."""

    subject: str
    text: str
    expected_version: int


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The writes of a review. `titles` are chapters with their old title and the new one; `entities` the old states and
    the new ones; `tasks` are those beside the tasks that follow each text; `rewrites` mark the new words of a model;
    `findings` are places that the writer decides later; `words` are decisions on places."""

    row: Proposal
    note: str
    texts: Sequence[ReviewedText] = ()
    titles: Sequence[tuple[ChapterId, str, str]] = ()
    entities: Sequence[tuple[Entity, Entity]] = ()
    reword: Reword | None = None
    tasks: Sequence[BackgroundTask] = ()
    rewrites: Sequence[Rewrite] = ()
    findings: Sequence[Proposal] = ()
    words: Sequence[PlaceWord] = ()


def apply_review(connection: sqlite3.Connection, new: Reviewed, following: TaskMaker, at: str) -> Proposal:
    """Writes all of it or nothing, and returns the row of the list that undoes it.

    Raises VersionConflict when something changed since the review.
    """
    placed, first = {chapter.id: chapter for chapter in chapters_now(connection)}, next_decision(connection)
    positions = [placed[ChapterId(each.subject)].position for each in new.texts if each.subject in placed]
    changes_book = new.texts or new.titles or new.entities or new.reword
    touched = 0 if new.entities else min(positions, default=0 if changes_book else NOW)
    generation = next_generation(connection, "truth", touched, at)
    add_tasks(connection, new.tasks)
    for text in new.texts:
        newest = latest(connection, text.subject)
        is_here = text.subject in placed or text.subject.startswith(_META)
        _require(is_here and newest is not None and newest.version == text.expected_version)
        version = NewVersion(text.subject, text.text, "human", new.note)
        written = append_version(connection, version, generation, at)
        position = placed[ChapterId(text.subject)].position if text.subject in placed else 0
        add_tasks(connection, following(text.subject, written.digest, position))
    for chapter, before, title in new.titles:
        _require(chapter in placed and placed[chapter].title == before)
        _put_title(connection, chapter, title, generation)
    for old, entity in new.entities:
        _require(_entity(connection, old.id, None) == replace(old, first_position=None))
        put_entity_row(connection, entity, generation)
    if new.reword is not None:
        reword_records(connection, generation, new.reword)
    accept(connection, new.rewrites, NO_REWRITE)
    raised = [(generation, each.id) for each in raise_findings(connection, new.findings, at)]
    connection.executemany("UPDATE proposal SET raised=? WHERE id=?", raised)  # also for a row that an undo withdrew
    put_place_words(connection, new.words, generation)
    (row,) = raise_proposals(connection, [new.row], generation)
    log_change(connection, generation, "review", row.id, at)
    decide(connection, row.id, "confirmed", generation, first)
    connection.execute("UPDATE proposal SET decision=? WHERE decision>?", (first, first))
    return row


def restore_review(connection: sqlite3.Connection, written: Generation, following: TaskMaker, at: str) -> None:
    """Restores texts, titles, names, records and decisions on places from before generation `written`.

    Raises RunError when one was changed since, and then nothing was changed.
    """
    generation = next_generation(connection, "truth", 0, at)
    mark_undone(connection, written, generation)
    positions = {chapter.id: chapter.position for chapter in chapters_now(connection)}
    rows = connection.execute(
        "SELECT made.subject, made.number, before.digest FROM version AS made JOIN version AS before"
        " ON before.subject=made.subject AND before.number=made.number-1 WHERE made.generation=? ORDER BY made.subject",
        (written,),
    ).fetchall()
    for subject, number, digest in rows:
        newest = latest(connection, subject)
        if newest is None or newest.version != number:
            raise _changed_since(connection, subject)
        version = NewVersion(subject, get_text(connection, Digest(digest)), "human", _("edit undone"))
        restored = append_version(connection, version, generation, at)
        add_tasks(connection, following(subject, restored.digest, positions.get(subject, 0)))
    for chapter, title in connection.execute(
        "SELECT chapter, title FROM place WHERE generation=?", (written,)
    ).fetchall():
        (before,) = connection.execute(
            "SELECT title FROM place WHERE chapter=? AND generation<? ORDER BY generation DESC LIMIT 1",
            (chapter, written),
        ).fetchone()
        (now,) = connection.execute(
            "SELECT title FROM place WHERE chapter=? ORDER BY generation DESC LIMIT 1", (chapter,)
        ).fetchone()
        if now != title:
            raise _changed_since(connection, chapter)
        _put_title(connection, chapter, before, generation)
    _restore_entities(connection, written, generation)
    take_back_place_words(connection, written)
    connection.execute(
        "UPDATE proposal SET state='withdrawn' WHERE kind='finding' AND state='waiting' AND raised=?"
        " AND origin ->> '$[1]'=(SELECT origin ->> '$[1]' FROM proposal WHERE kind='review' AND generation=?)",
        (written, written),
    )
    restore_reworded(connection, written, generation)


def _restore_entities(connection: sqlite3.Connection, written: Generation, generation: Generation) -> None:
    """Names and aliases of before; what agents proposed since stays proposed."""
    for (identity,) in connection.execute("SELECT id FROM entity WHERE generation=?", (written,)).fetchall():
        made, now = _entity(connection, identity, written), _entity(connection, identity, None)
        before = _entity(connection, identity, Generation(written - 1))
        if before is None or made is None or now is None or (now.names, now.note) != (made.names, made.note):
            raise _changed_since(connection, made.name if made else identity)
        put_entity_row(connection, replace(before, proposed=now.proposed, rejected=now.rejected), generation)


def _entity(connection: sqlite3.Connection, identity: str, as_of: Generation | None) -> Entity | None:
    row = connection.execute(
        f"SELECT {ENTITY_FIELDS}, removed FROM entity WHERE id=? AND (? IS NULL OR generation<=?)"
        " ORDER BY generation DESC LIMIT 1",
        (identity, as_of, as_of),
    ).fetchone()
    return entity_of(row[:-1]) if row and not row[-1] else None


def _put_title(connection: sqlite3.Connection, chapter: ChapterId, title: str, generation: Generation) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO place SELECT chapter, ?, position, ?, volume, deleted FROM place WHERE chapter=?"
        " ORDER BY generation DESC LIMIT 1",
        (generation, clean_line(title), chapter),
    )


def _require(is_so: bool) -> None:
    if not is_so:
        raise VersionConflict(
            _("The book was changed in the meantime."), _("Nothing was changed."), _("Review the places again.")
        )


def _changed_since(connection: sqlite3.Connection, subject: str) -> RunError:
    named = next((each.title for each in chapters_now(connection) if each.id == subject), subject)
    return RunError(
        _("The last decision was not undone."),
        _("Changed since: {name}").format(name=named),
        _("Nothing was changed. Check its versions."),
    )
