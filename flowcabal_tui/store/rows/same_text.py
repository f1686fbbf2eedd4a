"""A text that differs from the one before only in punctuation: texts derived from that are not out of date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask

_BY_RULE: Final = frozenset(("mirror", "index", "knowledge"))


def follow_same_text(
    connection: sqlite3.Connection, chapter: str, before: Digest, now: Digest, tasks: Iterable[BackgroundTask]
) -> list[BackgroundTask]:
    """Links summaries, profiles and checks of the text `before` to the text `now`. Returns those of the tasks that call
    no model."""
    old, new = f'"{chapter}":"{before}"', f'"{chapter}":"{now}"'
    connection.execute("UPDATE derived SET rests=replace(rests, ?, ?) WHERE instr(rests, ?)", (old, new, old))
    connection.execute("UPDATE OR IGNORE checked SET digest=? WHERE chapter=? AND digest=?", (now, chapter, before))
    return [task for task in tasks if task.kind in _BY_RULE]
