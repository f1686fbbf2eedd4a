"""Locked chapters, in the writer's thread: their text cannot be written or removed."""

from __future__ import annotations

import sqlite3

from flowcabal_tui.domain.errors import ChapterLocked
from flowcabal_tui.locale import _


def require_unlocked(connection: sqlite3.Connection, subject: str) -> None:
    """Raises ChapterLocked for a text of a locked chapter."""
    if not connection.execute("SELECT 1 FROM chapter_lock WHERE chapter=? AND locked", (subject,)).fetchone():
        return
    position, title = connection.execute(
        "SELECT position, title FROM place WHERE chapter=? ORDER BY generation DESC LIMIT 1", (subject,)
    ).fetchone() or (0, "")
    raise ChapterLocked(
        _("Chapter {n}, {title}, is locked.").format(n=position, title=title),
        _("Nothing was changed."),
        _("Unlock it first: `L` in the revision, or `flowcabal-tui unlock PROJECT {n}`.").format(n=position),
    )
