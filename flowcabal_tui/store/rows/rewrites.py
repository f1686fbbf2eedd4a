"""Accepted rewrites as rows, in the writer's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.proposed_rewrite import RewriteId
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.store.file.blobs import pack


def accept(connection: sqlite3.Connection, rewrites: Sequence[Rewrite], proposed: RewriteId) -> None:
    """Records accepted rewrites, and marks the proposed one as accepted."""
    connection.executemany(
        "INSERT INTO rewrite (chapter, body, start, end, after, model, instruction, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(each.chapter, pack(each.text), each.start, each.end, pack(clean(each.after))),
                *(clean_line(each.model), clean(each.instruction), each.at.isoformat()),
            )
            for each in rewrites
        ],
    )
    connection.execute("UPDATE proposed_rewrite SET state='accepted' WHERE number=?", (proposed,))
