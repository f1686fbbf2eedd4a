"""Changes of the book after which the agents' model reads again: asked for first where that costs money."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.locale import _
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project


def agents_cost(workbench: Project) -> bool:
    """Is the agents' model another than the embedded one?"""
    return any(role == "agent" and endpoint.provider != "offline" for role, endpoint in workbench.info.models)


def reading_again() -> str:
    """A sentence on the cost of a change of chapters: the agents' model reads them again."""
    return _("The agents' model reads each of them again for its summary, names and facts, which costs money.")


async def may_spend(screen: Screen[Any], workbench: Project, title: str, words: str = "") -> bool:
    """The writer's answer to `title`; True without a question where nothing is spent."""
    if not agents_cost(workbench):
        return True
    answer: bool = await screen.app.push_screen_wait(ConfirmScreen(title, words or reading_again()))
    return answer
