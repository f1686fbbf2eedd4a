"""The reference books as a context sees them."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.manuscript import Reference, ReferenceHit, ReferenceId
from flowcabal_tui.store.book.references import References


class PinnedReferences:
    """Implements the Context agent's `ReferenceBooks`, as of a generation."""

    def __init__(self, references: References, generation: Generation, *, always: bool) -> None:
        self._references, self._generation, self.always = references, generation, always

    async def books(self) -> tuple[Reference, ...]:
        return await self._references.all(self._generation)

    async def search(
        self, terms: Sequence[str], limit: int, book: ReferenceId | None = None
    ) -> tuple[ReferenceHit, ...]:
        return await self._references.search(terms, limit, book, self._generation)
