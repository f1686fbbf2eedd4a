"""Questions about texts: where something stands, what was imported and read. `Project` answers them with the others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Passage, Reference, ReferenceHit, ReferenceId
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapQuote, BootstrapStatus, Freshness, Level
from flowcabal_tui.domain.origin import BlamedLine, Provenance
from flowcabal_tui.domain.overview import Overview
from flowcabal_tui.domain.proposals import Proposal, ProposalId, ProposalPage, ProposalWish
from flowcabal_tui.domain.search import SEARCH_KINDS, Occurrence, SearchAnswer, SearchKind
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.views import SourceText

T = TypeVar("T")


class Reading(ABC):
    """The part of `Project` that reads the text."""

    _parts: Parts

    @abstractmethod
    async def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Awaits on the engine's loop. Raises FlowCabalError."""

    async def source(
        self, uri: str, start: int = -1, end: int = -1, level: Level | None = None, receipt: Receipt | None = None
    ) -> SourceText:
        return await self._ask(self._parts.queries.source(uri, start, end, level, receipt))

    async def search(self, query: str, kinds: Sequence[SearchKind] = SEARCH_KINDS, limit: int = 50) -> SearchAnswer:
        return await self._ask(self._parts.search.find(query, kinds, limit))

    async def occurrences(self, words: str) -> tuple[Occurrence, ...]:
        return await self._ask(self._parts.search.occurrences(words))

    async def blame(self, chapter: ChapterId) -> tuple[BlamedLine, ...]:
        return await self._ask(self._parts.blame.lines(chapter))

    async def provenance(self, chapter: ChapterId, line: int) -> Provenance:
        return await self._ask(self._parts.blame.provenance(chapter, line))

    async def background(self, state: Freshness | None = None) -> tuple[BackgroundTask, ...]:
        outbox = self._parts.store.outbox
        return await self._ask(outbox.all() if state is None else outbox.all((state,)))

    async def background_counts(self) -> dict[Freshness, int]:
        return await self._ask(self._parts.store.outbox.counts())

    async def overview(self) -> Overview:
        return await self._ask(self._parts.overview.overview())

    async def scenes(self, chapter: ChapterId) -> tuple[Passage, ...]:
        return await self._ask(self._parts.overview.scenes(chapter))

    async def references(self) -> tuple[Reference, ...]:
        return await self._ask(self._parts.store.references.all())

    async def reference_parts(self, book: ReferenceId) -> tuple[tuple[int, str, str], ...]:
        return await self._ask(self._parts.store.references.parts(book))

    async def search_references(
        self, query: str, book: ReferenceId | None = None, limit: int = 20
    ) -> tuple[ReferenceHit, ...]:
        return await self._ask(self._parts.store.references.search(query.split(), limit, book))

    async def proposals(self, wish: ProposalWish, offset: int = 0, limit: int = 100) -> ProposalPage:
        return await self._ask(self._parts.proposals.page(wish, offset, limit))

    async def proposal(self, identity: ProposalId) -> Proposal:
        """Raises UnknownName when there is none of this id."""
        (found,) = await self._ask(self._parts.store.proposals.get([identity]))
        return found

    async def bootstrap(self) -> BootstrapStatus | None:
        return await self._ask(self._parts.bootstrap.status())

    async def quote_bootstrap(self, first: int | None = None, last: int | None = None) -> BootstrapQuote:
        return await self._ask(self._parts.bootstrap.quote(first, last))
