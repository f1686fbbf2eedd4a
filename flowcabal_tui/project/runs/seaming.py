"""Smooths the seams of a composed text: quotes the price, asks once, and returns single changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flowcabal_tui.agents.comparing.seams import Seam, SeamChanges, SeamHunk, hunks_of, seam_request, seams_of
from flowcabal_tui.agents.comparing.sources import paragraph_sources
from flowcabal_tui.domain.comparison import ComparisonTarget, Taken
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs.candidate_sources import CandidateSources
from flowcabal_tui.project.runs.tally import Tally

_SEAM_TOKENS: Final = 160
"""Tokens of a usual answer for one seam."""


class Seams:
    """Smooths seams. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, sources: CandidateSources) -> None:
        self._sources, self._models, self._language = sources, base.models, base.language

    async def quote(self, target: ComparisonTarget, text: str, taken: Sequence[Taken]) -> Quote:
        """The price of the pass. Raises RunError for a text without seams, ModelError without a model."""
        request, seams = await self._request(target, text, taken)
        model, counter, tally = self._models.paid("user"), self._models.counter, Tally()
        if await model.stored(request, SeamChanges) is None:
            tally.structured("writing", model.endpoint, counter, request, SeamChanges, _SEAM_TOKENS * len(seams))
        return tally.quote()

    async def smooth(self, target: ComparisonTarget, text: str, taken: Sequence[Taken]) -> None:
        """Asks the model, and stores the answer. Raises RunError or ModelError."""
        request, _seams = await self._request(target, text, taken)
        await self._models.paid("user").structured(request, SeamChanges)

    async def hunks(self, target: ComparisonTarget, text: str, taken: Sequence[Taken]) -> tuple[SeamHunk, ...] | None:
        """The changes proposed for exactly this text; None when they were not requested. Spends nothing."""
        request, seams = await self._request(target, text, taken)
        answer = await self._models.paid("user").stored(request, SeamChanges)
        return None if answer is None else hunks_of(clean(text), seams, answer)

    async def _request(
        self, target: ComparisonTarget, text: str, taken: Sequence[Taken]
    ) -> tuple[ModelRequest, tuple[Seam, ...]]:
        sources = await self._sources.of(target)
        found = paragraph_sources(text, {each.digest: each.text for each in sources.candidates}, taken)
        seams = seams_of(clean(text), [each.taken.candidate if each else None for each in found])
        if not seams:
            raise RunError(_("The text has no seams: all of it is from one candidate."), _("Nothing was sent."))
        return seam_request(clean(text), seams, self._language), seams
