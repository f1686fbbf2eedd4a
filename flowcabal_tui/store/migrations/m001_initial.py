"""The first format. Texts are digests of `blob`; times are ISO; `generation` is the one from which a row is valid."""

from __future__ import annotations

import sqlite3
from typing import Final

STATEMENTS: Final = (
    "CREATE TABLE blob (digest TEXT PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE value (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE draft (key TEXT PRIMARY KEY, body BLOB NOT NULL, at TEXT NOT NULL)",
    # workflows and runs
    """CREATE TABLE workflow (id TEXT NOT NULL, version INTEGER NOT NULL, document TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (id, version)) WITHOUT ROWID""",
    """CREATE TABLE run (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workflow TEXT NOT NULL,
        document TEXT NOT NULL, request TEXT NOT NULL, chapter TEXT, generation INTEGER NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX run_by_chapter ON run (workflow, chapter)",
    """CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, node TEXT NOT NULL,
        attempt INTEGER NOT NULL, kind TEXT NOT NULL, payload NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX event_by_run ON event (run, node, kind)",
    """CREATE TABLE chunk (run TEXT NOT NULL, node TEXT NOT NULL, attempt INTEGER NOT NULL, start INTEGER NOT NULL,
        body NOT NULL, PRIMARY KEY (run, node, attempt, start)) WITHOUT ROWID""",
    """CREATE TABLE result (key TEXT PRIMARY KEY, digest TEXT NOT NULL, model TEXT NOT NULL, author TEXT NOT NULL,
        finish TEXT NOT NULL, usage TEXT NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE outcome (number INTEGER PRIMARY KEY, key TEXT NOT NULL, result TEXT NOT NULL,
        digest TEXT NOT NULL, model TEXT NOT NULL, author TEXT NOT NULL, finish TEXT NOT NULL, usage TEXT NOT NULL,
        seconds REAL NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX outcome_by_key ON outcome (key)",
    """CREATE TABLE question (id TEXT PRIMARY KEY, run TEXT NOT NULL, node TEXT NOT NULL, body NOT NULL,
        asked_at TEXT NOT NULL, decision TEXT, answered_at TEXT, withdrawn INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX question_by_run ON question (run, node)",
    # the book
    """CREATE TABLE generation (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, position INTEGER NOT NULL,
        at TEXT NOT NULL)""",
    """CREATE TABLE place (chapter TEXT NOT NULL, generation INTEGER NOT NULL, position INTEGER NOT NULL,
        title TEXT NOT NULL, volume TEXT NOT NULL, deleted INTEGER NOT NULL,
        PRIMARY KEY (chapter, generation)) WITHOUT ROWID""",
    """CREATE TABLE version (subject TEXT NOT NULL, number INTEGER NOT NULL, digest TEXT NOT NULL,
        part TEXT NOT NULL, mode TEXT NOT NULL, author TEXT NOT NULL, output TEXT, note TEXT NOT NULL,
        length INTEGER NOT NULL, generation INTEGER NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (subject, number)) WITHOUT ROWID""",
    """CREATE TABLE curated (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
        mode TEXT NOT NULL, chapter TEXT, subject TEXT NOT NULL, digest TEXT NOT NULL, tags TEXT NOT NULL,
        at TEXT NOT NULL, run TEXT NOT NULL, node TEXT NOT NULL, attempt INTEGER NOT NULL, version INTEGER NOT NULL,
        deleted INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX curated_by_chapter ON curated (chapter)",
    # the memory
    """CREATE TABLE task (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, subject TEXT NOT NULL,
        source TEXT NOT NULL, state TEXT NOT NULL, position INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '', not_before REAL NOT NULL DEFAULT 0, UNIQUE (kind, subject, source))""",
    "CREATE INDEX task_by_state ON task (state)",
    """CREATE TABLE entity (id TEXT NOT NULL, generation INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        aliases TEXT NOT NULL, note TEXT NOT NULL, by TEXT NOT NULL, removed INTEGER NOT NULL,
        PRIMARY KEY (id, generation)) WITHOUT ROWID""",
    """CREATE TABLE passage (id INTEGER PRIMARY KEY, chapter TEXT NOT NULL, version INTEGER NOT NULL,
        number INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, tokens INTEGER NOT NULL,
        born INTEGER NOT NULL, died INTEGER)""",
    "CREATE INDEX passage_by_chapter ON passage (chapter, version)",
    "CREATE VIRTUAL TABLE passage_words USING fts5 (words, content='', tokenize='ascii')",
    """CREATE TABLE mention (number INTEGER PRIMARY KEY, chapter TEXT NOT NULL, version INTEGER NOT NULL,
        entity TEXT NOT NULL, count INTEGER NOT NULL, spans TEXT NOT NULL, born INTEGER NOT NULL, died INTEGER)""",
    "CREATE INDEX mention_by_chapter ON mention (chapter, version)",
    "CREATE INDEX mention_by_entity ON mention (entity)",
    """CREATE TABLE derived (number INTEGER PRIMARY KEY, uri TEXT NOT NULL, level TEXT NOT NULL, digest TEXT NOT NULL,
        source TEXT NOT NULL, position INTEGER NOT NULL, anchor TEXT, generation INTEGER NOT NULL,
        method TEXT NOT NULL, evidence NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX derived_by_uri ON derived (uri, level, position)",
    """CREATE TABLE waiver (draft TEXT NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (draft, source)) WITHOUT ROWID""",
    """CREATE TABLE usage (number INTEGER PRIMARY KEY, role TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL,
        input INTEGER, output INTEGER, cached INTEGER, estimated INTEGER NOT NULL, cost TEXT, currency TEXT NOT NULL,
        run TEXT NOT NULL, node TEXT NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX usage_by_run ON usage (run)",
)


def m001_initial(connection: sqlite3.Connection) -> None:
    """Makes all tables."""
    for statement in STATEMENTS:
        connection.execute(statement)
