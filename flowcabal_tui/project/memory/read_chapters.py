"""Records the imported chapters that the agents' model has read."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.project.models.roles import ModelRoles
from flowcabal_tui.store import Store

READ: Final = "bootstrap/read"


class ReadChapters:
    """Stores records that survive the end of the program. Lives on the engine's loop."""

    def __init__(self, store: Store, models: ModelRoles) -> None:
        self._store, self._models = store, models
        self._read: dict[str, Digest] = {}

    async def begin(self) -> None:
        """Loads the records of an earlier process."""
        self._read = await self._store.values.learned(READ, dict[str, Digest]) or {}

    def has_read(self, chapter: Chapter) -> bool:
        """True when the model read the present text of this chapter in a reading."""
        return chapter.digest is not None and self._read.get(chapter.id) == chapter.digest

    async def note(self, chapter: Chapter) -> None:
        """Stores that the model has read the present text of this chapter."""
        if chapter.digest is not None:
            self._read[chapter.id] = chapter.digest
            await self._store.values.put(READ, self._read)

    def by_rule(self, chapter: Chapter) -> bool:
        """True for imported text when the agents' model costs money, until the writer starts its reading."""
        return chapter.author == "import" and not self._models.is_offline("agent") and not self.has_read(chapter)
