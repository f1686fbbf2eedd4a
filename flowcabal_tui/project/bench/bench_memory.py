"""What the context benchmark switches: a memory that knows no names, and the offline embedder's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from typing import Final

from flowcabal_tui.agents.context import Found
from flowcabal_tui.agents.ports import MemoryPort, MemoryView
from flowcabal_tui.domain.context import NOTHING_SAID, Scene
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.models.lexical import LexicalEmbedder

_DIMENSIONS: Final = 512


class NamelessMemory:
    """A MemoryPort whose views know no entities: what is left is the words alone."""

    def __init__(self, memory: MemoryPort) -> None:
        self._memory = memory

    async def view(self, chapter: ChapterId | None, generation: Generation) -> MemoryView:
        return _NamelessView(await self._memory.view(chapter, generation))

    async def scene(self, chapter: ChapterId, generation: Generation) -> Scene:
        return NOTHING_SAID


class _NamelessView:
    def __init__(self, view: MemoryView) -> None:
        self._view = view
        self.generation, self.before, self.language = view.generation, view.before, view.language
        self.meta, self.chapters, self.chapter_text = view.meta, view.chapters, view.chapter_text
        self.passages, self.search, self.waived = view.passages, view.search, view.waived
        self.postings, self.target = view.postings, view.target
        self.derived, self.derived_under = view.derived, view.derived_under
        self.derived_of, self.chapter_texts = view.derived_of, view.chapter_texts
        self.outline = view.outline
        self.relations, self.facts = view.relations, view.facts
        self.promises, self.moments = view.promises, view.moments

    async def entities(self) -> tuple[Entity, ...]:
        return ()

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        return ()

    async def mentions_in(self, chapter: ChapterId) -> tuple[Mention, ...]:
        return ()

    async def chapters_with(self, entity: EntityId) -> tuple[ChapterId, ...]:
        return ()

    async def mention_counts(self) -> tuple[tuple[EntityId, int], ...]:
        return ()


class PassageVectors:
    """A Finder over the passages of a book with the offline embedder, in place of a knowledge server."""

    def __init__(self, view: MemoryView) -> None:
        self._view, self._embedder = view, LexicalEmbedder(_DIMENSIONS)
        self._vectors: list[tuple[Passage, list[float]]] = []
        self._titles: dict[ChapterId, str] = {}

    async def read(self) -> None:
        """Makes the vectors of all passages."""
        for chapter in await self._view.chapters():
            self._titles[chapter.id] = chapter.title
            passages = await self._view.passages(chapter.id)
            vectors = await self._embedder.embed([passage.text for passage in passages])
            self._vectors += zip(passages, vectors, strict=True)

    async def find(self, query: str, before: int, limit: int) -> Sequence[Found]:
        """The passages before a chapter position that are nearest to the query by cosine."""
        (wanted,) = await self._embedder.embed([query])
        places = [place for place, amount in enumerate(wanted) if amount]
        near = nlargest(
            limit,
            (
                (sum(wanted[place] * vector[place] for place in places), -passage.position, -passage.start, passage)
                for passage, vector in self._vectors
                if passage.position < before
            ),
            key=lambda each: each[:3],
        )
        return [
            Found(
                f"manuscript/{each.chapter}",
                self._titles[each.chapter],
                each.text,
                score,
                "L2",
                each.position,
                each.start,
                each.end,
            )
            for score, _position, _start, each in near
        ]
