"""The writer's decisions on notes of readers."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `number` is that of the comment, `was` its state before, `decision` NULL: taken back; `written` is a list of
    # [record, generation]
    """CREATE TABLE note_word (number INTEGER PRIMARY KEY, state TEXT NOT NULL, was TEXT NOT NULL, word TEXT NOT NULL,
        decision INTEGER, written TEXT NOT NULL)""",
    "CREATE INDEX note_word_by_decision ON note_word (decision)",
)
