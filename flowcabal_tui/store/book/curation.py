"""Keeping an output, which is the only way into the memory of the book, and undoing it. In the writer's thread.

The id of a kept output derives from its kind, text and place, so keeping it twice does nothing. Forgetting replays the
versions of its text without it: text by hand stays.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from flowcabal_tui.domain.errors import ProjectError
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, OutputId
from flowcabal_tui.domain.manuscript import Author, ChapterVersion
from flowcabal_tui.domain.memory import Curated, Entity, EntityAuthor, EntityKind, KeepKind, KeepMode
from flowcabal_tui.domain.text import clean, digest, digest_of
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.blobs import get_text, put_text
from flowcabal_tui.store.file.connection import Row, one_row
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.changes import log_change
from flowcabal_tui.store.rows.entities import entity_id, entity_now, entity_subject, put_entity_row
from flowcabal_tui.store.rows.generations import next_generation
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks
from flowcabal_tui.store.rows.texts import NewVersion, append_version, chapter_now, chapters_now, latest

CURATED: Final = "id, kind, mode, chapter, digest, tags, at, run, node, attempt, version, deleted"
_META: Final[dict[KeepKind, str]] = {"outline": "meta/outline", "note": "meta/notes"}
_IN_USE: Final = """SELECT part, version.mode, author FROM version LEFT JOIN curated ON curated.id=output
    WHERE version.subject=? AND version.mode<>'replay' AND NOT coalesce(deleted, 0)
        AND (output IS NULL OR NOT EXISTS (SELECT 1 FROM version AS later WHERE later.subject=version.subject
            AND later.output=version.output AND later.number>version.number))
    ORDER BY version.number"""
"""The parts of a text. An output that was kept again counts once, at the place of its last keep."""
_SUPERSEDED: Final = """SELECT 1 FROM version JOIN curated ON curated.id=output AND NOT deleted
    WHERE version.subject=:subject AND version.mode='replace' AND output<>:output
        AND version.number>(SELECT max(number) FROM version WHERE subject=:subject AND output=:output)"""


@dataclass(frozen=True, slots=True)
class Keeping:
    """An output to keep, and its kind. For kind "entity", `subject` is its id or name, and `entity` its kind if it is
    new."""

    text: str
    kind: KeepKind
    mode: KeepMode
    chapter: ChapterId | None = None
    subject: str = ""
    entity: EntityKind | None = None
    tags: tuple[str, ...] = ()
    run: str = ""
    node: str = ""
    attempt: int = 0
    author: Author = "model"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """`created` is False when the same output is kept already, and nothing was changed."""

    output: Curated
    created: bool


@decodes
def curated_of(row: Row) -> Curated:
    """A kept output from a row of CURATED."""
    output, kind, mode, chapter, text, tags, at, run, node, attempt, version, deleted = row
    when = datetime.fromisoformat(at)
    labels = read_json(tuple[str, ...], tags)
    return Curated(output, kind, mode, chapter, text, labels, when, run, node, attempt, version, bool(deleted))


def keep(connection: sqlite3.Connection, keeping: Keeping, tasks: TaskMaker, at: str) -> Kept:
    """See `Book.keep`."""
    part = clean(keeping.text)
    subject, position = _place(connection, keeping)
    output = OutputId(digest_of([keeping.kind, keeping.mode, subject, digest(part)])[:16])
    row = connection.execute(f"SELECT {CURATED} FROM curated WHERE id=?", (output,)).fetchone()
    if row and not row[-1] and not connection.execute(_SUPERSEDED, {"subject": subject, "output": output}).fetchone():
        return Kept(curated_of(row), False)
    before = latest(connection, subject)
    text = _joined(get_text(connection, before.digest), part) if before and keeping.mode == "append" else part
    new = NewVersion(
        subject, text, keeping.author, keeping.note, output=output, mode=keeping.mode, part=put_text(connection, part)
    )
    version = _append(connection, new, position, tasks, at)
    if keeping.entity is not None and entity_now(connection, subject) is None:
        by: EntityAuthor = "hand" if keeping.author == "human" else "agent"
        entity = Entity(entity_id(subject), keeping.entity, clean(keeping.subject).strip(), note=part, by=by)
        put_entity_row(connection, entity, version.generation)
    connection.execute(
        f"INSERT INTO curated ({CURATED}, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)"
        " ON CONFLICT (id) DO UPDATE SET deleted=0, version=excluded.version,"
        " tags=CASE excluded.tags WHEN '[]' THEN tags ELSE excluded.tags END",
        (
            *(output, keeping.kind, keeping.mode, keeping.chapter, digest(part), json.dumps(keeping.tags), at),
            *(keeping.run, keeping.node, keeping.attempt, version.version, subject),
        ),
    )
    return Kept(_curated(connection, output), True)


def set_tags(connection: sqlite3.Connection, output: OutputId, tags: Sequence[str]) -> Curated:
    """See `Book.tag`. Texts, and texts derived from them, are not changed."""
    before = _curated(connection, output)
    connection.execute("UPDATE curated SET tags=? WHERE id=?", (json.dumps(list(tags)), output))
    return replace(before, tags=tuple(tags))


def set_deleted(connection: sqlite3.Connection, output: OutputId, deleted: bool, tasks: TaskMaker, at: str) -> Curated:
    """See `Book.forget` and `Book.restore`. Adds a version even if the text stays the same: its generation marks since
    when texts derived from the output are invalid."""
    before = _curated(connection, output)
    if before.deleted != deleted:
        connection.execute("UPDATE curated SET deleted=? WHERE id=?", (deleted, output))
        (subject,) = connection.execute("SELECT subject FROM curated WHERE id=?", (output,)).fetchone()
        version = _replay(connection, subject, before.chapter, tasks, at)
        log_change(connection, version.generation, "forget" if deleted else "restore", output, at)
    return replace(before, deleted=deleted)


def _replay(
    connection: sqlite3.Connection, subject: str, chapter: ChapterId | None, tasks: TaskMaker, at: str
) -> ChapterVersion:
    text = ""
    author: Author = "human"
    for part, mode, author_of_part in connection.execute(_IN_USE, (subject,)):
        kept = get_text(connection, Digest(part))
        text, author = _joined(text, kept) if mode == "append" else kept, author_of_part
    position = next((at.position for at in chapters_now(connection) if at.id == chapter), 0)
    return _append(connection, NewVersion(subject, text, author, mode="replay"), position, tasks, at)


def _append(
    connection: sqlite3.Connection, new: NewVersion, position: int, tasks: TaskMaker, at: str
) -> ChapterVersion:
    generation = next_generation(connection, "truth", position, at)
    version = append_version(connection, new, generation, at)
    if (entity := entity_now(connection, new.subject)) is not None:
        put_entity_row(connection, replace(entity, note=clean(new.text)), generation)
    add_tasks(connection, tasks(new.subject, version.digest, position))
    # The index is that of a version: a new one of the same text, whose steps are done, still needs its own.
    connection.execute(
        "UPDATE task SET state='waiting', pinned=NULL WHERE kind='index' AND subject=? AND state='fresh'",
        (new.subject,),
    )
    return version


def _place(connection: sqlite3.Connection, keeping: Keeping) -> tuple[str, int]:
    """The subject of the text, and the position of its chapter (0: of none)."""
    if keeping.kind in _META:
        return _META[keeping.kind], 0
    if keeping.kind == "entity":
        return _entity(connection, keeping), 0
    if keeping.chapter is None:
        raise ProjectError(
            _("It is not clear which chapter this belongs to."), "", _("Choose a chapter, then keep it again.")
        )
    return keeping.chapter, chapter_now(connection, keeping.chapter).position


def _entity(connection: sqlite3.Connection, keeping: Keeping) -> str:
    """The id of an entity by id or name; creates an unknown one. Raises ProjectError without a name, or without a kind
    for a new one."""
    name = clean(keeping.subject).strip()
    row = connection.execute(
        "SELECT id FROM entity WHERE id=:name OR name=:name ORDER BY id=:name DESC, generation DESC LIMIT 1",
        {"name": name},
    ).fetchone()
    subject = entity_subject(EntityId(row[0] if row else digest_of(["entity", name])[:12]))
    if not name or (keeping.entity is None and entity_now(connection, subject) is None):
        raise ProjectError(_("It is not clear which entity this is."), _("Nothing was kept."))
    return subject


def _curated(connection: sqlite3.Connection, output: OutputId) -> Curated:
    return curated_of(one_row(connection, f"SELECT {CURATED} FROM curated WHERE id=?", (output,), output))


def _joined(text: str, part: str) -> str:
    return f"{text.rstrip()}\n\n{part}" if text.strip() else part
