"""A conversation in memory: what was asked, cards, a run that asks; commands are noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
from flowcabal_tui.tui.conversation.access import ConversationAccess
from flowcabal_tui.tui.conversation.controller import OtherPages
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


class FakeAccess(ConversationAccess):
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

    async def last(self) -> ConversationId:
        return TALK

    async def new(self) -> ConversationId:
        self.known.clear()
        return TALK

    async def found(self, words: str = "") -> tuple[Conversation, ...]:
        return (self.talk,) if words in self.talk.title else ()

    async def conversation(self, identity: ConversationId) -> Conversation:
        return self.talk

    async def turns(self, identity: ConversationId) -> tuple[Turn, ...]:
        return tuple(self.known)

    async def cards(self, turns: Sequence[Turn]) -> dict[ProposalId, Proposal]:
        return {self.card.id: self.card} if turns else {}

    async def quote(self, identity: ConversationId, text: str, chips: Sequence[Chip]) -> AskQuote:
        self.quoted_for = text
        costs = tuple(ChipCost(each, f"{each.kind} {HOSTILE}", 224) for each in chips)
        return AskQuote(costs, 7_263, "0.0021 USD", self.receipt)

    async def chapters(self) -> tuple[Chapter, ...]:
        return books.chapters(books.EN if self.language == "en" else books.ZH)

    async def entities(self) -> tuple[Entity, ...]:
        return (Entity(EntityId("mara"), "character", "Mara"),)

    async def ask(self, identity: ConversationId, text: str, chips: Sequence[Chip]) -> None:
        self.sent.append(("ask", text, tuple(chips)))

    async def send_waiting(self, identity: ConversationId, turn: int) -> None:
        self.sent.append(("send", turn))

    def stop(self, identity: ConversationId) -> None:
        self.sent.append(("stop",))

    async def set_level(self, identity: ConversationId, level: Any, scope: Any) -> None:
        self.sent.append(("level", level, scope))
        self.talk = replace(self.talk, level=level, scope=scope)

    async def permit(self, turn: Turn, call: str, option: Any) -> None:
        self.sent.append(("permit", call, option))

    async def decide(self, card: ProposalId, *, accept: bool) -> None:
        self.sent.append(("decide", card, accept))
        self.card = replace(self.card, state="confirmed" if accept else "dropped")

    async def correct(self, card: ProposalId, edit: Any) -> None:
        self.sent.append(("correct", card, edit))

    async def note_build(self, card: Proposal, build: str) -> None:
        self.sent.append(("note", build))

    async def undo(self, card: ProposalId) -> None:
        self.sent.append(("undo", card))
        self.card = replace(self.card, state="waiting")

    async def delete(self, identity: ConversationId) -> None:
        self.sent.append(("delete",))


def pages(access: FakeAccess) -> OtherPages:
    """Pages that note what they are to show."""

    async def correct(card: Proposal) -> None:
        access.sent.append(("form", card.id))

    async def review(build: str) -> None:
        access.sent.append(("review", build))

    return OtherPages(lambda receipt, title: access.sent.append(("receipt", receipt, title)), correct, review)
