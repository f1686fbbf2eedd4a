"""Semantic search for the Context agent: asked once for a generation of the memory, then remembered."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from heapq import nlargest
from itertools import chain
from operator import mul
from typing import Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS
from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.domain.codec import from_plain
from flowcabal_tui.domain.errors import KnowledgeError, ModelError
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.text import digest, digest_of
from flowcabal_tui.project.memory.knowledge_desk import KnowledgeDesk
from flowcabal_tui.project.queries import Queries, entity_text
from flowcabal_tui.store import Store
from flowcabal_tui.store.memory.view import View
from flowcabal_tui.viking.search import KnowledgeHit

log = logging.getLogger(__name__)
PATIENCE: Final = 15.0
"""Seconds for which a run waits for a server that is starting: what it misses it would miss every time."""
_FROM_SCENE: Final = 2
_SCOPES: Final = (("manuscript", 1), ("profiles", 3), ("summaries", 3), ("entities", 3))
"""What is searched, and the part of the limit that it may take: the book's own words first. Meta texts always go in."""


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
        key = f"find/{self._generation}/{digest_of([query, before, limit, self._desk.embedder])}"
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
            sync = self._desk.sync()
            answers = await asyncio.gather(
                *(sync.find(query, before, max(1, limit // part), scope) for scope, part in _SCOPES)
            )
        except KnowledgeError as error:
            return {"absent": error.title if self._desk.is_up else self._desk.last.message}
        view = await self._store.memory.view(None, self._generation)
        hits = sorted(chain.from_iterable(answers), key=lambda hit: (-hit.score, hit.uri))
        read = [await self._read(hit, view, before) for hit in hits]
        found = await self._narrowed(query, [item for item in read if item is not None], view)
        return {"found": [asdict(item) for item in found[:limit]]}

    async def _narrowed(self, query: str, found: list[Found], view: View) -> list[Found]:
        """In place of each scene its nearest passages: what is short leaves room for more. Best first.

        The server has a vector a scene, since each costs it a file; within the few that it finds we look ourselves.
        """
        parts = {
            place: [
                replace(scene, text=passage.text, start=passage.start, end=passage.end)
                for passage in await view.passages(ChapterId(scene.uri.removeprefix("manuscript/")))
                if scene.start <= passage.start < scene.end
            ]
            for place, scene in enumerate(found)
            if scene.start >= 0
        }
        passages = [passage for each in parts.values() for passage in each]
        if self._desk.vectors is None or not passages:
            return found
        try:
            wanted, *vectors = await self._desk.vectors.embed([query, *(passage.text for passage in passages)])
        except ModelError as error:
            log.warning("passages: %s", error.title)
            return found
        near = iter([likeness(wanted, vector) for vector in vectors])
        scored = {place: [replace(passage, score=next(near)) for passage in each] for place, each in parts.items()}
        best = [
            passage
            for place, scene in enumerate(found)
            for passage in nlargest(_FROM_SCENE, scored.get(place) or [scene], key=lambda each: each.score)
        ]
        return sorted(best, key=lambda each: (-each.score, each.uri, each.start))

    async def _read(self, hit: KnowledgeHit, view: View, before: int) -> Found | None:
        """The hit's text from our own store, as of the generation: the server's copy is only an index.

        None when the book has no such text, or another one: the server has not been told yet.
        """
        uri, title, position, whole = hit.subject, "", hit.position, ""
        if hit.chapter is not None:
            chapter = next((one for one in await view.chapters() if one.id == hit.chapter), None)
            if chapter is None or chapter.position >= before:
                return None
            title, position = chapter.title, chapter.position
        if hit.chapter is not None and hit.level == "L2":
            whole = await view.chapter_text(hit.chapter)
        elif entity := await _entity(hit.subject, view):
            uri, title = f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", entity.name
            whole = " · ".join(entity.names) if hit.level == "L0" else entity_text(entity)
        elif (state := await view.derived(uri, hit.level)) is not None:
            whole, title = state.text, title or await self._queries.title(uri)
        text = whole if hit.start < 0 else whole[hit.start : hit.end]
        if not text.strip() or digest(text) != hit.digest:
            return None
        at = (hit.start, hit.end) if hit.chapter is not None else (-1, -1)
        return Found(uri, title, text, hit.score, hit.level, position, *at)


async def _entity(subject: str, view: View) -> Entity | None:
    root, _slash, identity = subject.partition("/")
    return next((one for one in await view.entities() if root == "entity" and one.id == identity), None)


def likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine as the knowledge server tells it: 0..1, unrelated about 0.5."""
    lengths = math.hypot(*one) * math.hypot(*other)
    return (1 + sum(map(mul, one, other)) / lengths) / 2 if lengths else 0.5
