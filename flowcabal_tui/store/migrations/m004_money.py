"""Cache writes in the usage, open calls, and vectors that were paid for."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    "ALTER TABLE usage ADD COLUMN written INTEGER",
    # a call whose usage is not booked yet: `endpoint` is JSON with the prices; what is left after a kill is booked as
    # an estimate when the project is opened
    """CREATE TABLE open_call (number INTEGER PRIMARY KEY, role TEXT NOT NULL, purpose TEXT NOT NULL,
        endpoint TEXT NOT NULL, estimated INTEGER NOT NULL, run TEXT NOT NULL, at TEXT NOT NULL)""",
    # `embedder` names the model and the number of dimensions, `digest` the text; `body` is float16, zlib
    """CREATE TABLE vector (embedder TEXT NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (embedder, digest)) WITHOUT ROWID""",
    "CREATE INDEX vector_by_text ON vector (digest)",
)
