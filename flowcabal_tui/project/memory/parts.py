"""The parts of an open project for its memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault, ProjectNotConfirmed, SettingsError
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.project.base import ProjectBase

if TYPE_CHECKING:
    from flowcabal_tui.project.agents import AgentFactory
    from flowcabal_tui.project.book.check_results import CheckResults
    from flowcabal_tui.project.book.parts import BookFiles
    from flowcabal_tui.project.memory.background import Background
    from flowcabal_tui.project.memory.bootstrap import Bootstrap
    from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
    from flowcabal_tui.project.memory.profiles import ProfileEditor
    from flowcabal_tui.project.memory.rebuild import Rebuilder
    from flowcabal_tui.project.memory.search import BookSearch
    from flowcabal_tui.project.memory.sources import Sources
    from flowcabal_tui.project.memory.step_tools import StepTools
    from flowcabal_tui.project.memory.steps import Steps
    from flowcabal_tui.project.memory.updates import MemoryUpdates
    from flowcabal_tui.project.models.embeddings import Embeddings

log = logging.getLogger(__name__)


class MemoryParts:
    """Summaries, profiles, search, and the background work. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, agents: Callable[[], AgentFactory], files: BookFiles) -> None:
        self._base, self._agents, self._files = base, agents, files

    @cached_property
    def sources(self) -> Sources:
        """Reads texts that are cited or found."""
        from flowcabal_tui.project.memory.sources import Sources

        return Sources(self._base.store, self._base.kinds)

    @cached_property
    def knowledge(self) -> KnowledgeConnection:
        """The knowledge server."""
        from flowcabal_tui.project.memory.knowledge import KnowledgeConnection, KnowledgeGuards

        base, project = self._base, self._base.settings.project
        return KnowledgeConnection(
            base.settings.knowledge,
            (project.id, project.name, base.folder),
            base.language,
            base.emit,
            self.catch_up,
            KnowledgeGuards(
                require_budget=base.models.require_vector_budget,
                require_confirmed=base.trust.require_knowledge,
                require_agreed=base.models.spending.require_vectors,
            ),
        )

    @cached_property
    def embeddings(self) -> Embeddings:
        """The embedding model."""
        from flowcabal_tui.project.models.embeddings import Embeddings

        base = self._base
        return Embeddings(base.models, base.store, base.settings.project.id, base.folder, base.language)

    @cached_property
    def search(self) -> BookSearch:
        """Searches words in the whole project."""
        from flowcabal_tui.project.memory.search import BookSearch

        return BookSearch(self._base.store, self.sources, self.knowledge, self._base.kinds)

    @cached_property
    def results(self) -> CheckResults:
        """Stores the findings of checks before they are displayed."""
        from flowcabal_tui.project.book.check_results import CheckResults

        return CheckResults(self._base.store, self._base.emit)

    @cached_property
    def _tools(self) -> StepTools:
        from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
        from flowcabal_tui.project.memory.read_chapters import ReadChapters
        from flowcabal_tui.project.memory.step_tools import StepTools

        base = self._base
        return StepTools(
            base,
            self.sources,
            self._files.mirror,
            KnowledgeSteps(base.store, self.sources, self.knowledge.paid_sync, self.knowledge.sending),
            self._agents(),
            self.results,
            ReadChapters(base.store, base.models),
            self._files.outside,
        )

    @cached_property
    def steps(self) -> Steps:
        """The steps of the background work."""
        from flowcabal_tui.project.memory.steps import Steps

        return Steps(self._tools)

    @cached_property
    def updates(self) -> MemoryUpdates:
        """Updates the memory after a change."""
        from flowcabal_tui.project.memory.updates import MemoryUpdates

        return MemoryUpdates(self._base, self.knowledge, self.steps)

    @cached_property
    def profiles(self) -> ProfileEditor:
        """Profiles and summaries."""
        from flowcabal_tui.project.memory.profiles import ProfileEditor

        return ProfileEditor(self._base, self.sources)

    @cached_property
    def background(self) -> Background:
        """The background work."""
        from flowcabal_tui.project.memory.background import Background

        return Background(self._base, self._step, lambda: self.knowledge.is_up)

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """The paid reading of imported chapters; see `begun_bootstrap`."""
        from flowcabal_tui.project.memory.bootstrap import Bootstrap

        return Bootstrap(self._tools, self.background)

    @cached_property
    def rebuilder(self) -> Rebuilder:
        """Regenerates derived texts."""
        from flowcabal_tui.project.memory.rebuild import Rebuilder

        return Rebuilder(self._base, self.background, self.knowledge, self.updates)

    async def begun_bootstrap(self) -> Bootstrap:
        """The reading of imported chapters, after it has loaded the state of an earlier process."""
        await self.bootstrap.begin()
        return self.bootstrap

    async def close(self) -> None:
        """Stops everything at once, the knowledge server last."""
        built = vars(self)
        if "bootstrap" in built:
            await self.bootstrap.close()
        await self._base.tasks.close()  # one of them may suspend the background and start it again
        if "background" in built:
            await self.background.close()
        if "knowledge" in built:
            await self.knowledge.close()

    async def _step(self, task: BackgroundTask) -> None:
        """Carries out a task; a repeated one reads the same generation as before."""
        from flowcabal_tui.project.memory.steps import Steps

        await self.bootstrap.begin()  # the steps ask which chapters were read
        steps = self.steps if task.pinned is None else Steps(self._tools.restored(task.pinned))
        await steps.do(task)

    async def catch_up(self, stored: Mapping[str, str]) -> None:
        """Queues the texts that the knowledge server lacks; `stored` is its content.

        Chapters may have moved, and tasks may have been done, while another server or none was in use. A kill may have
        come between a change of the story's records and its task.
        """
        chapters = await self._base.store.book.chapters()
        self.knowledge.set_positions({chapter.id: chapter.position for chapter in chapters})
        await self.steps.enqueue_story()
        await self.background.heal(stored)

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
                self.knowledge.report_unconfirmed()
                return
            log.warning("knowledge server: %s", error)
            self.knowledge.failed(error.title if isinstance(error, FlowCabalError) else str(error))


def _is_not_confirmed(error: Exception) -> bool:
    return isinstance(error, ModelError) and error.fault is ModelFault.NOT_CONFIRMED
