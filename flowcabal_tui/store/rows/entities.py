"""Entities as rows: a new state is a new row, so that a pinned generation still reads the old one."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from flowcabal_tui.domain.ids import EntityId, Generation
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.store.file.connection import Row
from flowcabal_tui.store.file.reading import decodes, read_json
from flowcabal_tui.store.rows.proposals import settle_entity

_SUBJECT: Final = "entity/"
_NONE: Final = "[]"
FIELDS: Final = "id, kind, name, aliases, note, by, proposed, rejected, own_kind, fields"


def entity_subject(entity: EntityId) -> str:
    """The subject of the versions of an entity's note."""
    return _SUBJECT + entity


def entity_id(subject: str) -> EntityId:
    """The entity of a subject made by `entity_subject`; "" for others."""
    return EntityId(subject.removeprefix(_SUBJECT) if subject.startswith(_SUBJECT) else "")


@decodes
def entity_of(row: Row) -> Entity:
    """An entity from a row of FIELDS."""
    identity, kind, name, aliases, note, by, proposed, rejected, own_kind, noted = row
    names = [read_json(tuple[str, ...], each) if each != _NONE else () for each in (aliases, proposed, rejected)]
    fields = read_json(tuple[tuple[str, str], ...], noted) if noted != _NONE else ()
    return Entity(
        identity, kind, name, names[0], note, by, proposed=names[1], rejected=names[2], own_kind=own_kind, fields=fields
    )


def entity_now(connection: sqlite3.Connection, subject: str) -> Entity | None:
    """The entity of a note's subject; None for other subjects and for removed entities."""
    row = connection.execute(
        f"SELECT {FIELDS}, removed FROM entity WHERE id=? ORDER BY generation DESC LIMIT 1",
        (entity_id(subject),),
    ).fetchone()
    return entity_of(row[:-1]) if row and not row[-1] else None


def put_entity_row(
    connection: sqlite3.Connection, entity: Entity, generation: Generation, *, removed: bool = False
) -> None:
    """Writes the state of the entity from this generation on; rows that propose its names follow."""
    lists = entity.aliases, entity.proposed, entity.rejected, entity.fields
    aliases, proposed, rejected, fields = (json.dumps(each, ensure_ascii=False) for each in lists)
    connection.execute(
        f"INSERT OR REPLACE INTO entity ({FIELDS}, generation, removed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(entity.id, entity.kind, entity.name, aliases, entity.note, entity.by, proposed, rejected),
            *(entity.own_kind, fields, generation, removed),
        ),
    )
    settle_entity(connection, entity, generation, removed=removed)
