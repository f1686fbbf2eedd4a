"""Texts that left the memory: a derived text leaves with the text it is based on, and returns with it.

Nothing is written when a kept output or a chapter is removed. A derived state stores the digests of the texts that it
is based on; the versions and places as of a generation decide whether it is visible. A text that was only edited stays
readable through its derived texts until those are made again; one that was moved after the chapter of a state does not,
since the context would contain it before it happens.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived, StaleText
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.rows.generations import NOW
from flowcabal_tui.store.rows.texts import REORDERED, latest

_REPLAYED: Final = """SELECT subject, number, digest, mode='replay' FROM version WHERE generation<=:as_of AND subject IN
    (SELECT subject FROM version WHERE mode='replay' AND generation<=:as_of) ORDER BY number"""
_DELETED: Final = "SELECT DISTINCT chapter FROM place WHERE deleted AND generation<=?"

Rests = dict[ChapterId, str]
"""Digests of texts, by chapter."""
_REMOVED: Final = """SELECT id FROM entity WHERE removed AND generation=
    (SELECT max(generation) FROM entity AS other WHERE other.id=entity.id AND generation<=?)"""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Chapters that are out of the book or empty, and for others the digests of removed texts.

    `reordered` are the places of chapters whose order relative to others has changed.
    """

    chapters: frozenset[str] = frozenset()
    texts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reordered: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.chapters or self.texts or self.reordered)

    def foretells(self, rests: str, position: int) -> bool:
        """True when a state as of a position is based on a chapter that was moved after it."""
        later = [chapter for chapter, place in self.reordered.items() if place > position and chapter in rests]
        return bool(later) and not read_json(Rests, rests).keys().isdisjoint(later)

    def takes(self, rests: str) -> bool:
        """True when a text on which a state is based was removed. `rests` has the format of `rests_on`."""
        if not any(chapter in rests for chapter in (*self.chapters, *self.texts)):
            return False
        parts = read_json(Rests, rests).items()
        return any(chapter in self.chapters or text in self.texts.get(chapter, ()) for chapter, text in parts)


async def withdrawn(database: Database, generation: Generation, placed: Mapping[ChapterId, Chapter]) -> Withdrawn:
    """The texts that are out as of a generation with these places of chapters.

    A text is out when outputs of its chapter were removed or restored since it was last the chapter's text.
    """
    deleted = {chapter for (chapter,) in await database.rows(_DELETED, (generation,)) if chapter not in placed}
    empty = {chapter.id for chapter in placed.values() if chapter.digest is None and chapter.version}
    last: defaultdict[str, dict[str, int]] = defaultdict(dict)
    replayed: dict[str, int] = {}
    for chapter, number, text, by_replay in await database.rows(_REPLAYED, {"as_of": generation}):
        last[chapter][text] = number
        if by_replay:
            replayed[chapter] = number
    gone = {
        chapter: frozenset(text for text, number in texts.items() if number < replayed[chapter])
        for chapter, texts in last.items()
    }
    rows = await database.rows("SELECT json FROM value WHERE key=?", (REORDERED,))
    reordered = {chapter for (known,) in rows for chapter in read_json(tuple[ChapterId, ...], known)}
    return Withdrawn(
        frozenset(deleted | empty),
        gone,
        {chapter: place.position for chapter, place in placed.items() if chapter in reordered},
    )


async def stale_texts(
    database: Database, generation: Generation, placed: Mapping[ChapterId, Chapter], out: Withdrawn
) -> tuple[StaleText, ...]:
    """Derived texts of other texts than the chapters have, or of chapters that are later now; in story order, by uri.

    Includes a profile as of a chapter of the book that left with a text: an earlier state is used instead. Leaves out
    entities that the writer removed.
    """
    removed = {entity for (entity,) in await database.rows(_REMOVED, (generation,))}
    newest: dict[tuple[str, str, str], tuple[str, int]] = {}
    for uri, level, anchor, position, rests in await database.rows(
        "SELECT uri, level, anchor, position, rests FROM derived WHERE method<>'hand' AND generation<=?"
        " ORDER BY number",
        (generation,),
    ):
        is_profile, subject = uri.startswith("profiles/"), uri.rpartition("/")[2]
        if is_profile and subject in removed:
            continue
        if (anchor is None or anchor in placed) and (is_profile or not out.takes(rests)):
            newest[uri, level, anchor or ""] = (rests, placed[anchor].position if anchor else position)
    found: dict[tuple[int, str, ChapterId], set[ChapterId]] = {}
    for (uri, _level, anchor), (rests, position) in newest.items():
        for chapter, text in read_json(Rests, rests).items():
            if chapter not in placed or placed[chapter].digest != text or out.reordered.get(chapter, 0) > position:
                found.setdefault((position, uri, ChapterId(anchor)), set()).add(chapter)
    return tuple(
        StaleText(uri, position, tuple(sorted(found[position, uri, anchor])), anchor or None)
        for position, uri, anchor in sorted(found)
    )


def confirm(connection: sqlite3.Connection, uri: str, position: int) -> None:
    """Records that the present texts give the same newest states of a uri as of a chapter: those are based on them from
    now on."""
    rows = connection.execute(
        "SELECT max(number), rests FROM derived LEFT JOIN place ON chapter=anchor AND place.generation="
        " (SELECT max(generation) FROM place AS other WHERE other.chapter=anchor)"
        " WHERE uri=? AND method<>'hand' AND coalesce(place.position, derived.position)=?"
        " AND NOT coalesce(deleted, 0) GROUP BY level",
        (uri, position),
    ).fetchall()
    for number, rests in rows:
        texts = {chapter: now.digest for chapter in read_json(Rests, rests) if (now := latest(connection, chapter))}
        if (new := _json(texts)) != rests:
            connection.execute("UPDATE derived SET rests=? WHERE number=?", (new, number))


def rests_on(connection: sqlite3.Connection, state: Derived, anchor: ChapterId | None) -> str:
    """The digests, by chapter, of the texts that a new state is based on, as JSON: its own, those of its evidence and
    its `rests`.

    A line without evidence has the base of its overview. A text by hand has none.
    """
    if state.method == "hand":
        return "{}"
    chapters = {each.chapter for each in state.evidence} | set(state.rests) | ({anchor} if anchor else set())
    found: dict[str, str] = {}
    if not state.evidence and state.level == "L0":
        row = connection.execute(
            "SELECT rests FROM derived WHERE uri=? AND level='L1' AND method<>'hand' AND anchor IS ? AND source=?"
            " ORDER BY number DESC LIMIT 1",
            (state.uri, anchor, state.source),
        ).fetchone()
        found |= read_json(dict[str, str], row[0]) if row else {}
    for chapter in sorted(chapters):
        text = latest(connection, chapter, state.generation or NOW)
        if text is not None:
            found[chapter] = text.digest
    return _json(found)


def _json(texts: Mapping[ChapterId, Digest] | Mapping[str, str]) -> str:
    return json.dumps(texts, sort_keys=True, separators=(",", ":"))
