"""Locked chapters, in the writer's thread: their text cannot be written or removed."""

from __future__ import annotations

import sqlite3
from typing import Final

from flowcabal_tui.domain.errors import ChapterLocked
from flowcabal_tui.locale import _

LOCKED: Final = """SELECT position, title FROM chapter_lock LEFT JOIN place USING (chapter)
    WHERE chapter=? AND locked ORDER BY generation DESC LIMIT 1"""
"""Position and title of a chapter if it is locked."""


def require_unlocked(connection: sqlite3.Connection, subject: str) -> None:
    """Raises ChapterLocked for a text of a locked chapter."""
    if (row := connection.execute(LOCKED, (subject,)).fetchone()) is not None:
        raise locked_error(*row)


def locked_error(position: int | None, title: str | None) -> ChapterLocked:
    """The error for a locked chapter."""
    position, title = position or 0, title or ""
    return ChapterLocked(
        _("Chapter {n}, {title}, is locked.").format(n=position, title=title),
        _("Nothing was changed."),
        _("Unlock it first: `L` in the revision, or `flowcabal-tui unlock PROJECT {n}`.").format(n=position),
    )
