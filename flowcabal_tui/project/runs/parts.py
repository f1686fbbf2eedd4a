"""The parts of an open project that are about workflows and their runs."""

from __future__ import annotations

from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.memory.parts import MemoryParts
from flowcabal_tui.project.runs.candidate_sources import CandidateSources
from flowcabal_tui.project.runs.comparing import Comparisons
from flowcabal_tui.project.runs.further import FurtherCandidates
from flowcabal_tui.project.runs.history import History
from flowcabal_tui.project.runs.manager import RunManager
from flowcabal_tui.project.runs.queries import RunQueries
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.project.runs.seaming import Seams
from flowcabal_tui.project.runs.services import RunServices
from flowcabal_tui.project.runs.sifting import Sifting
from flowcabal_tui.project.runs.versions import OutputVersions
from flowcabal_tui.project.workflows.actions import ProjectActions
from flowcabal_tui.project.workflows.graphs import Graphs


class RunParts:
    """Runs, their history and quotes, actions, versions of outputs, comparisons. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, agents: AgentFactory, memory: MemoryParts) -> None:
        store, emit, graphs = base.store, base.emit, Graphs()
        self.actions = ProjectActions(
            base.folder, base.settings.actions, store, memory.embeddings.for_search, base.language, base.trust
        )
        self.services = RunServices(base, agents, memory, self.actions)
        self.quotes = Quotes(store, base.models, base.current_settings)
        self.manager = RunManager(
            store,
            self.services.of,
            base.current_settings,
            emit,
            self.actions.require_valid,
            self.actions.require_confirmed,
            base.trust.renew_run,
            graphs,
            base.models.spending,
            self.quotes.agreed,
        )
        self.queries, self.history = RunQueries(store), History(store)
        self.versions = OutputVersions(store, emit, self.manager.imagined, graphs, base.trust, base.clock)
        sources = CandidateSources(store, self.versions, base.models)
        self.comparisons = Comparisons(store, sources, self.versions, self.manager, emit)
        self.further = FurtherCandidates(store, self.versions, self.manager, self.quotes)
        self.sifting = Sifting(store, sources, self.quotes, agents.rules, agents.monitor, emit)
        self.seams = Seams(store, sources, base.models, base.language)
