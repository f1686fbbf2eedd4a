"""The index of a chapter's text: passages, their words, and mentions. In the writer's thread.

A row holds from the generation in which it was born to the one in which it died; only what changes is written,
so naming a new entity adds its own mentions and touches nothing else.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Mention
from flowcabal_tui.store.generations import next_generation
from flowcabal_tui.store.shelf import latest
from flowcabal_tui.store.tokens import tokens

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
    spans: defaultdict[EntityId, set[tuple[int, int]]] = defaultdict(set)
    for mention in mentions:
        spans[mention.entity].add((mention.start, mention.end))
    named = {entity: json.dumps(sorted(places), separators=(",", ":")) for entity, places in spans.items()}
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
        connection.execute("INSERT INTO passage_words (rowid, words) VALUES (?, ?)", (row.lastrowid, " ".join(words)))


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
