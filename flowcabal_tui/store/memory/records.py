"""Records of the story as rows: a new state is a new row, so that a pinned generation still reads the old one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from sqlite3 import Connection
from typing import Any, Final

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.proposals import DECIDED, Proposal
from flowcabal_tui.domain.story import ChapterReading, Fact, Moment, Promise, RecordId, Relation, Sequel, StoryRecord
from flowcabal_tui.domain.text import clean_value, digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.connection import StorePart, transaction
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.generations import next_generation
from flowcabal_tui.store.rows.plain import compact_json
from flowcabal_tui.store.rows.proposals import raise_proposals, settle_record, withdraw_missing
from flowcabal_tui.store.rows.texts import chapters_now, latest

KINDS: Final[dict[type[StoryRecord | Sequel], str]] = {
    Relation: "relation",
    Fact: "fact",
    Promise: "promise",
    Moment: "moment",
    Sequel: "sequel",
}
Reword = Callable[[StoryRecord | Sequel], StoryRecord | Sequel]
"""Returns another state of a record, or the same one."""
READING: Final = "reading"
"""The kind of the row that stores the source of a chapter's reading; its body is empty."""
_NEWEST: Final = """SELECT id, kind, body, chapter, source, by, removed FROM record WHERE generation=
    (SELECT max(generation) FROM record AS other WHERE other.id=record.id)"""
_BEFORE: Final = """SELECT id, kind, body, chapter, source, by, removed FROM record WHERE id=? AND generation<?
    ORDER BY generation DESC LIMIT 1"""


class Records(StorePart):
    """Each change begins a generation. The writer takes precedence: agents neither change a record by hand nor restore
    a removed one."""

    async def put(self, record: StoryRecord) -> RecordId:
        """Writes a record by hand; an empty id makes a new one. Returns its id."""
        at = self._now()
        new = record
        if not new.id:
            identity = digest_of([KINDS[type(new)], _body(replace(new, by="hand")), at])[:12]
            new = replace(new, id=RecordId(identity))
        await self._database.do(lambda connection: write_record(connection, new, at))
        return new.id

    @transaction
    def remove(self, connection: Connection, record: RecordId) -> None:
        """Removes a record by hand. Raises Gone if there is none."""
        at = self._now()
        if remove_record(connection, record, at) is None:
            raise Gone(record)

    async def source(self, chapter: ChapterId) -> Digest | None:
        """The source of the last reading of the chapter; None when it was never read."""
        row = await self._database.row(
            "SELECT source FROM record WHERE id=? ORDER BY generation DESC LIMIT 1", (_reading_id(chapter),)
        )
        return Digest(row[0]) if row else None

    async def read(self) -> frozenset[ChapterId]:
        """The chapters with at least one reading."""
        rows = await self._database.rows("SELECT DISTINCT chapter FROM record WHERE kind=?", (READING,))
        return frozenset(ChapterId(row[0]) for row in rows)

    @transaction
    def put_reading(self, connection: Connection, reading: ChapterReading, proposals: Sequence[Proposal] = ()) -> None:
        """Replaces the agent's earlier reading of a chapter in one transaction.

        `proposals` are all of its proposals, in use or waiting; one that the writer has decided is not raised again.
        """
        at = self._now()
        rows = connection.execute(
            f"{_NEWEST} AND kind<>? AND id IN (SELECT id FROM record WHERE chapter=?)", (READING, reading.chapter)
        )
        old = {row[0]: row for row in rows.fetchall()}
        generation = next_generation(connection, "derived", reading.position, at)
        raised = raise_proposals(connection, proposals, generation)
        withdraw_missing(connection, reading.chapter, raised)
        decided = {each.target for each in raised if each.state in DECIDED}
        read = [each for each in (*reading.records, *reading.sequels) if each.id not in decided]
        new = {record.id: (KINDS[type(record)], _body(record)) for record in read}
        for identity, row in old.items():
            if row[5] == "agent" and identity not in new and not row[6]:
                _insert(connection, generation, (*row[:6], 1))
        for identity, (kind, body) in new.items():
            row = old.get(identity)
            state = (identity, kind, body, reading.chapter, reading.text, "agent", 0)
            if row is None or (row[5] == "agent" and tuple(row) != state):
                _insert(connection, generation, state)
        reading_row = (_reading_id(reading.chapter), READING, "", reading.chapter, reading.source, "agent", 0)
        _insert(connection, generation, reading_row)


def write_record(connection: Connection, record: StoryRecord, at: str) -> Generation:
    """Writes a record by hand; its proposal counts as decided, and additions by sequels become part of the record."""
    new: StoryRecord = replace(record, by="hand")
    quoted = latest(connection, new.evidence[0].chapter) if new.evidence else None
    generation = next_generation(connection, "truth", _position(connection, anchor(new)), at)
    source = quoted.digest if quoted else ""
    _insert(connection, generation, (new.id, KINDS[type(new)], _body(new), "", source, "hand", 0))
    settle_record(connection, new.id, new, generation)
    return generation


def remove_record(connection: Connection, record: RecordId, at: str) -> Generation | None:
    """Removes a record by hand. Returns None when there is none."""
    row = connection.execute(f"{_NEWEST} AND id=? AND kind<>?", (record, READING)).fetchone()
    if row is None or row[-1]:
        return None
    generation = next_generation(connection, "truth", _position(connection, row[3] or None), at)
    _insert(connection, generation, (*row[:5], "hand", 1))
    settle_record(connection, record, None, generation)
    return generation


def restore_record(connection: Connection, record: RecordId, first: Generation, at: str) -> None:
    """Restores the state before generation `first`, as if it had not been changed since."""
    row = connection.execute(_BEFORE, (record, first)).fetchone()
    if row is None:
        now = connection.execute(f"{_NEWEST} AND id=?", (record,)).fetchone()
        row = (*now[:5], "agent", 1)
    generation = next_generation(connection, "truth", _position(connection, row[3] or None), at)
    _insert(connection, generation, row)


def reword_records(connection: Connection, generation: Generation, reword: Reword) -> None:
    """Writes other states of records in this generation; each keeps its author and its chapter."""
    shapes = {kind: shape for shape, kind in KINDS.items()}
    for row in connection.execute(f"{_NEWEST} AND kind<>? AND NOT removed", (READING,)).fetchall():
        before: StoryRecord | Sequel = read_json(shapes[row[1]], row[2])
        if (after := reword(before)) != before:
            _insert(connection, generation, (row[0], row[1], _body(after), *row[3:]))


def restore_reworded(connection: Connection, written: Generation, generation: Generation) -> None:
    """Restores the states before generation `written`, except records that a later reading changed.

    Raises RunError when the writer has changed one since.
    """
    for (identity,) in connection.execute("SELECT id FROM record WHERE generation=?", (written,)).fetchall():
        newest, by = connection.execute(
            "SELECT generation, by FROM record WHERE id=? ORDER BY generation DESC LIMIT 1", (identity,)
        ).fetchone()
        if newest != written and by == "hand":
            raise changed_since()
        if newest == written:
            _insert(connection, generation, connection.execute(_BEFORE, (identity, written)).fetchone())


def changed_since() -> RunError:
    """The error of an undo of names or records that were changed since."""
    return RunError(
        _("The last decision was not undone."),
        _("The text or entry that it wrote has been changed since."),
        _("Nothing was changed. Edit it in the lists of names and records."),
    )


def anchor(record: StoryRecord | Sequel) -> ChapterId | None:
    """The chapter in which the record begins; None: from before the book."""
    match record:
        case Relation() | Fact():
            return record.since
        case Promise():
            return record.planted
        case Moment() | Sequel():
            return record.chapter


def forget_evidence(connection: Connection, chapter: ChapterId) -> None:
    """Removes quotations of a chapter from records by hand, in all states."""
    rows = connection.execute(
        "SELECT id, generation, body FROM record WHERE by='hand' AND instr(body, ?)", (chapter,)
    ).fetchall()
    connection.executemany(
        "UPDATE record SET body=? WHERE id=? AND generation=?",
        [
            (compact_json(_unquoted(read_json(object, body), chapter)), identity, since)
            for identity, since, body in rows
        ],
    )


def forget_read(connection: Connection, chapter: str, part: str, text: str) -> None:
    """Deletes the records read from `part` of a chapter, unless the chapter's `text` still contains their evidence."""
    rows = connection.execute(
        "SELECT id, generation, body FROM record WHERE chapter=? AND kind<>?", (chapter, READING)
    ).fetchall()
    for identity, since, body in rows:
        sentences = _sentences(body)
        if any(sentence in part and sentence not in text for sentence in sentences):
            connection.execute("DELETE FROM record WHERE id=? AND generation=?", (identity, since))


@decodes
def _sentences(body: str) -> list[str]:
    return [one["sentence"] for one in json.loads(body)["evidence"]]


def _unquoted(plain: Any, chapter: ChapterId) -> Any:
    match plain:
        case list():
            return [
                _unquoted(each, chapter)
                for each in plain
                if not (isinstance(each, dict) and "sentence" in each and each["chapter"] == chapter)
            ]
        case dict():
            return {name: _unquoted(each, chapter) for name, each in plain.items()}
    return plain


def _insert(connection: Connection, generation: Generation, state: tuple[str, str, str, str, str, str, int]) -> None:
    identity, *rest = state
    connection.execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (identity, generation, *rest))


def _body(record: StoryRecord | Sequel) -> str:
    return compact_json(clean_value(to_plain(record)))


def _reading_id(chapter: ChapterId) -> str:
    return f"{READING}/{chapter}"


def _position(connection: Connection, chapter: ChapterId | None) -> int:
    return next((at.position for at in chapters_now(connection) if at.id == chapter), 0)
