"""Proposals of agents and rules, and the writer's decisions on them."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from flowcabal_tui.domain.text import digest_of

STATEMENTS: Final = (
    # `identity` is of kind, subjects and plain quotation, `words` the digest of what it says; `target` the entity or
    # record that it writes, `chapter` '' for none. `was` is the state before the hand's word, `decision` its number,
    # `generation` that of the entity or record which it wrote (NULL: it wrote none)
    """CREATE TABLE proposal (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
        state TEXT NOT NULL, identity TEXT NOT NULL, words TEXT NOT NULL, target TEXT NOT NULL, chapter TEXT NOT NULL,
        start INTEGER NOT NULL, end INTEGER NOT NULL, quotation TEXT NOT NULL, body TEXT NOT NULL,
        reason TEXT NOT NULL, origin TEXT NOT NULL, raised INTEGER NOT NULL, at TEXT NOT NULL,
        was TEXT NOT NULL DEFAULT '', decision INTEGER, generation INTEGER)""",
    "CREATE INDEX proposal_by_identity ON proposal (identity)",
    "CREATE INDEX proposal_by_target ON proposal (target)",
    "CREATE INDEX proposal_by_chapter ON proposal (chapter)",
    "CREATE INDEX proposal_by_raising ON proposal (raised DESC, number)",
    "CREATE INDEX proposal_by_decision ON proposal (decision) WHERE decision IS NOT NULL",
)
_WAITING: Final = """SELECT id, by, proposed FROM entity WHERE NOT removed AND proposed<>'[]' AND generation=
    (SELECT max(generation) FROM entity AS other WHERE other.id=entity.id)"""


def add_names(connection: sqlite3.Connection) -> None:
    """Adds a row for each proposed name that is not decided."""
    (raised,) = connection.execute("SELECT coalesce(max(id), 0) FROM generation").fetchone()
    for entity, by, proposed in connection.execute(_WAITING).fetchall():
        for name in json.loads(proposed):
            identity = digest_of(["name", sorted([entity, name]), ""])[:16]
            connection.execute(
                "INSERT OR IGNORE INTO proposal (id, kind, state, identity, words, target, chapter, start, end,"
                " quotation, body, reason, origin, raised, at)"
                " VALUES (?, 'name', 'waiting', ?, ?, ?, '', 0, 0, '', ?, '[\"named\",\"\"]', ?, ?, '')",
                (
                    *(f"{identity}-1", identity, digest_of(name), entity),
                    json.dumps({"after": {"entity": entity, "name": name}}, ensure_ascii=False),
                    json.dumps(["rule" if by == "discovered" else "agent", ""]),
                    raised,
                ),
            )
