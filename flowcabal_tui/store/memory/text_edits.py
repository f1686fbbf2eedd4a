"""Proposed edits of texts: written as a version together with the writer's decision, and undone. In the writer's
thread."""

from __future__ import annotations

import sqlite3

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.proposals import OutlineEdit, TextEdit
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.blobs import get_text
from flowcabal_tui.store.rows.generations import next_generation
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks
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
            _("The text was changed in the meantime."), _("Nothing was changed."), _("Look at it again.")
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
    language: str,
    at: str,
) -> None:
    """Writes the whole text with the edit as the newest version."""
    subject = subject_of(edit)
    version = append_version(connection, NewVersion(subject, text, "human", note), generation, language, at)
    position = 0 if subject == OUTLINE else chapter_now(connection, ChapterId(subject)).position
    add_tasks(connection, tasks(subject, version.digest, position))


def restore_text(
    connection: sqlite3.Connection,
    edit: TextEdit | OutlineEdit,
    written: Generation,
    tasks: TaskMaker,
    language: str,
    at: str,
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
            _("What it wrote has been changed since."),
            _("Nothing was changed. Look at the versions of the text."),
        )
    generation = begin_edit(connection, edit, newest.version if newest else 0, at)
    write_edit(connection, edit, text, generation, _("edit undone"), tasks, language, at)
