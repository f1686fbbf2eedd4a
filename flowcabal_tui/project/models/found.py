"""Models that are found on this machine and in the environment, and the choice of one for a project."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.models.discover import discover
from flowcabal_tui.project.views import FoundModel
from flowcabal_tui.settings.project_file import OFFLINE, ProjectSettings, save_project


async def found_models() -> tuple[FoundModel, ...]:
    """The models of the environment's keys and of this machine's servers, and the embedded model."""
    found = [
        FoundModel(item.endpoint.identity, f"{item.name}: {item.endpoint.model}", item.local)
        for item in await discover(os.environ)
    ]
    return (*found, FoundModel(OFFLINE.identity, _("the embedded offline model"), True))


async def adopt_model(folder: Path, settings: ProjectSettings, identity: str) -> ProjectSettings:
    """Writes the found model of this identity into the project's file, for the writer and the agents.

    Raises SettingsError, and then nothing was changed.
    """
    found = [OFFLINE, *(proposal.endpoint for proposal in await discover(os.environ))]
    endpoint = next((item for item in found if item.identity == identity), None)
    if endpoint is None:
        raise SettingsError(
            _("{model} was not found here.").format(model=identity),
            _("Found: {names}").format(names=", ".join(item.identity for item in found)),
        )
    chosen = settings.models.model_copy(update={"user": endpoint, "agent": endpoint})
    changed = settings.model_copy(update={"models": chosen})
    try:
        await asyncio.to_thread(save_project, folder, changed)
    except OSError as error:
        raise SettingsError(
            _("The settings could not be saved."), os_reason(error), _("Nothing was changed.")
        ) from error
    return changed
