"""Caches current outputs by key, read in blocks: a repeated run looks up everything that it made, and those rows are
near each other."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.store.file.connection import Database, Row

_SELECT: Final = (
    "SELECT result, COALESCE(short, (SELECT body FROM blob WHERE blob.digest=outcome.digest)),"
    " digest, model, author, finish, seconds, form, key, number FROM outcome"
)
_ONE: Final = f"{_SELECT} WHERE key=? ORDER BY number DESC LIMIT 1"
_BLOCK: Final = (
    f"{_SELECT} WHERE number BETWEEN ? AND ? AND short IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM outcome later WHERE later.key=outcome.key AND later.number > outcome.number)"
)
_SIZE: Final = 256
_ENOUGH: Final = 3
_MOST: Final = 20_000


class ReadAhead:
    """After a few single lookups, each is read with the short rows of its block.

    The next commit empties the cache.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: dict[str, Row] = {}
        self._as_of: int | None = None
        self._blocks: set[int] = set()
        self._single = 0

    def outcome(self, key: Digest) -> Row | None:
        """(result, body, digest, model, author, finish, seconds, form, key, number) of the current output of a key."""
        commits = self._database.commits
        if commits is None or commits != self._as_of:
            self._rows.clear()
            self._blocks.clear()
            self._as_of, self._single = commits, 0
        if (row := self._rows.pop(key, None)) is not None:
            return row
        found = self._database.at_once(_ONE, (key,))
        if not found:
            return None
        self._single += 1
        start = found[0][-1] - found[0][-1] % _SIZE
        if self._single > _ENOUGH and start not in self._blocks and len(self._rows) < _MOST:
            self._blocks.add(start)
            block = self._database.at_once(_BLOCK, (start, start + _SIZE - 1))
            self._rows.update((each[-2], each) for each in block)
        return found[0]
