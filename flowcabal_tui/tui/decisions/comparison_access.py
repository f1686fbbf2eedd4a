"""Requests of the comparison of candidates to the project."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.domain.codec import from_json, to_json
from flowcabal_tui.domain.comparison import ChoiceDraft, Comparison, ComparisonTarget, OutcomeCount, Taken, Verdict
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.comparisons import (
    DecideComparison,
    SiftCandidates,
    SmoothSeams,
    TakeBackChoice,
    WriteCandidates,
)
from flowcabal_tui.tui.shared.spending import quote_price


class ComparisonAccess:
    """Reads and decides the candidates of one target."""

    def __init__(self, workbench: Project, target: ComparisonTarget) -> None:
        self._workbench, self.target = workbench, target

    async def comparison(self) -> Comparison:
        """The current candidates."""
        return await self._workbench.comparisons.comparison(self.target)

    async def draft(self, comparison: Comparison) -> ChoiceDraft:
        """The unfinished choice; an empty one when none can be read."""
        text = await self._workbench.drafts.draft(comparison.draft_key)
        try:
            return from_json(ChoiceDraft, text) if text else ChoiceDraft()
        except ValidationError:
            return ChoiceDraft()

    async def save(self, comparison: Comparison, draft: ChoiceDraft) -> None:
        """Stores an unfinished choice."""
        text = None if draft == ChoiceDraft() else to_json(draft)
        await self._workbench.drafts.put_draft(comparison.draft_key, text)

    async def decide(self, comparison: Comparison, verdict: Verdict, taken: Sequence[Taken]) -> None:
        """Records the writer's choice. The draft is kept in case it is undone."""
        await self._workbench.carry_out(DecideComparison(self.target, verdict, tuple(taken)))

    async def take_back(self, comparison: Comparison) -> None:
        """Reopens the choice."""
        await self._workbench.carry_out(TakeBackChoice(comparison.id))

    async def quote_more(self, count: int) -> Quote:
        """The price of further candidates."""
        return await self._workbench.comparisons.quote_candidates(self.target, count)

    async def more(self, count: int) -> RunId | None:
        """Requests further candidates; returns the run that asks again, for a question."""
        run = await self._workbench.carry_out(WriteCandidates(self.target, count))
        return RunId(run) if run else None

    async def quote_sift(self) -> Quote:
        """The price of a check of all candidates by the agents' model."""
        return await self._workbench.comparisons.quote_sifting(self.target)

    async def sift(self, *, model: bool) -> None:
        """Checks all candidates against facts."""
        await self._workbench.carry_out(SiftCandidates(self.target, model))

    async def seams(self, text: str, taken: Sequence[Taken]) -> tuple[SeamHunk, ...] | None:
        """The changes at the seams of this text, if they were requested."""
        return await self._workbench.comparisons.seam_changes(self.target, text, tuple(taken))

    async def quote_seams(self, text: str, taken: Sequence[Taken]) -> Quote:
        """The price of smoothing the seams."""
        return await self._workbench.comparisons.quote_seams(self.target, text, tuple(taken))

    def quote_price(self, quote: Quote) -> list[str]:
        """The lines of a price, with its models."""
        return quote_price(self._workbench, quote)

    async def smooth(self, text: str, taken: Sequence[Taken]) -> None:
        """Requests the changes at the seams."""
        await self._workbench.carry_out(SmoothSeams(self.target, text, tuple(taken)))

    async def outcomes(self) -> tuple[OutcomeCount, ...]:
        """The wins and losses over all choices."""
        return await self._workbench.comparisons.outcomes()
