"""A conversation in memory: what was asked, cards, a run that asks; commands are noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.conversation import (
    AskQuote,
    Chip,
    ChipCost,
    Citation,
    Conversation,
    ConversationId,
    Permission,
    Turn,
    UsedTool,
)
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    Difference,
    Origin,
    Proposal,
    ProposalId,
    ProposalPlace,
    Reason,
    TextEdit,
)
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.conversations import (
    AnswerPermission,
    AskBook,
    DeleteConversation,
    SendWaiting,
    SetLevel,
    StartConversation,
)
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision
from flowcabal_tui.tui.conversation.other_pages import OtherPages
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE

TALK = ConversationId("talk-1")
ASKED = {"en": ("Who counts the lamps?", "Make it shorter."), "zh": ("谁在数灯？", "写短一点。")}
SAID = {
    "en": ("She counts them. [[2|{quote}]] It is a lonely habit.", "I propose one edit."),
    "zh": ("是她在数。[[2|{quote}]]这是个孤单的习惯。", "我提出一处修改。"),
}
REASON = {"en": "It says the same in fewer words.", "zh": "意思不变，字数更少。"}
PRICE = {"en": "At most: 0.02 USD", "zh": "最多：0.02 USD"}
AFTER = {"en": "She waits.", "zh": "她等着。"}


class FakeTalk:
    """Two turns: an answer with a place, and an edit with a run that asks."""

    def __init__(self, language: str = "en") -> None:
        self.language, self.sent = language, list[Any]()
        self.receipt: Receipt | None = None
        self.quoted_for = ""
        text = (books.EN if language == "en" else books.ZH).texts[1]
        self.quoted = text[:12].strip()
        answers = [each.format(quote=self.quoted) for each in SAID[language]]
        start, end = answers[0].index("[["), answers[0].index("]]") + 2
        chapter = books.chapter_id(2)
        cited = (Citation(start, end, chapter, self.quoted, 0, len(self.quoted), found=True),)
        edit = TextEdit("e1", chapter, self.quoted, AFTER[language])
        self.card = Proposal(
            "edit", ProposalPlace(chapter, 0, len(self.quoted)), self.quoted, Difference(edit),
            Reason("worded", REASON[language]), Origin("agent", "conversation"), id=ProposalId("p1"),
        )  # fmt: skip
        asked = UsedTool("1.2", "start_run", "execute", "pending",
                         permission=Permission("run", "chapter", chapter, "", PRICE[language]))  # fmt: skip
        used = (UsedTool("1.1", "propose_edit", "edit", "completed", proposals=(self.card.id,)), asked)
        done: dict[str, Any] = {"state": "completed", "stop": "end_turn", "input_tokens": 4_000, "output_tokens": 120}
        self.talk = Conversation(TALK, ASKED[language][0], books.NOW, books.NOW, "suggest", None, 2)
        self.known = [
            Turn(TALK, 1, ASKED[language][0], books.NOW, answer=answers[0], citations=cited, **done),
            Turn(TALK, 2, ASKED[language][1], books.NOW, answer=answers[1], used=used, **done),
        ]

    @property
    def project(self) -> Any:
        """The part of a project that the panel uses."""
        return SimpleNamespace(
            conversations=SimpleNamespace(
                conversations=self.found, conversation=self.conversation, turns=self.turns,
                ask_quote=lambda *asked: self.quote(*asked),
            ),
            book=SimpleNamespace(chapters=self.chapters),
            story=SimpleNamespace(entities=self.entities, proposal=self.proposal),
            builds=SimpleNamespace(build=self.build),
            carry_out=self.carry_out,
            send=lambda command: self.sent.append(("stop",)),
        )  # fmt: skip

    async def found(self, words: str = "") -> tuple[Conversation, ...]:
        return (self.talk,) if words in self.talk.title else ()

    async def conversation(self, identity: ConversationId) -> Conversation:
        return self.talk

    async def turns(self, identity: ConversationId) -> tuple[Turn, ...]:
        return tuple(self.known)

    async def proposal(self, identity: ProposalId) -> Proposal:
        return self.card

    async def build(self, identity: str) -> Any:
        self.sent.append(("note", identity))
        return SimpleNamespace(decided=False)

    async def quote(self, text: str, chips: Sequence[Chip], identity: ConversationId) -> AskQuote:
        self.quoted_for = text
        costs = tuple(ChipCost(each, f"{each.kind} {HOSTILE}", 224) for each in chips)
        return AskQuote(costs, 7_263, "0.0021 USD", self.receipt)

    async def chapters(self) -> tuple[Chapter, ...]:
        return books.chapters(books.EN if self.language == "en" else books.ZH)

    async def entities(self) -> tuple[Entity, ...]:
        return (Entity(EntityId("mara"), "character", "Mara"),)

    async def carry_out(self, command: Command) -> str:
        match command:
            case StartConversation():
                self.known.clear()
            case AskBook(text=text, chips=chips):
                self.sent.append(("ask", text, chips))
            case SendWaiting(turn=turn):
                self.sent.append(("send", turn))
            case SetLevel(level=level, scope=scope):
                self.sent.append(("level", level, scope))
                self.talk = replace(self.talk, level=level, scope=scope)
            case AnswerPermission(call=call, option=option):
                self.sent.append(("permit", call, option))
            case DecideProposals(proposals=(card,), verdict=verdict):
                self.sent.append(("decide", card, verdict == "confirm"))
                self.card = replace(self.card, state="confirmed" if verdict == "confirm" else "dropped")
            case CorrectProposal():
                self.sent.append(("correct", command.proposal, command.change))
            case UndoDecision(proposal=card):
                self.sent.append(("undo", card))
                self.card = replace(self.card, state="waiting")
            case DeleteConversation():
                self.sent.append(("delete",))
        return TALK


def pages(talk: FakeTalk) -> OtherPages:
    """Pages that note what they are to show."""

    async def correct(card: Proposal) -> None:
        talk.sent.append(("form", card.id))

    async def review(build: str) -> None:
        talk.sent.append(("review", build))

    return OtherPages(lambda receipt, title: talk.sent.append(("receipt", receipt, title)), correct, review)
