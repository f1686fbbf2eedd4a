"""The words written by day, from the versions of the chapters, in one query for a book of any size."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from flowcabal_tui.domain.writing_days import Growth
from flowcabal_tui.store.file.connection import StorePart

_MOVED: Final = "'split', 'merge', 'undelete', 'replace', 'review', 'forget', 'restore', 'undo', 'import', 'older'"
"""Changes of the book that write versions without anybody writing."""
_GROWN: Final = f"""
    SELECT at, author, subject, length - coalesce((SELECT length FROM version AS before
        WHERE before.subject=version.subject AND before.number<version.number ORDER BY before.number DESC LIMIT 1), 0)
    FROM version
    WHERE at>=:since AND author<>'import' AND mode<>'replay' AND subject IN (SELECT chapter FROM place)
        AND generation NOT IN (SELECT generation FROM change_log WHERE kind IN ({_MOVED}))
        AND NOT EXISTS (SELECT 1 FROM version AS before WHERE before.subject=version.subject
            AND before.number<version.number AND before.digest=version.digest)
    ORDER BY at"""
"""A version whose text the chapter had before was restored, not written."""


class Days(StorePart):
    """Reads when the chapters grew."""

    async def grown(self, since: datetime | None = None) -> tuple[Growth, ...]:
        """The growth of chapters by each version that was written, not imported, moved or restored.

        Oldest first, including deleted chapters; `since` None: from the beginning of the book.
        """
        rows = await self._database.rows(_GROWN, {"since": since.isoformat() if since else ""})
        return tuple(Growth(datetime.fromisoformat(at), author, chapter, n) for at, author, chapter, n in rows)
