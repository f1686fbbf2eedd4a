"""Locked chapters, and ticked items in the passes of a revision."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `version` is the one that the chapter had when it was locked last
    """CREATE TABLE chapter_lock (chapter TEXT PRIMARY KEY, version INTEGER NOT NULL, locked INTEGER NOT NULL,
        at TEXT NOT NULL)""",
    # `item` '': the chapter is done; `digest` is the text that it had
    """CREATE TABLE pass_tick (pass TEXT NOT NULL, chapter TEXT NOT NULL, item TEXT NOT NULL, digest TEXT NOT NULL,
        at TEXT NOT NULL, PRIMARY KEY (pass, chapter, item)) WITHOUT ROWID""",
)
