"""State shared by all parts of an open project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.project.engine import Tasks
from flowcabal_tui.project.models.roles import ModelRoles
from flowcabal_tui.project.settings import SettingsInForce
from flowcabal_tui.project.trust.collect import PROFILES, PROMPTS
from flowcabal_tui.project.trust.service import Trust
from flowcabal_tui.project.work_signal import WorkSignal
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.settings.project_file import ProjectSettings
from flowcabal_tui.store import Store


class ProjectBase:
    """The folder, settings, store and models of an open project. Lives on the engine's loop."""

    def __init__(
        self,
        folder: Path,
        settings: ProjectSettings,
        store: Store,
        emit: Callable[[Event], None],
        clock: Callable[[], datetime],
        pace: float | None,
        *,
        trust: bool = False,
    ) -> None:
        """With `trust` the user confirms everything in the folder until the program ends."""
        self.folder, self.store, self.emit, self.clock = folder, store, emit, clock
        self.changes = SettingsInForce(folder, settings)
        self.language = settings.project.language
        self.tasks, self.workshop, self.work = Tasks(), Workshop(), WorkSignal()
        self.closes_first: list[Callable[[], Awaitable[None]]] = []
        """What ends before the runs when the project is closed."""
        self.limits = Limits(settings.run.concurrency)
        self.trust = Trust(folder, self.current_settings, store, emit, for_this_run=trust)
        self.models = ModelRoles(self.current_settings, store, self.limits, emit, self.trust.require_model, pace=pace)
        self.prompts = PromptLibrary(folder / PROMPTS, self.trust.require_prompt)
        self.kinds = ProfileKinds(folder / PROFILES, self.trust.require_profile)

    def current_settings(self) -> ProjectSettings:
        """The settings of this moment: they may be changed while the project is open."""
        return self.changes.settings

    @property
    def settings(self) -> ProjectSettings:
        """The same."""
        return self.changes.settings
