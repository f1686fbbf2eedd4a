"""Models found on this machine and in the environment, and the choice of one for a project."""

from __future__ import annotations

import os

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.models.discover import discover
from flowcabal_tui.project.views import FoundModel
from flowcabal_tui.settings.project_file import OFFLINE


async def found_models() -> tuple[FoundModel, ...]:
    """The models of the environment's keys and of this machine's servers, and the embedded model."""
    found = [
        FoundModel(item.endpoint.identity, f"{item.name}: {item.endpoint.model}", item.local)
        for item in await discover(os.environ)
    ]
    return (*found, FoundModel(OFFLINE.identity, _("the embedded offline model"), True))


async def found_model(identity: str) -> Endpoint:
    """The found model of this identity, or the embedded one. Raises SettingsError."""
    found = [OFFLINE, *(proposal.endpoint for proposal in await discover(os.environ))]
    endpoint = next((item for item in found if item.identity == identity), None)
    if endpoint is None:
        raise SettingsError(
            _("{model} was not found here.").format(model=identity),
            _("Found: {names}").format(names=_(", ").join(item.identity for item in found)),
        )
    return endpoint
