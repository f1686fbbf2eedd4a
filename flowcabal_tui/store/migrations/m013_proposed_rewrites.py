"""Rewrites that a model proposed and the writer paid for."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `body` is the passage before and after, the model, the instruction and the findings as JSON, compressed
    """CREATE TABLE proposed_rewrite (number INTEGER PRIMARY KEY AUTOINCREMENT, chapter TEXT NOT NULL,
        state TEXT NOT NULL, body BLOB NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX proposed_rewrite_by_chapter ON proposed_rewrite (chapter)",
)
