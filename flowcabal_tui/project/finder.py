"""Semantic search for the Context agent: asked once for a generation of the memory, then remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.domain.codec import from_plain
from flowcabal_tui.domain.errors import FlowCabalError, KnowledgeError
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.project.knowledge_desk import KnowledgeDesk
from flowcabal_tui.project.queries import Queries
from flowcabal_tui.store import Store
from flowcabal_tui.viking.sync import KnowledgeHit

PATIENCE: Final = 15.0
"""Seconds for which a run waits for a server that is starting: what it misses it would miss every time."""


class RememberingFinder:
    """Implements the Context agent's `Finder`.

    What the server answered (or that it was not there) belongs to the pinned state of the memory, so a second
    run reads the same. A preview asks without remembering.
    """

    def __init__(
        self, desk: KnowledgeDesk, store: Store, queries: Queries, generation: Generation, *, remember: bool
    ) -> None:
        self._desk, self._store, self._queries = desk, store, queries
        self._generation, self._remember = generation, remember

    async def find(self, query: str, before: int, limit: int) -> Sequence[Found]:
        """Raises KnowledgeError when the server is not there, or was not at the first time."""
        key = f"find/{self._generation}/{digest_of([query, before, limit])}"
        known = await self._store.values.get(key)
        if known is None:
            known = await self._ask(query, before, limit)
            if self._remember:
                await self._store.values.put(key, known)
        if "absent" in known:
            raise KnowledgeError(known["absent"])
        return [from_plain(Found, item) for item in known["found"]]

    async def _ask(self, query: str, before: int, limit: int) -> dict[str, object]:
        try:
            await self._desk.started(PATIENCE)
            hits = await self._desk.sync().find(query, before, limit)
        except KnowledgeError as error:
            return {"absent": error.title if self._desk.is_up else self._desk.last.message}
        found = [await self._read(hit) for hit in hits]
        return {"found": [asdict(item) for item in found if item is not None]}

    async def _read(self, hit: KnowledgeHit) -> Found | None:
        """The hit's text from our own store: the server's copy is only an index."""
        uri = f"manuscript/{hit.chapter}" if hit.chapter else hit.subject
        try:
            source = await self._queries.source(uri, hit.start, hit.end)
        except (FlowCabalError, KeyError):  # it left the book, and the server has not heard of it yet
            return None
        whole = hit.start < 0
        text = source.text if whole else source.text[hit.start : hit.end]
        if whole and hit.chapter:
            text = await self._queries.summary(uri) or ""
        return Found(uri, source.title, text, hit.score, hit.level, hit.position, hit.start, hit.end) if text else None
