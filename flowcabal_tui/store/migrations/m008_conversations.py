"""Conversations with the book."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    """CREATE TABLE conversation (number INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, level TEXT NOT NULL,
        scope TEXT NOT NULL, at TEXT NOT NULL, changed TEXT NOT NULL)""",
    # `body` is the turn as JSON, compressed; `state` is that of the turn
    """CREATE TABLE turn (conversation INTEGER NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (conversation, number)) WITHOUT ROWID""",
    # pieces of an answer that is not whole yet
    """CREATE TABLE turn_piece (number INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, turn INTEGER NOT NULL,
        text TEXT NOT NULL)""",
    "CREATE INDEX turn_piece_by_turn ON turn_piece (conversation, turn, number)",
)
