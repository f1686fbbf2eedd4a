"""The index of a chapter's text: passages, their words, and mentions. In the writer's thread.

A row is valid from the generation that created it to the one that ended it; only changes are written, so naming a new
entity adds only its own mentions.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Mention
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.rows.generations import next_generation
from flowcabal_tui.store.rows.texts import latest
from flowcabal_tui.store.rows.tokens import tokens

WORDS: Final = "CREATE VIRTUAL TABLE passage_words USING fts5 (words, content='', tokenize='ascii')"
_PUT_WORDS: Final = "INSERT INTO passage_words (rowid, words) VALUES (?, ?)"
_ALIVE: Final = "chapter=? AND version=? AND died IS NULL"


def index_chapter(
    connection: sqlite3.Connection,
    chapter: ChapterId,
    version: int,
    passages: Sequence[Passage],
    mentions: Sequence[Mention],
    at: str,
) -> bool:
    """See `Memory.index_chapter`."""
    newest = latest(connection, chapter)
    if newest is None or newest.version != version:
        return False
    named = _spans(mentions)
    place = (chapter, version)
    cut = connection.execute(f"SELECT number, start, end FROM passage WHERE {_ALIVE} ORDER BY number", place).fetchall()
    known = dict(connection.execute(f"SELECT entity, spans FROM mention WHERE {_ALIVE}", place))
    same_passages = cut == [(passage.index, passage.start, passage.end) for passage in passages]
    if same_passages and known == named:
        return True
    position = passages[0].position if passages else 0
    generation = next_generation(connection, "derived", position, at)
    if not same_passages:
        _put_passages(connection, chapter, version, passages, generation)
    _put_mentions(connection, place, known, named, generation)
    return True


@dataclass(frozen=True, slots=True)
class ChapterIndex:
    """The intended index of a version."""

    chapter: ChapterId
    version: int
    passages: Sequence[Passage]
    mentions: Sequence[Mention]


def restore_index(connection: sqlite3.Connection, indexes: Iterable[ChapterIndex]) -> int:
    """Repairs the index so that it agrees with the texts. Returns the number of chapters with errors.

    Correct rows stay. Others are written as of the generation of the text, so that a run with an earlier pinned
    generation reads them too. The words of all passages are rewritten.
    """
    wrong = sum(_restored(connection, index) for index in indexes)
    rewrite_words(connection)
    return wrong


def _restored(connection: sqlite3.Connection, index: ChapterIndex) -> bool:
    newest = latest(connection, index.chapter)
    if newest is None or newest.version != index.version:  # a newer text has an index step of its own
        return False
    place = (index.chapter, index.version)
    wanted = [(each.index, each.start, each.end, len(tokens(each.text))) for each in index.passages]
    cut = connection.execute(
        f"SELECT number, start, end, tokens FROM passage WHERE {_ALIVE} ORDER BY number", place
    ).fetchall()
    if cut != wanted:
        connection.execute("DELETE FROM passage WHERE chapter=? AND version=?", place)
        connection.executemany(
            "INSERT INTO passage (chapter, version, number, start, end, tokens, born) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*place, *row, newest.generation) for row in wanted],
        )
    named = {entity: (len(json.loads(spans)), spans) for entity, spans in _spans(index.mentions).items()}
    rows = connection.execute(f"SELECT entity, count, spans FROM mention WHERE {_ALIVE}", place).fetchall()
    known = {entity: (count, spans) for entity, count, spans in rows}
    if named == known and len(rows) == len(known):
        return cut != wanted
    connection.execute(f"DELETE FROM mention WHERE {_ALIVE}", place)
    connection.executemany(
        "INSERT INTO mention (chapter, version, entity, count, spans, born) VALUES (?, ?, ?, ?, ?,"
        " max(?, coalesce((SELECT min(generation) FROM entity WHERE id=?), 0)))",
        [(*place, entity, *columns, newest.generation, entity) for entity, columns in named.items()],
    )
    return True


def rewrite_words(connection: sqlite3.Connection) -> None:
    """Rewrites the words of all passages; passages of texts that no longer exist are deleted."""
    connection.execute("DROP TABLE IF EXISTS passage_words")
    connection.execute(WORDS)
    for chapter, version in connection.execute("SELECT DISTINCT chapter, version FROM passage").fetchall():
        row = connection.execute(
            "SELECT body FROM version JOIN blob USING (digest) WHERE subject=? AND number=?", (chapter, version)
        ).fetchone()
        if row is None:
            connection.execute("DELETE FROM passage WHERE chapter=? AND version=?", (chapter, version))
            continue
        text = unpack(row[0])
        places = connection.execute(
            "SELECT id, start, end FROM passage WHERE chapter=? AND version=?", (chapter, version)
        )
        connection.executemany(
            _PUT_WORDS, [(identity, " ".join(tokens(text[start:end]))) for identity, start, end in places.fetchall()]
        )


def _spans(mentions: Iterable[Mention]) -> dict[EntityId, str]:
    """The spans of each entity in their stored form."""
    spans: defaultdict[EntityId, set[tuple[int, int]]] = defaultdict(set)
    for mention in mentions:
        spans[mention.entity].add((mention.start, mention.end))
    return {entity: json.dumps(sorted(places), separators=(",", ":")) for entity, places in spans.items()}


def _put_passages(
    connection: sqlite3.Connection,
    chapter: ChapterId,
    version: int,
    passages: Sequence[Passage],
    generation: Generation,
) -> None:
    connection.execute(f"UPDATE passage SET died=? WHERE {_ALIVE}", (generation, chapter, version))
    for passage in passages:
        words = tokens(passage.text)
        row = connection.execute(
            "INSERT INTO passage (chapter, version, number, start, end, tokens, born) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (chapter, version, passage.index, passage.start, passage.end, len(words), generation),
        )
        connection.execute(_PUT_WORDS, (row.lastrowid, " ".join(words)))


def _put_mentions(
    connection: sqlite3.Connection,
    place: tuple[ChapterId, int],
    known: Mapping[EntityId, str],
    named: Mapping[EntityId, str],
    generation: Generation,
) -> None:
    connection.executemany(
        f"UPDATE mention SET died=? WHERE entity=? AND {_ALIVE}",
        [(generation, entity, *place) for entity, spans in known.items() if named.get(entity) != spans],
    )
    connection.executemany(
        "INSERT INTO mention (chapter, version, entity, count, spans, born) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (*place, entity, len(json.loads(spans)), spans, generation)
            for entity, spans in named.items()
            if known.get(entity) != spans
        ],
    )
