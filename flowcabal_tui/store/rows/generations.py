"""The counter of changes of a book's memory. A run pins one and reads everything as of it."""

from __future__ import annotations

import sqlite3
from typing import Final, Literal

from flowcabal_tui.domain.ids import Generation

NOW: Final = Generation(2**62)
"""Later than any generation: as of it, all present rows are valid."""
NEWEST: Final = "(SELECT coalesce(max(id), 0) FROM generation)"
"""In SQL, the newest generation; 0 before anything was written."""


def next_generation(
    connection: sqlite3.Connection, kind: Literal["truth", "derived"], position: int, at: str
) -> Generation:
    """Begins a generation. `position` is the first chapter that the change affects (0: the whole book)."""
    row = connection.execute("INSERT INTO generation (kind, position, at) VALUES (?, ?, ?)", (kind, position, at))
    return Generation(row.lastrowid or 0)
