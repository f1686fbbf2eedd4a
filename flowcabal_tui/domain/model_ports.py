"""Interfaces of models, embedders and token counters."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol, TypeVar

from pydantic import BaseModel

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import Answer, ModelEvent, ModelRequest

T = TypeVar("T", bound=BaseModel)


class ModelPort(Protocol):
    """Interface of the model of one role."""

    @property
    def endpoint(self) -> Endpoint: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Streams one call; always used under `contextlib.aclosing`. Raises ModelError."""

    async def answer(self, request: ModelRequest) -> Answer:
        """Collects the answer of one call. Raises ModelError (with `partial`)."""

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """A validated instance of `shape`, with up to two repairs. Raises ModelError(SCHEMA, partial=raw text).

        A `StructuredAnswer` may come with `unread` parts.
        """


class EmbeddingPort(Protocol):
    """Turns texts into vectors; `identity` changes when vectors are no longer comparable."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]: ...


class TokenCounter(Protocol):
    """Estimates tokens, calibrated by what providers report."""

    def count(self, text: str) -> int: ...
