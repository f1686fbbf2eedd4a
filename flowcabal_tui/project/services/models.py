"""Models: those available, those permitted, and the user's confirmations for the project."""

from __future__ import annotations

from flowcabal_tui.domain.model_calls import EndpointCheck
from flowcabal_tui.domain.trust import TrustView
from flowcabal_tui.project.commands import Service, handles, passed_on
from flowcabal_tui.project.models.consent import EmbeddingQuote
from flowcabal_tui.project.models.found import found_models
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.startup import Startup
from flowcabal_tui.project.views import FoundModel
from flowcabal_tui.protocol.models import AnswerEmbeddings, ConfirmModels, ConfirmTrust


class ModelService(Service):
    """Questions and commands about models and project trust. Lives on the engine's loop."""

    passes_on = (passed_on(ConfirmModels, lambda parts, command: parts.adopt_models(command.identity)),)

    def __init__(self, parts: Parts, startup: Startup) -> None:
        super().__init__(parts)
        self._startup = startup

    async def found_models(self) -> tuple[FoundModel, ...]:
        """The models available on this machine or by key, the embedded one last; contacts no paid server."""
        return await found_models()

    async def check_models(self) -> tuple[EndpointCheck, ...]:
        """Makes one small call per role."""
        return await self._parts.base.models.check_all()

    async def trust(self) -> TrustView:
        """The permissions that the project requests, and those that the user confirmed."""
        return await self._parts.base.trust.view()

    async def embedding_question(self) -> EmbeddingQuote | None:
        """The question to ask before texts of the book are first sent to the embedding model; None: there is no need to
        ask.
        """
        return await self._parts.memory.embeddings.question()

    @handles(ConfirmTrust)
    async def confirm_trust(self, command: ConfirmTrust) -> None:
        await self._startup.confirm(command.items)

    @handles(AnswerEmbeddings)
    async def answer_embeddings(self, command: AnswerEmbeddings) -> None:
        await self._parts.memory.embeddings.answer(allow=command.allow)
        if self._parts.memory.knowledge.last.state == "asks":
            await self._parts.memory.start_knowledge()
