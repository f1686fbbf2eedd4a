"""The user's answer to what a project asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.locale import _
from flowcabal_tui.protocol.models import ConfirmTrust
from flowcabal_tui.tui.models.trust import TrustScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


async def ask_trust(screen: Screen[Any], workbench: Workbench) -> None:
    """Shows what the project asks for; what the user confirms goes on at once."""
    shown = await screen.app.push_screen_wait(TrustScreen(await workbench.trust()))
    if shown is None:
        return
    await workbench.carry_out(ConfirmTrust(shown))
    view = await workbench.trust()
    if view.problem:
        words = _("Confirmed until you quit. The answer could not be recorded, so you will be asked again: {reason}")
        screen.notify(words.format(reason=view.problem), severity="warning", markup=False)
    else:
        screen.notify(_("Confirmed."), markup=False)
