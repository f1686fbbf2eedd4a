"""The parts of an open project and their connections."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.mirror import MIRROR_NAME
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.logs import close_log, forget_in_log, open_log
from flowcabal_tui.protocol.base import Event, Status
from flowcabal_tui.settings.file_modes import file_modes
from flowcabal_tui.settings.opening import open_settings
from flowcabal_tui.settings.paths import MANUSCRIPT, PROJECT_STATE
from flowcabal_tui.store import Store
from flowcabal_tui.store.store import DATABASE
from flowcabal_tui.system.files import Modes

if TYPE_CHECKING:
    from flowcabal_tui.project.agents import AgentFactory
    from flowcabal_tui.project.book.parts import BookFiles, BookParts
    from flowcabal_tui.project.builder.builds import Builds
    from flowcabal_tui.project.memory.parts import MemoryParts
    from flowcabal_tui.project.memory.purging import Purging
    from flowcabal_tui.project.runs.parts import RunParts
    from flowcabal_tui.project.story.beat_reading import BeatReading
    from flowcabal_tui.project.story.cards import NameCards
    from flowcabal_tui.project.story.findings import Findings
    from flowcabal_tui.project.story.impact import ImpactReviews
    from flowcabal_tui.project.story.proposals import ProposalDecisions
    from flowcabal_tui.project.story.reader_notes import ReaderNotes
    from flowcabal_tui.project.story.records import StoryRecords
    from flowcabal_tui.settings.project_file import ProjectSettings


class Parts:
    """The parts of an open project. Lives on the engine's loop.

    A part is imported and built on first use (decision 38), since most uses of a project need few of them.
    """

    def __init__(self, base: ProjectBase, modes: Modes) -> None:
        self.base, self.store, self._modes = base, base.store, modes
        self.log: logging.Handler | None = None

    @cached_property
    def agents(self) -> AgentFactory:
        """Makes agents by the current settings."""
        from flowcabal_tui.project.agents import AgentFactory

        return AgentFactory(self.base)

    @cached_property
    def _files(self) -> BookFiles:
        from flowcabal_tui.project.book.parts import BookFiles

        return BookFiles(self.base, self._modes)

    @cached_property
    def memory(self) -> MemoryParts:
        """Summaries, profiles, search, the background work."""
        from flowcabal_tui.project.memory.parts import MemoryParts

        return MemoryParts(self.base, lambda: self.agents, self._files)

    @cached_property
    def book(self) -> BookParts:
        """Chapters, kept texts, outline, imports."""
        from flowcabal_tui.project.book.parts import BookParts

        return BookParts(self.base, self._files, lambda before: self.memory.updates.chapters_placed(before))

    @cached_property
    def story(self) -> StoryRecords:
        """The story's records."""
        from flowcabal_tui.project.story.records import StoryRecords

        return StoryRecords(self.store, self.base.emit)

    @cached_property
    def cards(self) -> NameCards:
        """Cards of names."""
        from flowcabal_tui.project.story.cards import NameCards

        return NameCards(self.store, self.base.kinds)

    @cached_property
    def beat_reading(self) -> BeatReading:
        """The advice of a model on the beats of chapters."""
        from flowcabal_tui.project.story.beat_reading import BeatReading

        return BeatReading(self.base)

    @cached_property
    def findings(self) -> Findings:
        """Findings of checks."""
        from flowcabal_tui.project.story.findings import Findings

        return Findings(self.base, self.story, self.agents, self.memory.results)

    @cached_property
    def notes(self) -> ReaderNotes:
        """Notes of readers."""
        from flowcabal_tui.project.story.reader_notes import ReaderNotes

        return ReaderNotes(self.store.comments)

    @cached_property
    def runs(self) -> RunParts:
        """Runs, their history and quotes, actions, versions of outputs, comparisons."""
        from flowcabal_tui.project.runs.parts import RunParts

        return RunParts(self.base, lambda: self.agents, self.memory)

    @cached_property
    def builds(self) -> Builds:
        """The builds of workflows."""
        from flowcabal_tui.project.builder.builds import Builds

        return Builds(self.base, self.agents, self.runs)

    @cached_property
    def proposals(self) -> ProposalDecisions:
        """Decisions on proposals about the book and its story."""
        from flowcabal_tui.project.story.edits import ProposedEdits
        from flowcabal_tui.project.story.proposals import ProposalDecisions

        edits = ProposedEdits(self.base, self.book.outlining, lambda: self.builds)
        return ProposalDecisions(self.base, self.story, self.memory.steps, edits)

    @cached_property
    def impacts(self) -> ImpactReviews:
        """Reviews of the places that depend on a change."""
        from flowcabal_tui.project.story.impact import ImpactReviews

        return ImpactReviews(self.base, self.memory.steps)

    @cached_property
    def purging(self) -> Purging:
        """The removal of texts for good."""
        from flowcabal_tui.project.memory.purging import Purging

        return Purging(self.base, self._files.mirror, self.memory, self.is_idle, self.forget_in_log)

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
        complete: bool = True,
    ) -> Parts:
        """Opens the parts of a project. Without `complete`, only the book can be read and written until `base.complete`
        is called.

        Raises ProjectError or SettingsError.
        """
        opened = open_settings(folder)
        require_database(folder)
        modes = file_modes()
        store = await Store.open(folder, read_only=read_only, clock=clock, language=opened.language, modes=modes)
        try:
            parts = cls(ProjectBase(folder, opened, store, emit, clock, pace, trust=trust), modes)
            store.skipped.on_first = parts._report_skipped
            if complete:
                await parts.base.complete()
        except BaseException:  # interrupted or not, the lock is released
            await store.close()
            raise
        parts.log = open_log(folder, read_only=read_only)
        return parts

    def _report_skipped(self, what: str, count: int) -> None:
        from flowcabal_tui.project.words import skipped_words

        self.base.emit(Status("error", skipped_words(what, count)))

    def forget_in_log(self, holds: Callable[[str], bool]) -> None:
        """Removes the log lines for which `holds` is true. Raises OSError."""
        if self.log is not None:
            forget_in_log(self.log, self.base.folder, holds)

    @property
    def quiet(self) -> bool:
        """True when no run can continue without a person. Thread-safe."""
        return "runs" not in vars(self) or self.runs.quiet

    async def is_idle(self) -> bool:
        """True when no run and no paid job is in progress."""
        job = await (await self.memory.begun_bootstrap()).status()
        return self.runs.manager.idle and (job is None or job.state not in ("running", "pausing"))

    async def adopt_models(self, identity: str) -> None:
        """Uses a model found on this machine for the user's and the agents' role from now on. Raises SettingsError."""
        from flowcabal_tui.project.models.found import found_model

        base = self.base
        endpoint = await found_model(identity)

        def adopt(settings: ProjectSettings) -> ProjectSettings:
            models = settings.models.model_copy(update={"user": endpoint, "agent": endpoint})
            return settings.model_copy(update={"models": models})

        await base.settings_file.change(adopt)
        await base.trust.renew_models(base.settings.models)

    async def stop(self) -> None:
        """Ends all work, the runs first, so that their text is journalled."""
        base = self.base
        base.emit(Status("closing"))
        for close in base.closes_first:
            await close()
        if "runs" in vars(self):
            await self.runs.close()
        if "memory" in vars(self):
            await self.memory.close()
        else:
            await base.tasks.close()
        await base.stop()

    async def close_files(self) -> None:
        """Closes the store and the log."""
        await self.base.store.close()
        if self.log is not None:
            close_log(self.log)


def require_database(folder: Path) -> None:
    """Raises ProjectDamaged where the database is missing or empty although chapters lie in the manuscript folder."""
    file = folder / PROJECT_STATE / DATABASE
    try:
        there = file.stat().st_size > 0
    except OSError:
        there = False
    if there:
        return
    try:
        chapters = sum(MIRROR_NAME.fullmatch(path.name) is not None for path in (folder / MANUSCRIPT).iterdir())
    except OSError:
        chapters = 0
    if not chapters:
        return
    title = _("The project's database is empty: {file}") if file.exists() else _("The project has no database: {file}")
    advice = _(
        "`flowcabal-tui rescue {project} --to FOLDER` extracts the intact texts, and makes a new project from them."
    )
    raise ProjectDamaged(
        title.format(file=file),
        _("Its manuscript folder contains {n} chapters. Nothing was opened or changed.").format(n=chapters),
        advice.format(project=folder),
    )
