"""Checks candidates against facts, by rule and by the agents' model: findings mark a candidate but decide nothing."""

from __future__ import annotations

from collections.abc import Callable

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.domain.comparison import ComparisonTarget, comparison_id
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.run import ANGLES, AngleCheck, Quote
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.rule_checks import RuleChecks
from flowcabal_tui.project.runs.candidate_sources import CandidateSources, Source, TargetSources
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.comparisons import ComparisonChanged, SiftCandidates, SiftProgress
from flowcabal_tui.store import Store


class Sifting:
    """Sifts candidates. Lives on the engine's loop. Answers are paid for once, so an interrupted sifting can be
    resumed."""

    def __init__(
        self,
        store: Store,
        sources: CandidateSources,
        quotes: Quotes,
        rules: RuleChecks,
        monitor: Callable[[], Monitor | None],
        emit: Callable[[Event], None],
    ) -> None:
        self._store, self._sources, self._quotes = store, sources, quotes
        self._rules, self._monitor, self._emit = rules, monitor, emit

    async def quote(self, target: ComparisonTarget) -> Quote:
        """The quote of a check of all candidates by the agents' model. Raises ModelError without a model."""
        sources = await self._sources.of(target)
        return self._quotes.check_of([each.text for each in sources.candidates], self._required())

    def _required(self) -> Monitor:
        monitor = self._monitor()
        if monitor is None:
            raise ModelError(ModelFault.NOT_CONFIGURED, _("Checks by a model are switched off in this book."))
        return monitor

    async def sift(self, command: SiftCandidates) -> None:
        """Checks one candidate after the other; each result is stored at once."""
        monitor = self._required() if command.model else None
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
        by_rule = await self._rules.check(view, source.text, uri, sources.title)
        if monitor is None:
            return by_rule
        return (*by_rule, *await monitor.check_text(source.text, uri, sources.title, chapter, generation, ANGLES))
