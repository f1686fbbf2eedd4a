"""The parts of an open project for workflows and their runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from flowcabal_tui.domain.run import RunFilter, RunSummary
from flowcabal_tui.project.base import ProjectBase

if TYPE_CHECKING:
    from flowcabal_tui.project.agents import AgentFactory
    from flowcabal_tui.project.memory.parts import MemoryParts
    from flowcabal_tui.project.runs.candidate_sources import CandidateSources
    from flowcabal_tui.project.runs.comparing import Comparisons
    from flowcabal_tui.project.runs.further import FurtherCandidates
    from flowcabal_tui.project.runs.history import History
    from flowcabal_tui.project.runs.manager import RunManager
    from flowcabal_tui.project.runs.ports import RunPortsFactory
    from flowcabal_tui.project.runs.queries import RunQueries
    from flowcabal_tui.project.runs.quotes import Quotes
    from flowcabal_tui.project.runs.seaming import Seams
    from flowcabal_tui.project.runs.sifting import Sifting
    from flowcabal_tui.project.runs.versions import OutputVersions
    from flowcabal_tui.project.workflows.actions import ProjectActions
    from flowcabal_tui.project.workflows.graphs import Graphs


class RunParts:
    """Runs, their history and quotes, actions, versions of outputs, comparisons. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, agents: Callable[[], AgentFactory], memory: MemoryParts) -> None:
        self._base, self._store, self._agents, self._memory = base, base.store, agents, memory

    @cached_property
    def _graphs(self) -> Graphs:
        from flowcabal_tui.project.workflows.graphs import Graphs

        return Graphs()

    @cached_property
    def actions(self) -> ProjectActions:
        """The actions that nodes may call."""
        from flowcabal_tui.project.workflows.actions import ProjectActions

        return ProjectActions(self._base, self._memory.embeddings.for_search)

    @cached_property
    def ports(self) -> RunPortsFactory:
        """The dependencies of runs."""
        from flowcabal_tui.project.runs.ports import RunPortsFactory

        return RunPortsFactory(self._base, self._agents(), self._memory, self.actions)

    @cached_property
    def quotes(self) -> Quotes:
        """Quotes of runs."""
        from flowcabal_tui.project.runs.quotes import Quotes

        return Quotes(self._base)

    @cached_property
    def manager(self) -> RunManager:
        """Current runs."""
        from flowcabal_tui.project.runs.manager import RunManager

        return RunManager(self._base, self.ports, self.actions, self._graphs, self.quotes)

    @property
    def quiet(self) -> bool:
        """True when no run can continue without a person."""
        return "manager" not in vars(self) or self.manager.quiet

    async def close(self) -> None:
        """Suspends every run so that it can be resumed."""
        if "manager" in vars(self):
            await self.manager.close()

    async def summaries(self, limit: int, where: RunFilter) -> tuple[RunSummary, ...]:
        """The matching runs, newest first; one that is held in step mode is paused."""
        found = await self._store.runs.summaries(limit, where)
        return self.manager.with_pauses(found) if "manager" in vars(self) else found

    @cached_property
    def queries(self) -> RunQueries:
        """Nodes of runs with their texts."""
        from flowcabal_tui.project.runs.queries import RunQueries

        return RunQueries(self._store)

    @cached_property
    def history(self) -> History:
        """Recorded runs and their replay."""
        from flowcabal_tui.project.runs.history import History

        return History(self._store)

    @cached_property
    def versions(self) -> OutputVersions:
        """The versions of outputs."""
        from flowcabal_tui.project.runs.versions import OutputVersions

        return OutputVersions(self._base, self.manager.imagined, self._graphs)

    @cached_property
    def _sources(self) -> CandidateSources:
        from flowcabal_tui.project.runs.candidate_sources import CandidateSources

        return CandidateSources(self._store, self.versions, self._base.models)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Comparisons of candidates."""
        from flowcabal_tui.project.runs.comparing import Comparisons

        return Comparisons(self._base, self._sources, self.versions, self.manager)

    @cached_property
    def further(self) -> FurtherCandidates:
        """Further candidates."""
        from flowcabal_tui.project.runs.further import FurtherCandidates

        return FurtherCandidates(self._store, self.versions, self.manager, self.quotes)

    @cached_property
    def sifting(self) -> Sifting:
        """Checks of candidates against facts."""
        from flowcabal_tui.project.runs.sifting import Sifting

        return Sifting(self._base, self._sources, self.quotes, self._agents())

    @cached_property
    def seams(self) -> Seams:
        """The seams of a composed text."""
        from flowcabal_tui.project.runs.seaming import Seams

        return Seams(self._base, self._sources)
