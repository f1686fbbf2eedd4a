"""What is asked before a run whose text was cut off goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.run import NodeState, RunSummary
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench

_WHOLE: Final[frozenset[NodeState]] = frozenset({"done", "pending", "skipped", "blocked"})
"""States of nodes that have no text that was cut off."""


async def is_to_be_continued(screen: Screen[Any], workbench: Workbench, summary: RunSummary) -> bool | None:
    """Asks whether text of the run that was cut off is to be continued, or written from the start; None: neither."""
    views = [await workbench.node(summary.id, node) for node, state in summary.nodes if state not in _WHOLE]
    cut = [view.title for view in views if any(item.text and not item.complete for item in view.attempts)]
    if not cut:
        return False
    title = _("The text of {names} was cut off").format(names=", ".join(cut))
    choices = (("continue", _("Continue it from where it stopped")), ("write", _("Write it again from the start")))
    chosen = await screen.app.push_screen_wait(ChooseScreen(title, choices))
    return None if chosen is None else chosen == "continue"


async def may_continue(screen: Screen[Any], workbench: Workbench) -> bool:
    """Asks before more is paid for."""
    if workbench.info.offline:
        return True
    words = _("The prompt and the text so far are sent again, and the rest is paid for.")
    agreed: bool = await screen.app.push_screen_wait(ConfirmScreen(_("Continue the cut-off text?"), words))
    return agreed
