"""Embeddings of an OpenAI-compatible endpoint."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Any, Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.locale import _
from flowcabal_tui.models.backoff import Backoff
from flowcabal_tui.models.http_model import Sleep
from flowcabal_tui.models.openai import base_url, headers
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.models.transport import Transport

LEAST_TOKENS: Final = 32
"""Every model accepts this many: an error at this length has another cause."""
_MARGIN: Final = 0.8
"""Used share of the limit that a server states, because its tokens are only estimated here."""
_SENTENCE: Final = re.compile(r".*?(?:[。！？!?…\n]|\.(?=\s)|$)[”’\"'』」）)]*", re.DOTALL)
_LIMIT: Final = re.compile(r"(?:max|limit|size|length|n_ctx)\D{0,40}?(\d{2,6})", re.IGNORECASE)
BATCH: Final = 10
"""Texts per request: the limit of the narrowest of the usual providers."""
Paid = Callable[[Sequence[str], int | None], Awaitable[None]]
"""Receives the texts of an answered request, and the tokens that the provider counted (None: not reported)."""


class InputLimit:
    """The longest text that an embedding model accepts, in tokens, as learned from its errors."""

    def __init__(self, model: str) -> None:
        self._counter = TokenEstimator(model)
        self.tokens: int | None = None

    def learn(self, error: ModelError, texts: Sequence[str]) -> bool:
        """True when the texts can be sent again in smaller pieces."""
        if error.fault is not ModelFault.CONTEXT_LENGTH:
            return False
        longest = max(map(self._counter.count, texts), default=0)
        named = [int(int(number) * _MARGIN) for number in _LIMIT.findall(str(error))]
        fitting = [number for number in named if LEAST_TOKENS <= number < longest]
        limit = min(fitting, default=longest // 2)
        if limit < LEAST_TOKENS:
            return False
        self.tokens = limit
        return True

    def pieces(self, text: str) -> list[str]:
        """The text, or its parts of whole sentences; only a sentence that is too long alone is cut within."""
        limit = self.tokens
        if limit is None or self._counter.count(text) <= limit:
            return [text]
        found, piece = list[str](), ""
        for sentence in filter(None, _SENTENCE.findall(text)):
            for part in self._within(sentence, limit):
                if piece and self._counter.count(piece + part) > limit:
                    found.append(piece)
                    piece = ""
                piece += part
        return [each for each in (*found, piece) if each.strip()] or [text]

    def _within(self, sentence: str, limit: int) -> list[str]:
        count = self._counter.count(sentence)
        if count <= limit:
            return [sentence]
        size = max(1, len(sentence) * limit // count)
        return [sentence[start : start + size] for start in range(0, len(sentence), size)]


def joined(vectors: Sequence[Sequence[float]], weights: Sequence[int]) -> list[float]:
    """One vector of length 1 for a text in pieces: their mean, each piece with its weight."""
    if len(vectors) == 1:
        return list(vectors[0])
    mean = [sum(n * w for n, w in zip(column, weights, strict=True)) for column in zip(*vectors, strict=True)]
    length = math.sqrt(sum(number * number for number in mean)) or 1.0
    return [number / length for number in mean]


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
