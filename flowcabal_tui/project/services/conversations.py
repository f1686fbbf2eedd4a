"""Conversations with the book: questions, answers, and the search in earlier conversations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from flowcabal_tui.domain.conversation import AskQuote, Chip, Conversation, ConversationId, Turn
from flowcabal_tui.project.commands import Service, handles
from flowcabal_tui.protocol.conversations import (
    AnswerPermission,
    AskBook,
    DeleteConversation,
    SendWaiting,
    SetLevel,
    StartConversation,
    StopAnswer,
)

if TYPE_CHECKING:
    from flowcabal_tui.project.conversation.conversations import Conversations


class ConversationService(Service):
    """Questions and commands about conversations. Lives on the engine's loop."""

    @cached_property
    def _talks(self) -> Conversations:
        """Imports conversations at first use, so that a project opens faster."""
        from flowcabal_tui.project.conversation.conversations import Conversations

        made = Conversations(self._parts)
        self._parts.base.closes_first.append(made.close)
        return made

    async def conversations(self, words: str = "") -> tuple[Conversation, ...]:
        """The conversations whose title, questions or answers contain the words, the last used first."""
        return await self._parts.store.conversations.all(words)

    async def conversation(self, identity: ConversationId) -> Conversation:
        """One conversation, with its present level. Raises Gone."""
        return await self._talks.get(identity)

    async def turns(self, identity: ConversationId) -> tuple[Turn, ...]:
        """The turns of a conversation, oldest first."""
        return await self._parts.store.conversations.turns(identity)

    async def ask_quote(
        self, text: str, chips: Sequence[Chip] = (), conversation: ConversationId | None = None
    ) -> AskQuote:
        """The price of the first call of a question, with each chip; spends nothing."""
        return await self._talks.quote(conversation, text, tuple(chips))

    @handles(StartConversation)
    async def start(self, command: StartConversation) -> str:
        return (await self._parts.store.conversations.start(command.title)).id

    @handles(AskBook)
    async def ask(self, command: AskBook) -> str:
        self._parts.base.limits.hurry()
        return str(await self._talks.ask(command.conversation, command.text, command.chips))

    @handles(SendWaiting)
    async def send_waiting(self, command: SendWaiting) -> str:
        self._parts.base.limits.hurry()
        return str(await self._talks.send(command.conversation, command.turn))

    @handles(StopAnswer)
    async def stop(self, command: StopAnswer) -> None:
        await self._talks.stop(command.conversation)

    @handles(SetLevel)
    async def set_level(self, command: SetLevel) -> None:
        await self._talks.set_level(command.conversation, command.level, command.scope)

    @handles(AnswerPermission)
    async def permit(self, command: AnswerPermission) -> str:
        self._parts.base.limits.hurry()
        return await self._talks.permit(command.conversation, command.turn, command.call, command.option)

    @handles(DeleteConversation)
    async def delete(self, command: DeleteConversation) -> None:
        await self._talks.delete(command.conversation)
