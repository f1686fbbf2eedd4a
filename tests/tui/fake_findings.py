"""Findings of the tiny books: of a rule against an earlier chapter, of one passage alone, of a draft."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from flowcabal_tui.domain.findings import (
    SHOWN,
    CheckRate,
    CheckReport,
    FindingFilter,
    FindingPage,
    FindingRow,
)
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, Proposal, ProposalId, ProposalPlace
from flowcabal_tui.domain.run import AngleCheck, Quotation, Quote, Spend
from flowcabal_tui.protocol.findings import ChangeFromHere, DecideFindings
from flowcabal_tui.protocol.story import UndoDecision
from tests.tui.fake_books import NOW, Words, chapter_id
from tests.tui.fake_story import HERO


def findings(words: Words) -> list[FindingRow]:
    """Six of chapter 3, one of chapter 2, one of a draft of chapter 4."""
    zh = words.language == "zh"
    first, second, third = words.texts[:3]

    def row(number: int, chapter: int, quoted: str, said: str, check: str, *, sure: bool = True, draft: str = ""):
        text = words.texts[chapter - 1] if chapter <= len(words.texts) else ""
        start = max(0, text.find(quoted))
        place = ProposalPlace(chapter_id(chapter), start, start + len(quoted))
        at = first.find(said) if said else 0
        uri = f"manuscript/{chapter_id(1)}" if said else ""
        source = Quotation(said, uri, at, at + len(said), words.titles[0] if said else "")
        why = "与前文不符。" if zh else "It does not agree with an earlier chapter."
        finding = Finding("", why, source, 0.7, sure, (HERO,), draft)
        origin = Origin("rule", check)
        made = Proposal("finding", place, quoted, Difference(finding), origin=origin, id=ProposalId(f"f{number}"))
        return FindingRow(made, NOW - timedelta(days=number))

    pieces = [third[n * 4 : n * 4 + 8] for n in range(6)]
    checks = ("ages", "looks", "repeated", "sides", "amounts", "leftovers")
    return [
        row(1, 2, second[:14], first[:12], "dead-acts"),
        *(
            row(2 + n, 3, piece, first[:12] if n < 4 else "", check, sure=n < 3)
            for n, (piece, check) in enumerate(zip(pieces, checks, strict=True))
        ),
        row(8, 4, words.first_draft[:10], first[:12], "colours", draft="draft"),
    ]


class FakeFindings:
    """Lists, decides and takes back, as a project does."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.rows: list[FindingRow] = []
        self.asked: list[tuple[int, int]] = []
        self.unread = ()
        self._before: list[list[FindingRow]] = []

    def fill(self) -> None:
        """Some of each."""
        self.rows = findings(self._words)

    async def findings(self, where: FindingFilter, offset: int = 0, limit: int = 100) -> FindingPage:
        self.asked.append((offset, limit))
        fitting = [
            row
            for row in self.rows
            if (not where.chapters or row.proposal.place.chapter in where.chapters)
            and where.words.casefold() in f"{row.proposal.quotation}".casefold()
        ]
        rows = [row for row in fitting if not where.states or row.proposal.state in where.states]
        listed: list[FindingRow] = []
        for row in rows:
            same = [each for each in listed if each.proposal.place.chapter == row.proposal.place.chapter]
            if where.folded or len(same) < SHOWN:
                listed.append(row)
            else:
                at = listed.index(same[-1])
                listed[at] = replace(same[-1], folded=same[-1].folded + 1)
        counts = Counter(row.proposal.state for row in fitting)
        shown = tuple(listed[offset : offset + limit])
        return FindingPage(shown, offset, len(listed), len(rows) - len(listed), counts)

    async def finding_report(self) -> CheckReport:
        missing = ((chapter_id(3), AngleCheck("timeline", "not checked", "No answer.")),)
        return CheckReport(3, 3 - len(self.unread), 1, self.unread, missing, (CheckRate("ages", 9, 4, 1),))

    async def quote_check(self, first: int | None = None, last: int | None = None) -> Quote:
        return Quote((), (), Spend(6, 9_000, 3_000, Decimal("0.02")), Spend(18, 40_000, 9_000, Decimal("0.07")), (), ())

    def carry_out(self, command: DecideFindings | ChangeFromHere | UndoDecision) -> None:
        if isinstance(command, UndoDecision):
            self.rows = self._before.pop()
            return
        self._before.append(self.rows)
        if isinstance(command, ChangeFromHere):
            ids, state, word = (command.finding,), "changed", ""
        else:
            ids, state, word = command.findings, command.verdict, command.reason
        self.rows = [
            replace(row, proposal=replace(row.proposal, state=state), word=word) if row.proposal.id in ids else row
            for row in self.rows
        ]
