"""The settings of an open project: changes to its file, and reloading when another program changes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ProjectNotFound, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.settings.file_modes import file_modes
from flowcabal_tui.settings.paths import PROJECT_FILE
from flowcabal_tui.settings.project_file import (
    GoalsSettings,
    ModelsSettings,
    ProjectSettings,
    change_project,
    load_project,
)
from flowcabal_tui.system.files import Folder

LATER: Final[Mapping[str, tuple[str, ...]]] = {
    "project": ("id", "language"), "run": (), "knowledge": (), "actions": (), "agents": ("plugins",),
}  # fmt: skip
"""Settings that are read when a project is opened, by their tables; (): the whole table."""
CHANGEABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "project": ("name", "author", "language", "blank_lines_break"),
    "agents": ("context", "monitor", "curator", "profiles", "references", "scene"),
    "knowledge": ("enabled", "url", "api_key_env"),
    "budget": ("context_tokens", "max_cost", "max_tokens"),
}
"""The tables that a command may change; commands, actions and plug-ins are written into the file by hand."""
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SettingsSeen:
    """The result of reading the file again: the tables that changed, and the reason why it cannot be used ("": it
    can)."""

    tables: tuple[str, ...] = ()
    problem: str = ""


class SettingsInForce:
    """The settings in use. `settings` are in force, `written` are those of the file; `problem` is the reason why the
    file cannot be read."""

    def __init__(self, folder: Path, settings: ProjectSettings) -> None:
        self._folder, self._opened = folder, settings
        self.settings = self.written = settings
        self.problem = ""
        self._seen: _Stamp | None = None
        self._lock = asyncio.Lock()

    @property
    def later(self) -> tuple[str, ...]:
        """Settings of the file that take effect when the project is opened again, as `table` or `table.key`."""
        return tuple(_later(self.settings, self.written))

    async def change(self, change: Callable[[ProjectSettings], ProjectSettings]) -> None:
        """Changes the file. Raises SettingsError; then nothing was changed."""
        async with self._lock:
            try:
                self._take(await asyncio.to_thread(change_project, self._folder, change, file_modes()))
            except OSError as error:
                raise SettingsError(
                    _("The settings could not be saved."), os_reason(error), _("Nothing was changed.")
                ) from error

    async def look(self) -> SettingsSeen | None:
        """Reads the file again if it was written since; returns None if its content is the same. The last valid
        settings stay in force."""
        async with self._lock:
            stamp = await asyncio.to_thread(self._stamp)
            if stamp is None or stamp == self._seen:
                return None
            self._seen, before, problem = stamp, self.written, self.problem
            try:
                self._take(await asyncio.to_thread(load_project, self._folder))
            except (ProjectNotFound, SettingsError) as error:
                self.problem = "\n".join(part for part in (error.title, error.detail) if part)
                return SettingsSeen(problem=self.problem) if self.problem != problem else None
            names = ProjectSettings.model_fields
            tables = tuple(name for name in names if getattr(before, name) != getattr(self.written, name))
            return SettingsSeen(tables) if tables or problem else None

    def _take(self, written: ProjectSettings) -> None:
        self.written, self.problem = written, ""
        self.settings = written.model_copy(update=dict(_kept(self._opened, written)))

    def _stamp(self) -> _Stamp | None:
        status = Folder(self._folder).status(PROJECT_FILE)
        return None if status is None else (status.st_mtime_ns, status.st_size, status.st_ino)


def _kept(opened: ProjectSettings, written: ProjectSettings) -> Iterator[tuple[str, Any]]:
    """The tables of `written`, in which settings that are read only at opening keep their opened values."""
    for table, keys in LATER.items():
        old = getattr(opened, table)
        kept = {key: getattr(old, key) for key in keys}
        yield table, getattr(written, table).model_copy(update=kept) if keys else old


def _later(now: ProjectSettings, written: ProjectSettings) -> Iterator[str]:
    for table, keys in LATER.items():
        old, new = getattr(now, table), getattr(written, table)
        if not keys and old != new:
            yield table
        yield from (f"{table}.{key}" for key in keys if getattr(old, key) != getattr(new, key))


def with_model(settings: ProjectSettings, table: str, endpoint: Endpoint | None) -> ProjectSettings:
    """The settings with another model in `[models.TABLE]`; None removes the table. Raises SettingsError."""
    models, (role, _point, name) = settings.models, table.partition(".")
    if role == "more" and name:
        more = {key: each for key, each in models.more.items() if key != name}
        update: dict[str, Any] = {"more": more | ({name: endpoint} if endpoint else {})}
    elif role in ModelsSettings.model_fields and role != "more" and not name:
        update = {role: endpoint}
    else:
        raise SettingsError(_("There is no table [models.{name}].").format(name=table))
    return settings.model_copy(update={"models": models.model_copy(update=update)})


def with_values(settings: ProjectSettings, table: str, values: Mapping[str, Any]) -> ProjectSettings:
    """The settings with other values in a table. Raises SettingsError for values that a command cannot set."""
    if unknown := [key for key in values if key not in CHANGEABLE.get(table, ())]:
        raise SettingsError(
            _("{names} cannot be set from here.").format(names=_(", ").join(f"{table}.{key}" for key in unknown)),
            "",
            _("Write it into flowcabal.toml by hand."),
        )
    if table not in CHANGEABLE:
        raise SettingsError(
            _("There is no table [{name}] that can be set from here.").format(name=table),
            "",
            _("Write it into flowcabal.toml by hand."),
        )
    old = getattr(settings, table)
    try:
        new = type(old).model_validate({**old.model_dump(), **values})
    except ValidationError as error:
        wrong = _(", ").join(".".join(map(str, each["loc"])) for each in error.errors())
        raise SettingsError(_("These settings cannot be used: {names}.").format(names=wrong)) from error
    return settings.model_copy(update={table: new})


def with_goals(settings: ProjectSettings, goals: Mapping[str, Any]) -> ProjectSettings:
    """The settings with other goals. Raises SettingsError."""
    try:
        checked = GoalsSettings.model_validate(goals)
    except ValidationError as error:
        wrong = _(", ").join(str(each["loc"][0]) for each in error.errors())
        raise SettingsError(_("These goals cannot be set: {names}.").format(names=wrong)) from error
    return settings.model_copy(update={"goals": checked})
