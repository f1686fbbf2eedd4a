"""The log of changes of the book that can be undone."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `subject` is a chapter, a kept output, the generation that an undo undid, or ''; `undone` is the generation of
    # the undo
    """CREATE TABLE change_log (generation INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL,
        at TEXT NOT NULL, undone INTEGER)""",
    "CREATE INDEX version_by_generation ON version (generation)",
    "CREATE INDEX place_by_generation ON place (generation)",
)
