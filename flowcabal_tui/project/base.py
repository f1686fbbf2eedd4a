"""State shared by all parts of an open project."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import FlowCabalError, Gone, UnknownName
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.project.engine import Tasks
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol.base import Event, Status
from flowcabal_tui.settings.opening import OpenedSettings
from flowcabal_tui.store import Store

if TYPE_CHECKING:
    from flowcabal_tui.agents.profile_kinds import ProfileKinds
    from flowcabal_tui.agents.prompt_library import PromptLibrary
    from flowcabal_tui.project.models.roles import ModelRoles
    from flowcabal_tui.project.settings import SettingsInForce
    from flowcabal_tui.project.trust.service import Trust
    from flowcabal_tui.runner.limits import Limits
    from flowcabal_tui.settings.project_file import ProjectSettings

log = logging.getLogger(__name__)


class WorkSignal:
    """Wakes every lane of the background work. Lives on the engine's loop."""

    def __init__(self) -> None:
        self._lanes: list[asyncio.Event] = []

    def lane(self) -> asyncio.Event:
        """An event that each `wake` sets."""
        self._lanes.append(asyncio.Event())
        return self._lanes[-1]

    def wake(self) -> None:
        """Announces new work, or that the knowledge server is available."""
        for event in self._lanes:
            event.set()


class ProjectBase:
    """The folder, settings, store and models of an open project. Lives on the engine's loop.

    The parts for model calls are imported and built on first use (decision 38).
    """

    def __init__(
        self,
        folder: Path,
        opened: OpenedSettings,
        store: Store,
        emit: Callable[[Event], None],
        clock: Callable[[], datetime],
        pace: float | None,
        *,
        trust: bool = False,
    ) -> None:
        """With `trust`, the user confirms everything in the folder until the program ends."""
        self.folder, self.store, self.emit, self.clock = folder, store, emit, clock
        self.language = opened.language
        self._opened, self._pace, self._trusts = opened, pace, trust
        self.tasks, self.workshop, self.work = Tasks(self._task_failed), Workshop(), WorkSignal()
        self.closes_first: list[Callable[[], Awaitable[None]]] = []
        """Called before the runs end when the project is closed."""
        self._completing, self._is_complete = asyncio.Lock(), False

    def _task_failed(self, error: BaseException) -> None:
        log.error("a task of the project ended", exc_info=error)
        words = sentences(error.title, error.detail) if isinstance(error, FlowCabalError) else repr(error)
        self.emit(Status("error", clean_line(words)))

    async def complete(self) -> None:
        """Reads, once, the user's confirmations and the costs of models. Raises SettingsError or ProjectError."""
        async with self._completing:
            if not self._is_complete:
                await self.trust.begin()
                await self.models.begin()
                self._is_complete = True

    async def stop(self) -> None:
        """Closes the models, if any were made, and the helper process."""
        if "models" in vars(self):
            await self.models.close()
        await self.workshop.close()

    async def chapter(self, identity: ChapterId) -> Chapter:
        """A chapter that is not deleted. Raises UnknownName."""
        try:
            return await self.store.book.chapter(identity)
        except Gone as error:
            raise UnknownName(_("There is no chapter {chapter}.").format(chapter=identity)) from error

    @cached_property
    def settings_file(self) -> SettingsInForce:
        """The settings, and changes to them. Raises SettingsError."""
        from flowcabal_tui.project.settings import SettingsInForce

        return SettingsInForce(self.folder, self._opened.checked())

    @cached_property
    def limits(self) -> Limits:
        """The limits of concurrent calls."""
        from flowcabal_tui.runner.limits import Limits

        return Limits(self.settings.run.concurrency)

    @cached_property
    def trust(self) -> Trust:
        """The user's confirmations; empty before `complete`."""
        from flowcabal_tui.project.trust.service import Trust

        return Trust(self.folder, lambda: self.settings, self.store, self.emit, for_this_run=self._trusts)

    @cached_property
    def models(self) -> ModelRoles:
        """The models by role."""
        from flowcabal_tui.project.models.roles import ModelRoles

        settings, key = lambda: self.settings, self.trust.require_model
        return ModelRoles(settings, self.store, self.limits, self.emit, key, self.clock, pace=self._pace)

    @cached_property
    def prompts(self) -> PromptLibrary:
        """The prompts of the program, with the writer's own replacements."""
        from flowcabal_tui.agents.prompt_library import PromptLibrary
        from flowcabal_tui.project.trust.collect import PROMPTS

        return PromptLibrary(self.folder / PROMPTS, self.trust.require_prompt)

    @cached_property
    def kinds(self) -> ProfileKinds:
        """The kinds of profiles."""
        from flowcabal_tui.agents.profile_kinds import ProfileKinds
        from flowcabal_tui.project.trust.collect import PROFILES

        return ProfileKinds(self.folder / PROFILES, self.trust.require_profile)

    @property
    def settings(self) -> ProjectSettings:
        """The current settings, which may change while the project is open."""
        return self.settings_file.settings
