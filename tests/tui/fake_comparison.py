"""A project with one comparison, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

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
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import Quote, Spend
from flowcabal_tui.domain.text import digest
from flowcabal_tui.project.views import ProjectInfo
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.comparisons import (
    DecideComparison,
    SiftCandidates,
    SmoothSeams,
    TakeBackChoice,
    WriteCandidates,
)
from flowcabal_tui.tui.decisions.choice import read_draft, written_draft

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


class FakeComparisons:
    """Plays the project with its comparisons and drafts; `requests` notes what was requested, `decided` the choices."""

    def __init__(self, shown: Comparison | None = None, draft: ChoiceDraft | None = None) -> None:
        self.shown, self.kept = shown or comparison(), draft or ChoiceDraft()
        self.requests: list[str] = []
        self.decided: list[tuple[Verdict, tuple[Taken, ...]]] = []
        self.changes: tuple[SeamHunk, ...] | None = None
        self.after_asking: tuple[SeamHunk, ...] = ()
        self.target = TARGET
        self.grows_to: Comparison | None = None
        writer = Endpoint(provider="openai", model="model-1")
        self.info = ProjectInfo("book", "zh", Path("book"), False, False, (("user", writer), ("agent", writer)), "")
        self.comparisons = self.drafts = self

    async def carry_out(self, command: Command) -> None:
        match command:
            case DecideComparison():
                self.decided.append((command.verdict, command.taken))
                makers = [Maker(RunId("r1"), NodeId(f"open/1/candidate-{n}"), 1, f"model-{n}") for n in range(1, 9)]
                named = zip(self.shown.candidates, makers, strict=False)
                candidates = tuple(replace(each, maker=maker) for each, maker in named)
                verdict = replace(command.verdict, text="")
                self.shown = replace(self.shown, candidates=candidates, verdict=verdict, is_waiting=False)
            case TakeBackChoice():
                blind = tuple(replace(each, maker=None) for each in self.shown.candidates)
                self.shown = replace(self.shown, candidates=blind, verdict=None)
            case WriteCandidates():
                self.requests.append(f"more {command.count}")
                self.shown = self.grows_to or self.shown
            case SiftCandidates():
                self.requests.append("sift by model" if command.model else "sift by rule")
            case SmoothSeams():
                self.requests.append("seams")
                self.changes = self.after_asking

    async def comparison(self, _target: ComparisonTarget) -> Comparison:
        if len(self.shown.candidates) < 2:
            raise RunError("only one text")
        return self.shown

    async def draft(self, _key: str) -> str | None:
        return written_draft(self.kept)

    async def put_draft(self, _key: str, text: str | None) -> None:
        self.kept = read_draft(text)

    async def quote_candidates(self, _target: ComparisonTarget, count: int) -> Quote:
        self.requests.append(f"quote {count}")
        return PRICE

    async def quote_sifting(self, _target: ComparisonTarget) -> Quote:
        self.requests.append("quote sift")
        return PRICE

    async def seam_changes(
        self, _target: ComparisonTarget, _text: str, _taken: Sequence[Taken]
    ) -> tuple[SeamHunk, ...] | None:
        return self.changes

    async def quote_seams(self, _target: ComparisonTarget, _text: str, _taken: Sequence[Taken]) -> Quote:
        self.requests.append("quote seams")
        return PRICE

    async def outcomes(self) -> tuple[OutcomeCount, ...]:
        return (OutcomeCount(Digest("p"), "开头", "model-1", '{"temperature": 1.0}', 2, 1, 3),)
