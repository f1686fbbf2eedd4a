"""Text that was typed but not saved, in chapters and in fields of the screen."""

from __future__ import annotations

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, Draft
from flowcabal_tui.project.commands import Service


class DraftService(Service):
    """Unsaved texts. Lives on the engine's loop."""

    async def of(self, chapter: ChapterId) -> Draft | None:
        """The unsaved text of a chapter."""
        return await self._store.drafts.of(chapter)

    async def all(self) -> tuple[tuple[Chapter, Draft], ...]:
        """The chapters of the book with unsaved text, in story order."""
        drafts = {draft.chapter: draft for draft in await self._store.drafts.all()}
        return tuple((at, drafts[at.id]) for at in await self._store.book.chapters() if at.id in drafts)

    async def put(self, chapter: ChapterId, text: str | None, base: int | None) -> bool:
        """Stores unsaved text that is based on the version `base`; None, or text equal to the saved one, removes it.

        Returns True when the chapter has unsaved text afterwards.
        """
        return await self._store.drafts.put(chapter, text, base)

    async def draft(self, key: str) -> str | None:
        """Other unsaved text that survived a crash, such as a request, a decision or an edited workflow; None: none."""
        return await self._store.values.draft(key)

    async def put_draft(self, key: str, text: str | None) -> None:
        """Stores other unsaved text under a key; None removes it."""
        await self._store.values.put_draft(key, text)
