"""The parts of an open project that are about its memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault, ProjectNotConfirmed, SettingsError
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.project.book.parts import BookFiles
from flowcabal_tui.project.memory.background import Background
from flowcabal_tui.project.memory.bootstrap import Bootstrap
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
from flowcabal_tui.project.memory.profiles import ProfileEditor
from flowcabal_tui.project.memory.read_chapters import ReadChapters
from flowcabal_tui.project.memory.rebuild import Rebuilder, RebuildTools
from flowcabal_tui.project.memory.search import Search
from flowcabal_tui.project.memory.sources import Sources
from flowcabal_tui.project.memory.step_tools import StepTools
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.project.memory.updates import MemoryUpdates
from flowcabal_tui.project.models.embeddings import Embeddings

log = logging.getLogger(__name__)


class MemoryParts:
    """Summaries, profiles, search, and the background work. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, agents: AgentFactory, files: BookFiles) -> None:
        self._base = base
        store, emit, project = base.store, base.emit, base.settings.project
        self.sources = Sources(store, base.kinds)
        self.knowledge = KnowledgeConnection(
            base.settings.knowledge,
            (project.id, project.name, base.folder),
            base.language,
            emit,
            self.catch_up,
            base.models.require_vector_budget,
            base.trust.require_knowledge,
        )
        self.embeddings = Embeddings(base.models, store, project.id, base.folder, base.language)
        self.search = Search(store, self.sources, self.knowledge, base.kinds)
        self.results = CheckResults(store, emit)
        self._tools = StepTools(
            store,
            self.sources,
            base.workshop,
            files.mirror,
            KnowledgeSteps(store, self.sources, self.knowledge.paid_sync),
            base.kinds,
            base.language,
            agents,
            self.results,
            ReadChapters(store, base.models),
            base.current_settings,
            files.outside,
            emit,
        )
        self.steps = Steps(self._tools)
        self.updates = MemoryUpdates(store, self.knowledge, self.steps, base.work)
        self.profiles = ProfileEditor(store, self.sources, base.kinds, emit, base.work.wake)
        self.background = Background(
            store.outbox,
            self._step,
            emit,
            base.clock,
            lambda: self.knowledge.is_up,
            lambda: base.trust.state != "restricted",
            base.work,
        )
        self.bootstrap = Bootstrap(store, base.models, self._tools, emit, base.clock, self.background, base.work.wake)
        self.rebuilder = Rebuilder(
            RebuildTools(store, base.workshop, self.background, self.knowledge, base.language, self.updates, emit)
        )

    async def _step(self, task: BackgroundTask) -> None:
        """Carries out a task; one that was done before reads the generation that it read then."""
        steps = self.steps if task.pinned is None else Steps(self._tools.restored(task.pinned))
        await steps.do(task)

    async def catch_up(self, held: Mapping[str, str]) -> None:
        """Queues the texts that the knowledge server, which holds `held`, lacks.

        Chapters may have moved, and tasks may have been done, while another server or none was in use. A kill may have
        come between a change of the story's records and its task.
        """
        chapters = await self._base.store.book.chapters()
        self.knowledge.set_positions({chapter.id: chapter.position for chapter in chapters})
        await self.steps.enqueue_story()
        await self.background.heal(held)

    async def start_knowledge(self) -> None:
        """Starts the knowledge server; a failure is shown in the status line and otherwise ignored."""
        try:
            agent = self._base.models.model("agent") if self._base.settings.knowledge.enabled else None
        except (ModelError, SettingsError):
            agent = None
        try:
            embedder = self.embeddings.embedder()
            if self.embeddings.waits and self.knowledge.asks():
                return
            await self.knowledge.start(embedder, agent)
        except (FlowCabalError, OSError) as error:
            if isinstance(error, ProjectNotConfirmed) or _is_not_confirmed(error):
                self.knowledge.held_back()
                return
            log.warning("knowledge server: %s", error)
            self.knowledge.failed(error.title if isinstance(error, FlowCabalError) else str(error))


def _is_not_confirmed(error: Exception) -> bool:
    return isinstance(error, ModelError) and error.fault is ModelFault.NOT_CONFIRMED
