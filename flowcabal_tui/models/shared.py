"""An embedder that computes the vector of a text once when several callers request it at once or shortly after."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from flowcabal_tui.domain.model_ports import EmbeddingPort

KEPT: Final = 64


class EmbedderAround:
    """An EmbeddingPort that wraps another one and has its identity."""

    def __init__(self, embedder: EmbeddingPort) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions


class SharedEmbedder(EmbedderAround):
    """Makes the vector of a text once.

    In one search, the knowledge server requests its query's vector a dozen times, each of which would be a paid call.
    """

    def __init__(self, embedder: EmbeddingPort) -> None:
        super().__init__(embedder)
        self._vectors: OrderedDict[str, asyncio.Task[list[list[float]]]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order. Only a text that is requested alone is cached. Raises ModelError."""
        if len(texts) != 1:
            return await self._embedder.embed(texts)
        (text,) = texts
        if text not in self._vectors:
            self._vectors[text] = asyncio.create_task(self._embedder.embed(texts))
            while len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)
        task = self._vectors[text]
        try:
            return await asyncio.shield(task)
        except BaseException:  # a cancel too: what failed is forgotten, what goes on is kept
            if task.done() and self._vectors.get(text) is task:  # it failed: the next one tries again
                del self._vectors[text]
            raise
