"""The base version of unsaved text; passages that a model rewrote and the writer accepted."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # the version that the text was typed over; NULL: not recorded
    "ALTER TABLE draft ADD COLUMN base INTEGER",
    # `body` is the chapter as it was in the editor; `after` took the place of its characters from `start` up to `end`
    """CREATE TABLE rewrite (number INTEGER PRIMARY KEY, chapter TEXT NOT NULL, body BLOB NOT NULL,
        start INTEGER NOT NULL, end INTEGER NOT NULL, after BLOB NOT NULL, model TEXT NOT NULL,
        instruction TEXT NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX rewrite_by_chapter ON rewrite (chapter)",
)
