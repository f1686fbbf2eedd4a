"""A text that says what the one before it said, but for punctuation: nothing that was made from that is out of date."""

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
    """Summaries, profiles and checks made from the text `before` rest on the text `now`; of the tasks those that ask no
    model anything."""
    old, new = f'"{chapter}":"{before}"', f'"{chapter}":"{now}"'
    connection.execute("UPDATE derived SET rests=replace(rests, ?, ?) WHERE instr(rests, ?)", (old, new, old))
    connection.execute("UPDATE OR IGNORE checked SET digest=? WHERE chapter=? AND digest=?", (now, chapter, before))
    return [task for task in tasks if task.kind in _BY_RULE]
