"""Comments on passages of chapters."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `start` and `end` are of the newest text, `quotation` its words there; `lost` 1: they are in it no more
    """CREATE TABLE comment (number INTEGER PRIMARY KEY AUTOINCREMENT, chapter TEXT NOT NULL, kind TEXT NOT NULL,
        words TEXT NOT NULL, quotation TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
        lost INTEGER NOT NULL, resolved INTEGER NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX comment_by_chapter ON comment (chapter, start)",
)
