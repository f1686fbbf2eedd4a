"""An embedder whose vectors are stored in the project: each text is sent, and paid for, once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_ports import EmbeddingPort
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.shared import EmbedderAround
from flowcabal_tui.store.file.vectors import Vectors, rounded

TOGETHER: Final = 10
"""Texts whose vectors are stored before the next are sent: the most that a stop can lose."""


class KeptEmbedder(EmbedderAround):
    """Stores the vectors."""

    def __init__(
        self,
        embedder: EmbeddingPort,
        vectors: Vectors,
        allow: Callable[[], None],
        pays: Callable[[Sequence[str]], AbstractAsyncContextManager[None]] = lambda _texts: nullcontext(),
        *,
        costs: bool,
    ) -> None:
        """`allow` is called before a text is sent, and texts are sent within `pays`; both raise FlowCabalError when
        that is not permitted.

        `costs`: sending a text costs money, or the text leaves this machine.
        """
        super().__init__(embedder)
        self.costs, self._pays, self._vectors, self._allow = costs, pays, vectors, allow
        self._sending = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, in order. Raises ModelError, or the errors of `allow` when a text would be sent."""
        names = [digest(text) for text in texts]
        known = await self._known(names)
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        if missing:
            async with self._sending:  # who asked for the same text meanwhile finds it
                known |= await self._known(list(missing))
                left = {name: text for name, text in missing.items() if name not in known}
                for start in range(0, len(left), TOGETHER):
                    known |= await self._sent(dict(list(left.items())[start : start + TOGETHER]))
        return [known[name] for name in names]

    async def _known(self, names: Sequence[Digest]) -> dict[Digest, list[float]]:
        """The stored vectors of the right length."""
        found = await self._vectors.get(self.identity, names)
        return {name: vector for name, vector in found.items() if len(vector) == self.dimensions}

    async def _sent(self, texts: dict[Digest, str]) -> dict[Digest, list[float]]:
        self._allow()
        async with self._pays(list(texts.values())):
            made = await self._embedder.embed(list(texts.values()))
        fresh = {name: rounded(vector) for name, vector in zip(texts, made, strict=True)}
        await self._vectors.put(self.identity, fresh)
        return fresh

    async def stored(self, texts: Sequence[str]) -> list[list[float]] | None:
        """The vectors if all of them are stored; sends nothing."""
        names = [digest(text) for text in texts]
        known = await self._known(names)
        return [known[name] for name in names] if known.keys() >= set(names) else None

    async def aclose(self) -> None:
        """Closes the connections."""
        close: Callable[[], Awaitable[None]] | None = getattr(self._embedder, "aclose", None)
        if close is not None:
            await close()
