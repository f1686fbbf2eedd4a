"""The last requests as sent."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `body` is the JSON of the request, compressed, without key and headers; `attempt` 0: no node streams it
    """CREATE TABLE sent (number INTEGER PRIMARY KEY AUTOINCREMENT, role TEXT NOT NULL, model TEXT NOT NULL,
        purpose TEXT NOT NULL, run TEXT NOT NULL, attempt INTEGER NOT NULL, body BLOB NOT NULL, at TEXT NOT NULL)""",
)
