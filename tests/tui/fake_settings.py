"""Settings of an invented book: what the page reads, and what commands change."""

from __future__ import annotations

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.project.services.settings import SettingsView
from flowcabal_tui.project.settings import with_model, with_values
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import SetGoals
from flowcabal_tui.protocol.settings import ChangeSettings, SetModel
from flowcabal_tui.settings.project_file import GoalsSettings, ModelsSettings, ProjectSettings, ProjectTable


class FakeSettings:
    """`shown` is what the file says; `looks` counts the looks at it."""

    def __init__(self, name: str, language: str, model: Endpoint) -> None:
        project = ProjectTable.model_validate({"name": name, "language": language})
        self.shown = SettingsView(ProjectSettings(project=project, models=ModelsSettings(user=model)))
        self.looks = 0

    async def view(self) -> SettingsView:
        return self.shown

    async def look(self) -> None:
        self.looks += 1

    def apply(self, command: Command) -> None:
        settings = self.shown.settings
        match command:
            case SetModel(table=table, endpoint=endpoint):
                settings = with_model(settings, table, endpoint)
            case ChangeSettings(table=table, values=values):
                settings = with_values(settings, table, values)
            case SetGoals(goals=goals):
                changed = GoalsSettings(book=goals.book, chapter=goals.chapter, day=goals.day, volume=goals.volume)
                settings = settings.model_copy(update={"goals": changed})
        self.shown = SettingsView(settings, self.shown.later, self.shown.problem)
