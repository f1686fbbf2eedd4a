"""Comparisons: candidates shown without their origin, checked against facts, chosen, composed, and reopened."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.domain.comparison import (
    Comparison,
    ComparisonId,
    ComparisonSummary,
    ComparisonTarget,
    OutcomeCount,
    Taken,
)
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.project.commands import Service, handles, passed_on
from flowcabal_tui.protocol.comparisons import (
    ComparisonChanged,
    DecideComparison,
    SiftCandidates,
    SmoothSeams,
    TakeBackChoice,
    WriteCandidates,
)


class ComparisonService(Service):
    """Questions and commands about candidates. Lives on the engine's loop."""

    passes_on = (
        passed_on(DecideComparison, lambda parts, command: parts.runs.comparisons.decide(command)),
        passed_on(TakeBackChoice, lambda parts, command: parts.runs.comparisons.take_back(command.comparison)),
        passed_on(SiftCandidates, lambda parts, command: parts.runs.sifting.sift(command)),
        passed_on(
            SmoothSeams, lambda parts, command: parts.runs.seams.smooth(command.target, command.text, command.taken)
        ),
    )

    async def comparison(self, target: ComparisonTarget) -> Comparison:
        """The candidates in display order, with their origin hidden until the choice. Raises RunError for fewer than
        two.
        """
        return await self._parts.runs.comparisons.comparison(target)

    async def comparisons(self, workflow: str = "", node: NodeId | None = None) -> tuple[ComparisonSummary, ...]:
        """The comparisons that wait for a choice, then earlier ones, the newest first."""
        return await self._parts.runs.comparisons.summaries(workflow, node)

    async def find_comparison(self, identity: ComparisonId) -> ComparisonTarget:
        """The target of a comparison. Raises UnknownName."""
        return await self._parts.runs.comparisons.find(identity)

    async def outcomes(self) -> tuple[OutcomeCount, ...]:
        """The number of wins, ties and losses of each prompt and model, over all choices."""
        return await self._store.comparisons.outcomes()

    async def quote_candidates(self, target: ComparisonTarget, count: int = 1) -> Quote:
        """The price of `count` further candidates. Raises RunError where none can be written."""
        return await self._parts.runs.further.quote(target, count)

    async def quote_sifting(self, target: ComparisonTarget) -> Quote:
        """The price of a check of all candidates by the agents' model. Raises ModelError without one."""
        await self._parts.base.models.learn_windows()
        return await self._parts.runs.sifting.quote(target)

    async def quote_seams(self, target: ComparisonTarget, text: str, taken: Sequence[Taken] = ()) -> Quote:
        """The price of smoothing the seams of a composed text. Raises RunError if the text has no seams."""
        return await self._parts.runs.seams.quote(target, text, taken)

    async def seam_changes(
        self, target: ComparisonTarget, text: str, taken: Sequence[Taken] = ()
    ) -> tuple[SeamHunk, ...] | None:
        """The proposed changes at the seams, one by one; None when they were not requested yet."""
        return await self._parts.runs.seams.hunks(target, text, taken)

    @handles(WriteCandidates)
    async def write_candidates(self, command: WriteCandidates) -> str | None:
        self._parts.base.limits.hurry()
        run = await self._parts.runs.further.write(command.target, command.count)
        self._parts.base.emit(ComparisonChanged())
        return run
