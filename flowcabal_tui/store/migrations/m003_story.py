"""Records of the story, names that an agent proposes, the writer's choices for profiles, and reference books."""

from __future__ import annotations

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
    # the writer's choice for a profile: "pin" (that state is current), "unpin", "take" (made states are current
    # again, instead of the writer's earlier text)
    """CREATE TABLE choice (uri TEXT NOT NULL, generation INTEGER NOT NULL, word TEXT NOT NULL, state INTEGER,
        PRIMARY KEY (uri, generation)) WITHOUT ROWID""",
    # the texts that a derived state was made from: digests by chapter, as JSON
    "ALTER TABLE derived ADD COLUMN rests TEXT NOT NULL DEFAULT '{}'",
    "CREATE INDEX version_replayed ON version (subject) WHERE mode='replay'",
    # the paid job that a task is a part of, and the generation of which it reads the memory
    "ALTER TABLE task ADD COLUMN job TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE task ADD COLUMN pinned INTEGER",
    "CREATE INDEX task_by_job ON task (job) WHERE job<>''",
    # books to look things up in: `born` and `died` are generations
    """CREATE TABLE reference (id TEXT PRIMARY KEY, title TEXT NOT NULL, at TEXT NOT NULL, born INTEGER NOT NULL,
        died INTEGER)""",
    """CREATE TABLE reference_part (id INTEGER PRIMARY KEY, reference TEXT NOT NULL, number INTEGER NOT NULL,
        title TEXT NOT NULL, volume TEXT NOT NULL, digest TEXT NOT NULL, length INTEGER NOT NULL)""",
    "CREATE INDEX reference_part_by_book ON reference_part (reference, number)",
    """CREATE TABLE reference_passage (id INTEGER PRIMARY KEY, part INTEGER NOT NULL, start INTEGER NOT NULL,
        end INTEGER NOT NULL)""",
    "CREATE VIRTUAL TABLE reference_words USING fts5 (words, content='', tokenize='ascii')",
)
