"""Unsaved text of chapters. A text that equals a saved version is not a draft, regardless of its origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Draft
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.store.file.blobs import pack, unpack
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.rows.texts import EMPTY

_KEY: Final = "chapter:"
_ROWS: Final = """SELECT key, body, base, at FROM draft WHERE key LIKE 'chapter:%' AND (:key='' OR key=:key)
    ORDER BY at, key"""
_VERSIONS: Final = "SELECT number, digest FROM version WHERE subject=? ORDER BY number"


class Drafts(StorePart):
    """Reads and writes unsaved text by chapter."""

    @transaction
    def put(self, connection: Connection, chapter: ChapterId, text: str | None, base: int | None) -> bool:
        """Stores text that was edited from the version `base`; None, or a text that is already saved, deletes the
        draft.

        Returns whether the chapter has unsaved text afterwards.
        """
        at = self._now()
        known = _known(connection.execute(_VERSIONS, (chapter,)))
        if text is None or _is_saved(text, base, known):
            forget_draft(connection, chapter)
            return False
        connection.execute(
            "INSERT OR REPLACE INTO draft (key, body, at, base) VALUES (?, ?, ?, ?)",
            (_KEY + chapter, pack(text), at, base),
        )
        return True

    async def of(self, chapter: ChapterId) -> Draft | None:
        """The unsaved text of a chapter."""
        return next(iter(await self._found(_KEY + chapter)), None)

    async def all(self) -> tuple[Draft, ...]:
        """All unsaved texts, those of deleted chapters too, oldest first."""
        return await self._found("")

    async def _found(self, key: str) -> tuple[Draft, ...]:
        drafts, ghosts = [], []
        for row in await self._database.rows(_ROWS, {"key": key}):
            draft = _draft(row, _known(await self._database.rows(_VERSIONS, (row[0].removeprefix(_KEY),))))
            if draft is None:
                ghosts.append((row[0], row[1]))
            else:
                drafts.append(draft)
        if ghosts and not self._database.read_only:
            with suppress(DiskFull):  # they are not drafts, whether they were deleted or not
                await self._database.do(_forget_rows(ghosts))
        return tuple(drafts)


def forget_draft(connection: Connection, chapter: ChapterId) -> None:
    """Deletes the draft of a chapter after a save."""
    connection.execute("DELETE FROM draft WHERE key=?", (_KEY + chapter,))


def text_of_version(connection: Connection, subject: str, version: int) -> Digest | None:
    """The digest of a version's text; for version 0 that of the empty text; None for an unknown version."""
    return _known(connection.execute(_VERSIONS, (subject,))).get(version)


def _forget_rows(rows: list[tuple[str, bytes]]) -> Callable[[Connection], None]:
    def forget(connection: Connection) -> None:
        connection.executemany("DELETE FROM draft WHERE key=? AND body=?", rows)

    return forget


def _known(rows: Iterable[Row]) -> dict[int, Digest]:
    """Digests of all versions by number; version 0 is the empty text."""
    return {0: EMPTY, **dict(rows)}


def _is_saved(text: str, base: int | None, known: dict[int, Digest]) -> bool:
    """True when the base, or a later version, has this text; without a known base, when any version has it."""
    first, saved = 0 if base is None else base, digest(clean(text))
    return any(number >= first and name == saved for number, name in known.items())


def _draft(row: Row, known: dict[int, Digest]) -> Draft | None:
    key, body, base, at = row
    text = unpack(body)
    if _is_saved(text, base, known):
        return None
    newest = max(known)
    if not newest or (base is not None and known.get(base) == known[newest]):
        base = newest
    return Draft(ChapterId(key.removeprefix(_KEY)), text, base, newest, datetime.fromisoformat(at))
