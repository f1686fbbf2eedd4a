"""Text of chapters that was typed and is not saved, as the screen and the command line see it."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, Draft
from flowcabal_tui.store import Store

T = TypeVar("T")


class Ask(Protocol):
    """Awaits a question on the engine's loop. Raises FlowCabalError."""

    async def __call__(self, question: Coroutine[Any, Any, T]) -> T: ...


class UnsavedTexts(Protocol):
    """Unsaved texts by chapter."""

    async def of(self, chapter: ChapterId) -> Draft | None:
        """The unsaved text of a chapter."""
        ...

    async def all(self) -> tuple[tuple[Chapter, Draft], ...]:
        """The chapters of the book with unsaved text, in story order."""
        ...

    async def put(self, chapter: ChapterId, text: str | None, base: int | None) -> bool:
        """Keeps text that was typed over the version `base`; None, or text that is saved, takes it away.

        True when the chapter has unsaved text now.
        """
        ...


class ProjectUnsaved:
    """Implements `UnsavedTexts` with the project's store."""

    def __init__(self, ask: Ask, store: Store) -> None:
        self._ask, self._store = ask, store

    async def of(self, chapter: ChapterId) -> Draft | None:
        return await self._ask(self._store.drafts.of(chapter))

    async def all(self) -> tuple[tuple[Chapter, Draft], ...]:
        return await self._ask(self._all())

    async def _all(self) -> tuple[tuple[Chapter, Draft], ...]:
        drafts = {draft.chapter: draft for draft in await self._store.drafts.all()}
        return tuple((at, drafts[at.id]) for at in await self._store.book.chapters() if at.id in drafts)

    async def put(self, chapter: ChapterId, text: str | None, base: int | None) -> bool:
        return await self._ask(self._store.drafts.put(chapter, text, base))
