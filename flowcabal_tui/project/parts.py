"""The parts of an open project and how they hang together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.missing import require_database
from flowcabal_tui.project.book.parts import BookFiles, BookParts
from flowcabal_tui.project.builder.parts import BuilderParts
from flowcabal_tui.project.logs import close_log, forget_in_log, open_log
from flowcabal_tui.project.memory.parts import MemoryParts
from flowcabal_tui.project.memory.purging import PurgeTools, Purging
from flowcabal_tui.project.models.found import found_model
from flowcabal_tui.project.runs.parts import RunParts
from flowcabal_tui.project.story.cards import NameCards
from flowcabal_tui.project.story.edits import ProposedEdits
from flowcabal_tui.project.story.findings import Findings
from flowcabal_tui.project.story.impact import ImpactReviews
from flowcabal_tui.project.story.proposals import ProposalService
from flowcabal_tui.project.story.records import StoryRecords
from flowcabal_tui.protocol.base import Event, Status
from flowcabal_tui.settings.project_file import ProjectSettings, load_project
from flowcabal_tui.settings.user_file import file_modes
from flowcabal_tui.store import Store
from flowcabal_tui.system.files import Modes


class Parts:
    """Built once for an open project: base, memory, book, runs. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, modes: Modes) -> None:
        self.base, self.store = base, base.store
        self.log: logging.Handler | None = None
        self.agents, files = AgentFactory(base), BookFiles(base, modes)
        self.memory = MemoryParts(base, self.agents, files)
        self.book = BookParts(base, files, self.memory.updates)
        self.story = StoryRecords(base.store, base.emit)
        self.cards = NameCards(base.store, base.kinds)
        self.findings = Findings(
            base.store,
            self.story,
            self.agents.rules,
            self.memory.results,
            self.agents.monitor,
            base.emit,
            base.clock,
        )
        self.runs = RunParts(base, self.agents, self.memory)
        self.builder = BuilderParts(base, self.agents, self.runs)
        edits = ProposedEdits(
            base.store,
            self.book.outlining,
            lambda: self.builder.builds,
            partial(base.models.name, "agent"),
            base.emit,
            base.work.wake,
            base.clock,
        )
        self.proposals = ProposalService(base.store, self.story, self.memory.steps, edits, base.emit)
        self.impacts = ImpactReviews(
            base.store, self.memory.steps, base.workshop, base.models, base.prompts, base.language, base.clock
        )
        self.purging = Purging(
            PurgeTools(
                base.folder,
                base.settings.project,
                base.store,
                files.mirror,
                self.memory.background,
                self.memory.knowledge,
                self.memory.start_knowledge,
                self.is_idle,
                self.memory.updates,
                self.forget_in_log,
                base.emit,
            )
        )

    @classmethod
    async def open(
        cls,
        folder: Path,
        emit: Callable[[Event], None],
        clock: Callable[[], datetime],
        *,
        read_only: bool,
        pace: float | None,
        trust: bool = False,
    ) -> Parts:
        """Raises ProjectError or SettingsError."""
        settings = load_project(folder)
        require_database(folder)
        modes, language = file_modes(), settings.project.language
        store = await Store.open(folder, read_only=read_only, clock=clock, language=language, modes=modes)
        try:
            parts = cls(ProjectBase(folder, settings, store, emit, clock, pace, trust=trust), modes)
            await parts.base.trust.begin()
            await parts.base.models.begin()
            await parts.memory.bootstrap.begin()
        except BaseException:  # cut off or not, the lock is let go
            await store.close()
            raise
        parts.log = open_log(folder, read_only=read_only)
        return parts

    def forget_in_log(self, holds: Callable[[str], bool]) -> None:
        """Removes the lines that `holds` is true of. Raises OSError."""
        if self.log is not None:
            forget_in_log(self.log, self.base.folder, holds)

    async def is_idle(self) -> bool:
        """True when no run and no paid job is in progress."""
        job = await self.memory.bootstrap.status()
        return self.runs.manager.idle and (job is None or job.state not in ("running", "pausing"))

    async def adopt_models(self, identity: str) -> None:
        """Plays the user's and the agents' role with a model that was found here, from now on. Raises SettingsError."""
        base = self.base
        endpoint = await found_model(identity)

        def adopt(settings: ProjectSettings) -> ProjectSettings:
            models = settings.models.model_copy(update={"user": endpoint, "agent": endpoint})
            return settings.model_copy(update={"models": models})

        await base.changes.change(adopt)
        await base.trust.renew_models(base.settings.models)

    async def close(self) -> None:
        """Runs first, so that their text is journalled; the store last."""
        base, memory = self.base, self.memory
        base.emit(Status("closing"))
        for close in base.closes_first:
            await close()
        await self.runs.manager.close()
        await memory.bootstrap.close()
        await base.tasks.close()  # one of them may suspend the background and start it again
        await memory.background.close()
        await memory.knowledge.close()
        await base.models.close()
        await base.workshop.close()
        await base.store.close()
        if self.log is not None:
            close_log(self.log)
