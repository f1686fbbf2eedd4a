"""Proposals of the tiny books: one of each kind, with a quotation, for the list."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    DECIDED,
    Difference,
    NewName,
    Proposal,
    ProposalFilter,
    ProposalId,
    ProposalPage,
    ProposalPlace,
    Reason,
)
from flowcabal_tui.domain.story import RecordId, Sequel
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision
from tests.tui.fake_books import Words, chapter_id
from tests.tui.fake_story import HERO, story


def proposals(words: Words) -> list[Proposal]:
    """What waits first: a name, a fact that would overrule, a relation to nobody; then what is in use."""
    zh, told = words.language == "zh", story(words)
    fact, salt, secret = told.facts
    enemy = told.relations[0]
    moved = replace(salt, id=RecordId("f9"), text="盐在船上。" if zh else "The salt is on the boat.")
    nobody = replace(enemy, id=RecordId("r9"), source=EntityId(""), kind="兄弟" if zh else "brother of")
    paid = Sequel(RecordId("s1"), told.promises[0].id, chapter_id(3))
    inn = Entity(EntityId("inn"), "location", "客栈" if zh else "The Inn", by="agent")

    def row(number: int, chapter: int, difference: Difference, reason: Reason, **more: str) -> Proposal:
        text, kind = words.texts[chapter - 1], more.get("kind", "fact")
        place = ProposalPlace(chapter_id(chapter), 0, 12)
        state = "applied" if reason.grounds == "quoted" else "waiting"
        made = Proposal(kind, place, text[:12], difference, reason, state=state)  # type: ignore[arg-type]
        return replace(made, id=ProposalId(f"p{number}"))

    return [
        row(1, 3, Difference(NewName(HERO, "月娘" if zh else "Mar")), Reason("rare"), kind="name"),
        row(2, 3, Difference(moved, salt), Reason("overrules", salt.text)),
        row(3, 3, Difference(nobody), Reason("unknown", "王五" if zh else "Wend"), kind="relation"),
        row(4, 3, Difference(inn), Reason(), kind="entity"),
        row(5, 3, Difference(paid, told.promises[0]), Reason(), kind="sequel"),
        row(6, 2, Difference(secret), Reason()),
        row(7, 2, Difference(told.relations[1]), Reason(), kind="relation"),
        row(8, 1, Difference(fact), Reason()),
        row(9, 1, Difference(told.promises[0]), Reason(), kind="promise"),
        row(10, 1, Difference(told.moments[1]), Reason(), kind="moment"),
    ]


class FakeProposals:
    """Lists, decides and takes back, as a project does."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.rows: list[Proposal] = []
        self.asked: list[tuple[int, int]] = []
        self._before: list[list[Proposal]] = []

    def fill(self) -> None:
        """One row of each kind."""
        self.rows = proposals(self._words)

    def page(self, where: ProposalFilter, offset: int, limit: int) -> ProposalPage:
        self.asked.append((offset, limit))
        fitting = [
            row
            for row in self.rows
            if (where.chapter is None or (row.place and row.place.chapter == where.chapter))
            and where.words.casefold() in f"{row.quotation} {row.difference}".casefold()
        ]
        rows = [row for row in fitting if not where.states or row.state in where.states]
        return ProposalPage(tuple(rows[offset : offset + limit]), offset, Counter(row.state for row in fitting))

    def carry_out(self, command: DecideProposals | CorrectProposal | UndoDecision) -> None:
        if isinstance(command, UndoDecision):
            self.rows = self._before.pop()
            return
        self._before.append(self.rows)
        if isinstance(command, CorrectProposal):
            ids, state = (command.proposal,), DECIDED[1]
        else:
            ids, state = command.proposals, DECIDED[0] if command.verdict == "confirm" else DECIDED[2]
        self.rows = [replace(row, state=state) if row.id in ids else row for row in self.rows]
