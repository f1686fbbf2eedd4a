"""Embeddings of an OpenAI-compatible endpoint."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Any, Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.locale import _
from flowcabal_tui.models.backoff import Backoff
from flowcabal_tui.models.http_model import Sleep
from flowcabal_tui.models.long_texts import InputLimit, joined
from flowcabal_tui.models.openai import base_url, headers
from flowcabal_tui.models.transport import Transport

BATCH: Final = 10
"""Texts per request: the limit of the narrowest of the usual providers."""
Paid = Callable[[Sequence[str], int | None], Awaitable[None]]
"""Receives the texts of an answered request, and the tokens that the provider counted (None: not reported)."""


class HttpEmbedder:
    """An EmbeddingPort for `POST {base_url}/embeddings`; `aclose` it when it is no longer needed."""

    def __init__(
        self, endpoint: Endpoint, key: str | None, rng: random.Random, sleep: Sleep, paid: Paid | None
    ) -> None:
        self._endpoint, self._sleep, self._paid = endpoint, sleep, paid
        self._transport = Transport(endpoint, base_url(endpoint), headers(key), key)
        self._backoff = Backoff(endpoint, rng)
        self._limit = InputLimit(endpoint.model)
        self._takes_dimensions = True

    @property
    def identity(self) -> str:
        return f"{self._endpoint.identity}:{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._endpoint.dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of `dimensions` numbers for each text, in order. Raises ModelError."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            vectors += await self._fitting([text if text.strip() else "-" for text in texts[start : start + BATCH]])
        return vectors

    async def _fitting(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of a few texts; those that are too long go in pieces, as soon as that is known."""
        while True:
            cut = [self._limit.pieces(text) for text in texts]
            flat = [piece for pieces in cut for piece in pieces]
            try:
                made = [
                    vector for at in range(0, len(flat), BATCH) for vector in await self._batch(flat[at : at + BATCH])
                ]
            except ModelError as error:
                if not self._limit.learn(error, flat):
                    raise
                continue
            of_pieces = iter(made)
            return [joined(list(islice(of_pieces, len(pieces))), [len(each) for each in pieces]) for pieces in cut]

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def _batch(self, texts: list[str]) -> list[list[float]]:
        for attempt in itertools.count(1):
            body: dict[str, Any] = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
            if self._takes_dimensions:
                body["dimensions"] = self.dimensions
            try:
                answer = self._read(await self._transport.post("/embeddings", body))
                if self._paid is not None:
                    await self._paid(texts, _tokens(answer))
                return self._vectors(answer, len(texts))
            except ModelError as error:
                if error.fault is ModelFault.REFUSED and error.status in (400, 422) and self._takes_dimensions:
                    self._takes_dimensions = False
                    continue
                seconds = self._backoff.seconds(error, attempt)
                if seconds is None:
                    raise
            await self._sleep(seconds)
        raise AssertionError("count never ends")

    def _read(self, answer: bytes) -> Any:
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise self._wrong(error) from None

    def _wrong(self, error: Exception) -> ModelError:
        return self._transport.failures.error(ModelFault.PROTOCOL, f"{type(error).__name__}: {error}")

    def _vectors(self, answer: Any, count: int) -> list[list[float]]:
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (ValueError, TypeError, KeyError) as error:
            raise self._wrong(error) from None
        if len(vectors) != count:
            found = _("{n} texts, {m} vectors").format(n=count, m=len(vectors))
            raise self._transport.failures.error(ModelFault.PROTOCOL, found)
        if wrong := next((len(vector) for vector in vectors if len(vector) != self.dimensions), None):
            raise ModelError(
                ModelFault.REFUSED,
                _("{model} returns vectors of a different length").format(model=self._endpoint.model),
                _("{n} numbers were expected, but {m} arrived.").format(n=self.dimensions, m=wrong),
                _("Set dimensions = {m} for the embedding model.").format(m=wrong),
            )
        return vectors


def _tokens(answer: Any) -> int | None:
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return counted if isinstance(counted, int) and counted >= 0 else None
