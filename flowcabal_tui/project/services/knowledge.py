"""The knowledge server of an open project: its contents, search in it, and its start after an installation."""

from __future__ import annotations

from typing import Final, get_args

from flowcabal_tui.domain.errors import KnowledgePending
from flowcabal_tui.domain.memory import Freshness, Level
from flowcabal_tui.locale import _
from flowcabal_tui.project.commands import Service
from flowcabal_tui.project.memory.knowledge_contents import TEXT_LIMIT, KnowledgeContents, KnowledgeFound, entries

_FOUND: Final = 20
_FOUND_TEXT: Final = 300


class KnowledgeService(Service):
    """Lives on the engine's loop. Sessions and agents reach it only by the command `memory:rebuild`."""

    async def contents(self) -> KnowledgeContents:
        """The entries of the server as known locally, and the texts still to be sent; contacts no server."""
        knowledge = self._parts.memory.knowledge
        steps = await self._store.outbox.all(get_args(Freshness))
        return KnowledgeContents(
            knowledge.last, knowledge.place, knowledge.embedder, entries(knowledge.records(), steps)
        )

    async def text(self, subject: str) -> tuple[tuple[Level, str], ...]:
        """The texts of an entry as the server has them, level by level, at most TEXT_LIMIT characters in all.

        Raises KnowledgeError.
        """
        return await self._parts.memory.knowledge.sync().read(subject, TEXT_LIMIT)

    async def find(self, query: str, *, paid: bool = False) -> tuple[KnowledgeFound, ...]:
        """The entries nearest in meaning to a query, best first.

        Raises KnowledgePending where the vector of the query costs money, unless `paid`; KnowledgeError and ModelError.
        """
        knowledge = self._parts.memory.knowledge
        sync = knowledge.sync()
        if not await knowledge.costs_nothing(query):
            if not paid:
                raise KnowledgePending(_("its query has no vector yet, and making one costs money"))
            knowledge.require_paid()
            await knowledge.paid_vector(query)
        hits = await sync.find(query, limit=_FOUND)
        return tuple(
            [KnowledgeFound(hit.subject, hit.level, hit.score, await sync.words(hit, _FOUND_TEXT)) for hit in hits]
        )

    async def look_again(self) -> None:
        """Starts the server if one was installed since the project was opened."""
        await self._parts.memory.knowledge.look_again()

    async def stop(self) -> None:
        """Stops a server started by this program and waits for its end, so that it can be removed; no data is lost."""
        await self._parts.memory.knowledge.stop()
