"""What happened in the story: relations, facts, promises and moments; names that an agent proposes."""

from __future__ import annotations

import sqlite3
from typing import Final

STATEMENTS: Final = (
    "ALTER TABLE entity ADD COLUMN proposed TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE entity ADD COLUMN rejected TEXT NOT NULL DEFAULT '[]'",
    # one state of a relation, fact, promise or moment; `chapter` is the one it was read from ('' for none), `source`
    # the digest of the text that it was read from
    """CREATE TABLE record (id TEXT NOT NULL, generation INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
        chapter TEXT NOT NULL, source TEXT NOT NULL, by TEXT NOT NULL, removed INTEGER NOT NULL,
        PRIMARY KEY (id, generation)) WITHOUT ROWID""",
    "CREATE INDEX record_by_chapter ON record (chapter)",
    # what a writer said of a profile: "pin" (the state of that generation stands), "unpin", "take" (what was made
    # stands, not what hands wrote before)
    """CREATE TABLE choice (uri TEXT NOT NULL, generation INTEGER NOT NULL, word TEXT NOT NULL, state INTEGER,
        PRIMARY KEY (uri, generation)) WITHOUT ROWID""",
    # the texts that a derived state was made from: digests by chapter, as JSON
    "ALTER TABLE derived ADD COLUMN rests TEXT NOT NULL DEFAULT '{}'",
    "CREATE INDEX version_replayed ON version (subject) WHERE mode='replay'",
)


def m003_story(connection: sqlite3.Connection) -> None:
    """Makes the tables."""
    for statement in STATEMENTS:
        connection.execute(statement)
