"""The vectors of a project: their embedder, the permission to send texts to it, and the price."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError, SettingsError
from flowcabal_tui.domain.model_ports import EmbeddingPort
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.run import PAUSE_FACTOR, SpendLimit
from flowcabal_tui.locale import _
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.project.models.consent import Answer, EmbeddingConsent, EmbeddingQuote, not_agreed
from flowcabal_tui.project.models.kept_vectors import KeptEmbedder
from flowcabal_tui.project.models.lengths import usual_length
from flowcabal_tui.project.models.memory_gate import spending_rule
from flowcabal_tui.project.models.roles import ModelRoles
from flowcabal_tui.store import Store

PASSAGE: Final = 1_000
"""Characters, or fifths of a word, of a text that is indexed."""
DERIVED: Final = 3
"""Texts about a chapter that are indexed beside its own: a line, an overview, its story records."""
_MILLION: Final = Decimal(1_000_000)


class Embeddings:
    """Provides the project's embedder. Lives on the engine's loop."""

    def __init__(self, models: ModelRoles, store: Store, project: str, folder: Path, language: str) -> None:
        self._models, self._store, self._language = models, store, language
        self._consent = EmbeddingConsent(project, folder)

    @property
    def waits(self) -> bool:
        """True when a person must first allow texts to be sent."""
        endpoint = self._models.paid_embedding()
        return endpoint is not None and self._answer(endpoint) is None

    def _answer(self, endpoint: Endpoint) -> Answer | None:
        """The user's answer; an amount a day in their settings is a yes to a model with a price."""
        given = self._consent.answer(_name(endpoint))
        within = endpoint.price_in is not None and isinstance(spending_rule(), Decimal)
        return "yes" if given is None and within else given

    async def question(self) -> EmbeddingQuote | None:
        """The question to the user; None when none is needed."""
        endpoint = self._models.paid_embedding()
        return await self._quote(endpoint) if endpoint is not None and self.waits else None

    async def _quote(self, endpoint: Endpoint) -> EmbeddingQuote:
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.length]
        size = 1 if self._language == "zh" else 5
        texts = sum(-(-chapter.length * size // PASSAGE) + DERIVED for chapter in chapters)
        texts += len(await self._store.memory.entities())
        length = sum(chapter.length for chapter in chapters)
        tokens = usual_length(self._models.counter, self._language, length, ()) if length else 0
        tokens += tokens // 5 + 100 * len(chapters)
        cost = None if endpoint.price_in is None else endpoint.price_in * tokens / _MILLION
        return EmbeddingQuote(endpoint.model, texts, tokens, cost, endpoint.currency)

    async def answer(self, *, allow: bool) -> None:
        """Stores the user's answer; a yes pays for the texts of this moment. Raises SettingsError when it cannot be
        written."""
        endpoint = self._models.paid_embedding()
        if endpoint is None:
            return
        try:
            await asyncio.to_thread(self._consent.put, _name(endpoint), "yes" if allow else "no")
        except OSError as error:
            raise SettingsError(
                _("Your answer could not be saved."), os_reason(error), _("Nothing was sent. You will be asked again.")
            ) from error
        if allow:
            quote = await self._quote(endpoint)
            most = None if quote.cost is None else PAUSE_FACTOR * quote.cost
            limit = SpendLimit(PAUSE_FACTOR * quote.tokens, most, quote.currency)
            self._models.spending.vectors_gate.allow(limit)

    def embedder(self) -> EmbeddingPort:
        """The project's embedder, which stores its vectors; if texts may not be sent, the one that needs no network."""
        endpoint = self._models.paid_embedding()
        made = self._models.embedder()
        if isinstance(made, LexicalEmbedder):
            return made
        if endpoint is None:
            return KeptEmbedder(made, self._store.vectors, lambda: None, costs=False)
        if self._answer(endpoint) == "no":
            return LexicalEmbedder()
        pays = partial(self._models.spending.embedding, endpoint)
        return KeptEmbedder(made, self._store.vectors, partial(self._require, endpoint), pays, costs=True)

    def for_search(self) -> EmbeddingPort:
        """Like `embedder`, for a search that can do without vectors: uses words alone if nothing may be sent or
        spent."""
        try:
            self._require(self._models.paid_embedding())
            self._models.require_vector_budget()
            return self.embedder()
        except FlowCabalError:
            return LexicalEmbedder()

    def _require(self, endpoint: Endpoint | None) -> None:
        """Raises EmbeddingsNotAgreed."""
        if endpoint is not None and self._answer(endpoint) != "yes":
            raise not_agreed(endpoint.model)


def _name(endpoint: Endpoint) -> str:
    """The key of the user's answer: another model or another size needs another answer."""
    return f"{endpoint.identity}:{endpoint.dimensions}"
