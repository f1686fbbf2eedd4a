"""Requests of a conversation's screen to the project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flowcabal_tui.domain.conversation import (
    AskQuote,
    Chip,
    Conversation,
    ConversationId,
    ConversationLevel,
    PermissionOption,
    Scope,
    Turn,
)
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import OPEN_STATES, OutlineEdit, Proposal, ProposalId, TextEdit
from flowcabal_tui.protocol.conversations import (
    AnswerPermission,
    AskBook,
    DeleteConversation,
    SendWaiting,
    SetLevel,
    StartConversation,
    StopAnswer,
)
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project


class ConversationAccess:
    """Questions and commands of one project, for one conversation at a time."""

    def __init__(self, workbench: Project) -> None:
        self._workbench = workbench

    async def last(self) -> ConversationId:
        """The most recently used conversation, or a new one."""
        known = await self._workbench.conversations.conversations()
        return known[0].id if known else await self.new()

    async def known(self, identity: ConversationId | None) -> ConversationId:
        """This conversation if it still exists, else the most recent one."""
        if identity is None:
            return await self.last()
        try:
            return (await self.conversation(identity)).id
        except Gone:
            return await self.last()

    async def new(self) -> ConversationId:
        """A new conversation."""
        return ConversationId(await self._workbench.carry_out(StartConversation()))

    async def found(self, words: str = "") -> tuple[Conversation, ...]:
        """The conversations with these words, most recent first."""
        return await self._workbench.conversations.conversations(words)

    async def conversation(self, identity: ConversationId) -> Conversation:
        """One conversation with its current level."""
        return await self._workbench.conversations.conversation(identity)

    async def turns(self, identity: ConversationId) -> tuple[Turn, ...]:
        """The turns of a conversation."""
        return await self._workbench.conversations.turns(identity)

    async def cards(self, turns: Sequence[Turn]) -> dict[ProposalId, Proposal]:
        """The current proposals of these turns; missing ones are left out."""
        found: dict[ProposalId, Proposal] = {}
        for identity in (each for turn in turns for used in turn.used for each in used.proposals):
            try:
                found[identity] = await self._workbench.story.proposal(identity)
            except Gone:
                continue
        return found

    async def quote(self, identity: ConversationId, text: str, chips: Sequence[Chip]) -> AskQuote:
        """The price of a question."""
        return await self._workbench.conversations.ask_quote(text, chips, identity)

    async def chapters(self) -> tuple[Chapter, ...]:
        """The chapters in story order."""
        return await self._workbench.book.chapters()

    async def entities(self) -> tuple[Entity, ...]:
        """All names."""
        return await self._workbench.story.entities()

    async def ask(self, identity: ConversationId, text: str, chips: Sequence[Chip]) -> None:
        """Asks a question, and returns when it is answered."""
        await self._workbench.carry_out(AskBook(identity, text, tuple(chips)))

    async def send_waiting(self, identity: ConversationId, turn: int) -> None:
        """Sends a waiting question, or repeats one."""
        await self._workbench.carry_out(SendWaiting(identity, turn))

    def stop(self, identity: ConversationId) -> None:
        """Stops the answer at once."""
        self._workbench.send(StopAnswer(identity))

    async def set_level(self, identity: ConversationId, level: ConversationLevel, scope: Scope | None) -> None:
        """Sets the level from the next question on."""
        await self._workbench.carry_out(SetLevel(identity, level, scope))

    async def permit(self, turn: Turn, call: str, option: PermissionOption) -> None:
        """Answers the permission request of a call."""
        await self._workbench.carry_out(AnswerPermission(turn.conversation, turn.number, call, option))

    async def decide(self, card: ProposalId, *, accept: bool) -> None:
        """Accepts or refuses a card."""
        await self._workbench.carry_out(DecideProposals((card,), "confirm" if accept else "drop"))

    async def correct(self, card: ProposalId, edit: TextEdit | OutlineEdit) -> None:
        """Accepts a card as edited by the writer."""
        await self._workbench.carry_out(CorrectProposal(card, edit))

    async def note_build(self, card: Proposal, build: str) -> None:
        """Updates the card of a build with the decision made in its review, if any."""
        record = await self._workbench.builds.build(build)
        if record.decided and card.state in OPEN_STATES:
            await self.decide(card.id, accept=bool(record.saved))

    async def undo(self, card: ProposalId) -> None:
        """Undoes the decision on a card."""
        await self._workbench.carry_out(UndoDecision(card))

    async def delete(self, identity: ConversationId) -> None:
        """Deletes a conversation."""
        await self._workbench.carry_out(DeleteConversation(identity))
