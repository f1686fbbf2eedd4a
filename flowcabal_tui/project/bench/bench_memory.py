"""Variants for the context benchmark: a memory without names, and vectors of the offline or another embedder."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Final

from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.agents.ports import MemoryPort, MemoryView
from flowcabal_tui.domain.context import NO_SCENE, Scene
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.domain.model_ports import EmbeddingPort
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.models.shared import EmbedderAround

_DIMENSIONS: Final = 512
_AT_ONCE: Final = 200
"""Number of texts after which the vectors are written."""


class NamelessMemory:
    """A MemoryPort whose views know no entities, so that contexts depend on words alone."""

    def __init__(self, memory: MemoryPort) -> None:
        self._memory = memory

    async def view(self, chapter: ChapterId | None, generation: Generation) -> MemoryView:
        return _NamelessView(await self._memory.view(chapter, generation))

    async def scene(self, chapter: ChapterId, generation: Generation) -> Scene:
        return NO_SCENE


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

    async def named_by_passage(self) -> Sequence[frozenset[EntityId]]:
        return ()

    async def passages_naming(self, entities: Collection[EntityId]) -> Mapping[EntityId, Sequence[int]]:
        return dict.fromkeys(entities, ())

    async def offsets_of(
        self, entities: Collection[EntityId], chapters: Collection[ChapterId]
    ) -> Mapping[ChapterId, Sequence[tuple[int, EntityId]]]:
        return dict.fromkeys(chapters, ())

    async def mention_counts(self) -> tuple[tuple[EntityId, int], ...]:
        return ()


class KeptVectors(EmbedderAround):
    """Caches the vectors in a file: JSON, `[digest, numbers]` per line.

    Unreadable lines are ignored.
    """

    def __init__(self, embedder: EmbeddingPort, folder: Path) -> None:
        super().__init__(embedder)
        self._file = folder / f"vectors-{digest(embedder.identity)[:12]}.jsonl"
        self._known: dict[str, list[float]] | None = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text. Raises ModelError."""
        known = self._read()
        missing = [text for text in dict.fromkeys(texts) if digest(text) not in known]
        with self._file.open("a", encoding="utf-8") as file:
            for at in range(0, len(missing), _AT_ONCE):
                part = missing[at : at + _AT_ONCE]
                for text, vector in zip(part, await self._embedder.embed(part), strict=True):
                    known[digest(text)] = vector
                    file.write(f"{json.dumps([digest(text), vector])}\n")
                file.flush()
        return [known[digest(text)] for text in texts]

    def _read(self) -> dict[str, list[float]]:
        if self._known is None:
            self._known = {}
            lines = self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else []
            for line in lines:
                try:
                    key, vector = json.loads(line)
                    numbers = [float(number) for number in vector]
                except (ValueError, TypeError):
                    continue
                if len(numbers) == self.dimensions:
                    self._known[str(key)] = numbers
        return self._known


class PassageVectors:
    """A Finder over the passages of a book, in place of a knowledge server; by default with the offline embedder."""

    def __init__(self, view: MemoryView, embedder: EmbeddingPort | None = None) -> None:
        self._view, self._embedder = view, embedder or LexicalEmbedder(_DIMENSIONS)
        self._vectors: list[tuple[Passage, list[float]]] = []
        self._titles: dict[ChapterId, str] = {}

    async def read(self) -> None:
        """Computes the vectors of all passages."""
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
