"""The writer's decisions on places that depend on a change."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `generation` is that of the review; of one place the newest counts, `word` '' says that it is listed again
    """CREATE TABLE place_word (key TEXT NOT NULL, generation INTEGER NOT NULL, word TEXT NOT NULL,
        chapter TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (key, generation)) WITHOUT ROWID""",
)
