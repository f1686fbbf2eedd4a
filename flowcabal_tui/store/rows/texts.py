"""Places and versions of texts: writing them in the writer's thread, and reading them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, OutputId
from flowcabal_tui.domain.manuscript import Author, Chapter, ChapterVersion
from flowcabal_tui.domain.text import clean, clean_line, digest, digest_of, word_count
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.store.file.blobs import get_text, put_text
from flowcabal_tui.store.file.connection import Row
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.comments import settle_comments
from flowcabal_tui.store.rows.findings import settle_findings
from flowcabal_tui.store.rows.generations import NOW
from flowcabal_tui.store.rows.locks import require_unlocked
from flowcabal_tui.store.rows.proposals import settle_text

EMPTY: Final = digest("")
REORDERED: Final = "chapters/reordered"
"""The key of the value that lists the reordered chapters."""
VersionMode = Literal["replace", "append", "replay"]
"""replay: rebuilt from the versions before it, because an output was removed or restored."""

CHAPTERS: Final = """
    SELECT place.chapter, position, title, volume, number, digest, length, author, version.at
    FROM place LEFT JOIN version ON subject=place.chapter
        AND number=(SELECT max(number) FROM version WHERE subject=place.chapter AND generation<=:as_of)
    WHERE NOT deleted AND place.generation=
        (SELECT max(generation) FROM place AS other WHERE other.chapter=place.chapter AND generation<=:as_of)
    ORDER BY position, place.chapter"""
_CHAPTER: Final = CHAPTERS.replace("ORDER BY", "AND place.chapter=:chapter ORDER BY")
DELETED: Final = CHAPTERS.replace("NOT deleted", "deleted").replace("ORDER BY", "ORDER BY place.generation DESC,")
"""Deleted chapters with their former place; the last deleted one first."""
LATEST: Final = """SELECT subject, number, digest, author, at, generation, output, note FROM version
    WHERE subject=? AND generation<=? ORDER BY number DESC LIMIT 1"""


@dataclass(frozen=True, slots=True)
class ChapterPlace:
    """The place, title and volume of a chapter."""

    chapter: ChapterId
    title: str
    volume: str
    position: int = 0
    """0: not placed before."""


@decodes
def chapter_of(row: Row) -> Chapter:
    """A chapter from a row of CHAPTERS; one with an empty text counts as not written."""
    chapter, position, title, volume, number, text, length, author, at = row
    changed = datetime.fromisoformat(at) if at else None
    return Chapter(
        chapter, position, title, volume, number or 0, None if text == EMPTY else text, length or 0, author, changed
    )


@decodes
def version_of(row: Row) -> ChapterVersion:
    """A version from a row of LATEST, which may have one more column: the change that rebuilt it."""
    subject, number, text, author, at, generation, output, note, *rebuilt = row
    return ChapterVersion(subject, number, text, author, datetime.fromisoformat(at), generation, output, note, *rebuilt)


def chapters_now(connection: sqlite3.Connection) -> list[Chapter]:
    return [chapter_of(row) for row in connection.execute(CHAPTERS, {"as_of": NOW})]


def scene_subject(chapter: ChapterId) -> str:
    """The subject of the writer's settings for the scene of a chapter."""
    return f"scene/{chapter}"


def chapter_now(connection: sqlite3.Connection, chapter: ChapterId) -> Chapter:
    """The present state of a chapter. Raises Gone if there is none, or if it is deleted."""
    row = connection.execute(_CHAPTER, {"as_of": NOW, "chapter": chapter}).fetchone()
    if row is None:
        raise Gone(chapter)
    return chapter_of(row)


def latest(connection: sqlite3.Connection, subject: str, as_of: Generation = NOW) -> ChapterVersion | None:
    row = connection.execute(LATEST, (subject, as_of)).fetchone()
    return version_of(row) if row else None


def put_place(
    connection: sqlite3.Connection, place: ChapterPlace, generation: Generation, *, deleted: bool = False
) -> None:
    """Writes the place of a chapter from this generation on."""
    row = (place.chapter, generation, place.position, place.title, place.volume, deleted)
    connection.execute("INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?, ?, ?)", row)


def arrange(connection: sqlite3.Connection, order: Sequence[ChapterPlace], generation: Generation) -> None:
    """Gives the chapters the positions 1, 2, ...; writes only those that are new or move.

    If some move back while others move forward, the order changes: those chapters are stored under REORDERED.
    """
    moved = [(position, place) for position, place in enumerate(order, 1) if place.position != position]
    for position, place in moved:
        put_place(connection, replace(place, position=position), generation)
    steps = [position - place.position for position, place in moved if place.position]
    if steps and min(steps) < 0 < max(steps):
        known = connection.execute("SELECT json FROM value WHERE key=?", (REORDERED,)).fetchone()
        chapters = {
            *(read_json(tuple[ChapterId, ...], known[0]) if known else ()),
            *(place.chapter for _position, place in moved),
        }
        connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (REORDERED, json.dumps(sorted(chapters))))


def places(connection: sqlite3.Connection) -> list[ChapterPlace]:
    return [place_of(at) for at in chapters_now(connection)]


def place_of(chapter: Chapter) -> ChapterPlace:
    return ChapterPlace(chapter.id, chapter.title, chapter.volume, chapter.position)


def new_places(connection: sqlite3.Connection, named: Sequence[tuple[str, str]], at: str) -> list[ChapterPlace]:
    """New chapters by title and volume, each with an id of its own."""
    (known,) = connection.execute("SELECT count(DISTINCT chapter) FROM place").fetchone()
    return [
        ChapterPlace(ChapterId(digest_of(["chapter", number, at])[:12]), clean_line(title), clean_line(volume))
        for number, (title, volume) in enumerate(named, known + 1)
    ]


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A text about to become the newest version of its subject. `part` is the added text, if it is not all of it."""

    subject: str
    text: str
    author: Author
    note: str = ""
    output: OutputId | None = None
    mode: VersionMode = "replace"
    part: Digest | None = None


def append_version(connection: sqlite3.Connection, new: NewVersion, generation: Generation, at: str) -> ChapterVersion:
    """Makes `new` the newest version; cleans its text first, and updates the rows that quote the text.

    Raises ChapterLocked.
    """
    require_unlocked(connection, new.subject)
    text = clean(new.text)
    settle_text(connection, new.subject, text)
    settle_findings(connection, new.subject, text, output=new.output is not None)
    before = latest(connection, new.subject)
    settle_comments(connection, new.subject, lambda: get_text(connection, before.digest) if before else "", text)
    name = put_text(connection, text)
    number = before.version + 1 if before else 1
    connection.execute(
        "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(new.subject, number, name, new.part or name, new.mode, new.author, new.output, new.note),
            *(word_count(text), generation, at),
        ),
    )
    when = datetime.fromisoformat(at)
    return ChapterVersion(ChapterId(new.subject), number, name, new.author, when, generation, new.output, new.note)
