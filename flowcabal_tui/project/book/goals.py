"""Writes the writer's goals into the project's file."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import ValidationError

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.settings.project_file import GoalsSettings


async def set_goals(base: ProjectBase, goals: Goals) -> None:
    """From now on the book has these goals. Raises SettingsError, and then nothing was changed."""
    try:
        wanted = GoalsSettings.model_validate(asdict(goals))
    except ValidationError as error:
        wrong = ", ".join(str(each["loc"][0]) for each in error.errors())
        raise SettingsError(_("These goals cannot be set: {names}.").format(names=wrong)) from error
    await base.changes.change(lambda settings: settings.model_copy(update={"goals": wanted}))
