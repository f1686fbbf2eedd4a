"""A comparison in memory, as the screen asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from flowcabal_tui.agents.comparing.alignment import rows_of
from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.domain.comparison import (
    Candidate,
    ChoiceDraft,
    Comparison,
    ComparisonId,
    ComparisonTarget,
    Maker,
    OutcomeCount,
    SiftMark,
    Taken,
    Verdict,
)
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import Quote, Spend
from flowcabal_tui.domain.text import digest
from flowcabal_tui.project.words import spend_lines

BEATS = ("沈青在码头等船", "阿远交出那封信", "两人在雨中分别")
TEXTS = (
    "雾里，沈青站在码头边等船。\n\n阿远把那封信交到他手上。\n\n雨下起来，两人就在雨中分别了。",
    "码头上没有人，只有沈青还在等船。\n\n阿远迟迟不肯交出那封信。\n\n他们在雨里分别，谁也没有回头。",
    "沈青在码头等了一夜的船。\n\n两人在雨中分别。",
)
TARGET = ComparisonTarget(QuestionId("q1"), "openings", NodeId("open"))
PRICE = Quote((NodeId("open"),), (), Spend(2, 900, 400, Decimal("0.12")), Spend(4, 2000, 900, Decimal("0.5")))


def comparison(texts: Sequence[str] = TEXTS, beats: Sequence[str] = BEATS, title: str = "开头") -> Comparison:
    """Candidates in the order of `texts`; a mark stands against the third."""
    against = [()] * (len(texts) - 1) + [(SiftMark("beat", "没有找到计划中的情节点"),)]
    found = tuple(Candidate(digest(text), text, marks=mark) for text, mark in zip(texts, against, strict=True))
    return Comparison(ComparisonId("c1"), TARGET, title, 7, found, rows_of(beats, texts), None, True, True)


class FakeComparisonAccess:
    """Plays `ComparisonAccess`; `asked` notes what was asked for, `decided` the writer's words."""

    def __init__(self, shown: Comparison | None = None, draft: ChoiceDraft | None = None) -> None:
        self.shown, self.kept = shown or comparison(), draft or ChoiceDraft()
        self.asked: list[str] = []
        self.decided: list[tuple[Verdict, tuple[Taken, ...]]] = []
        self.changes: tuple[SeamHunk, ...] | None = None
        self.after_asking: tuple[SeamHunk, ...] = ()
        self.target = TARGET
        self.grows_to: Comparison | None = None

    async def comparison(self) -> Comparison:
        if len(self.shown.candidates) < 2:
            raise RunError("only one text")
        return self.shown

    async def draft(self, _comparison: Comparison) -> ChoiceDraft:
        return self.kept

    async def save(self, _comparison: Comparison, draft: ChoiceDraft) -> None:
        self.kept = draft

    async def decide(self, shown: Comparison, verdict: Verdict, taken: Sequence[Taken]) -> None:
        self.decided.append((verdict, tuple(taken)))
        makers = [Maker(RunId("r1"), NodeId(f"open/1/candidate-{n}"), 1, f"model-{n}") for n in range(1, 9)]
        told = tuple(replace(each, maker=maker) for each, maker in zip(shown.candidates, makers, strict=False))
        self.shown = replace(shown, candidates=told, verdict=replace(verdict, text=""), is_waiting=False)

    async def take_back(self, shown: Comparison) -> None:
        blind = tuple(replace(each, maker=None) for each in shown.candidates)
        self.shown = replace(shown, candidates=blind, verdict=None)

    def quote_price(self, quote: Quote) -> list[str]:
        return spend_lines(quote, asks=False, models="model-1")

    async def quote_more(self, count: int) -> Quote:
        self.asked.append(f"quote {count}")
        return PRICE

    async def more(self, count: int) -> None:
        self.asked.append(f"more {count}")
        if self.grows_to is not None:
            self.shown = self.grows_to

    async def quote_sift(self) -> Quote:
        self.asked.append("quote sift")
        return PRICE

    async def sift(self, *, model: bool) -> None:
        self.asked.append("sift by model" if model else "sift by rule")

    async def seams(self, _text: str, _taken: Sequence[Taken]) -> tuple[SeamHunk, ...] | None:
        return self.changes

    async def quote_seams(self, _text: str, _taken: Sequence[Taken]) -> Quote:
        self.asked.append("quote seams")
        return PRICE

    async def smooth(self, _text: str, _taken: Sequence[Taken]) -> None:
        self.asked.append("seams")
        self.changes = self.after_asking

    async def outcomes(self) -> tuple[OutcomeCount, ...]:
        return (OutcomeCount(Digest("p"), "开头", "model-1", '{"temperature": 1.0}', 2, 1, 3),)
