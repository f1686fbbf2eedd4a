"""Checks candidates against facts, by rule and by the agents' model: findings mark a candidate but decide nothing."""

from __future__ import annotations

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.domain.comparison import ComparisonTarget, comparison_id
from flowcabal_tui.domain.run import ANGLES, AngleCheck, Quote
from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs.candidate_sources import CandidateSources, Source, TargetSources
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.protocol.comparisons import ComparisonChanged, SiftCandidates, SiftProgress


class Sifting:
    """Sifts candidates. Lives on the engine's loop. Answers are paid for once, so an interrupted sifting can be
    resumed."""

    def __init__(self, base: ProjectBase, sources: CandidateSources, quotes: Quotes, agents: AgentFactory) -> None:
        self._store, self._emit = base.store, base.emit
        self._sources, self._quotes, self._agents = sources, quotes, agents

    async def quote(self, target: ComparisonTarget) -> Quote:
        """The quote of a check of all candidates by the agents' model. Raises ModelError without a model."""
        sources = await self._sources.of(target)
        return self._quotes.check_of([each.text for each in sources.candidates], self._agents.required_monitor())

    async def sift(self, command: SiftCandidates) -> None:
        """Checks one candidate after the other; each result is stored at once."""
        monitor = self._agents.required_monitor() if command.model else None
        sources = await self._sources.of(command.target)
        identity = comparison_id(sources.target, sources.digests)
        await self._store.comparisons.begin(identity, sources.target, sources.title, sources.digests)
        for done, source in enumerate(sources.candidates):
            self._emit(SiftProgress(done, len(sources.candidates)))
            checks = await self._checks(sources, source, monitor)
            await self._store.comparisons.put_checks(identity, source.digest, checks)
            self._emit(ComparisonChanged(identity))
        self._emit(SiftProgress(len(sources.candidates), len(sources.candidates)))

    async def _checks(self, sources: TargetSources, source: Source, monitor: Monitor | None) -> tuple[AngleCheck, ...]:
        generation, chapter = await self._store.memory.generation(), sources.target.chapter
        uri = f"draft/{sources.target.node}"
        view = await self._store.memory.view(chapter, generation)
        by_rule = await self._agents.rules.check(view, source.text, uri, sources.title)
        if monitor is None:
            return by_rule
        return (*by_rule, *await monitor.check_text(source.text, uri, sources.title, chapter, generation, ANGLES))
