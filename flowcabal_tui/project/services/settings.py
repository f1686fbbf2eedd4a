"""Settings of an open project: the values of its file, changes of it, and changes by another program."""

from __future__ import annotations

from dataclasses import dataclass

from flowcabal_tui.project.commands import Service, handles
from flowcabal_tui.project.settings import with_model, with_values
from flowcabal_tui.project.trust import trust_items
from flowcabal_tui.project.trust.collect import model_items
from flowcabal_tui.protocol.settings import ChangeSettings, SetModel, SettingsChanged
from flowcabal_tui.settings.project_file import ProjectSettings


@dataclass(frozen=True, slots=True)
class SettingsView:
    """The settings in the project's file.

    `later` are tables that take effect when the book is opened again. `problem` is the reason why the file cannot be
    read; the settings are then the last valid ones.
    """

    settings: ProjectSettings
    later: tuple[str, ...] = ()
    problem: str = ""


class SettingsService(Service):
    """Questions and commands about settings. Lives on the engine's loop."""

    async def view(self) -> SettingsView:
        """The settings in the file."""
        file = self._parts.base.settings_file
        return SettingsView(file.written, file.later, file.problem)

    async def look(self) -> None:
        """Reads the file again if another program has written it, and emits an event. New permission requests in it are
        held back."""
        seen = await self._parts.base.settings_file.look()
        if seen is not None:
            await self._parts.base.trust.view()
            self._parts.base.trust.emit_state()
            self._parts.base.emit(SettingsChanged(seen.tables, self._parts.base.settings_file.later, seen.problem))

    @handles(SetModel)
    async def set_model(self, command: SetModel) -> None:
        """Writes or removes a model. Raises SettingsError; then nothing was changed."""
        file = self._parts.base.settings_file
        await file.change(lambda settings: with_model(settings, command.table, command.endpoint))
        if command.endpoint is not None:
            await self._parts.base.trust.renew(model_items(self._parts.base.settings.models, (command.table,)))

    @handles(ChangeSettings)
    async def change(self, command: ChangeSettings) -> None:
        """Writes values into a table of the project's file. Raises SettingsError; then nothing was changed."""
        file = self._parts.base.settings_file
        await file.change(lambda settings: with_values(settings, command.table, command.values))
        knowledge = file.written.knowledge
        if command.table == "knowledge" and knowledge.enabled and knowledge.url:
            key = knowledge.api_key_env
            items = [trust_items.knowledge_item(knowledge.url, key)]
            await self._parts.base.trust.renew([*items, *([trust_items.key_item(key, knowledge.url)] if key else [])])
