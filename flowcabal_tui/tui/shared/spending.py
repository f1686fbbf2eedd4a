"""Questions before spending: changes after which the agents' model reads again, and rewrites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from flowcabal_tui.domain.run import Quote
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project


def agents_cost(workbench: Project) -> bool:
    """True when the agents' model is not the embedded one."""
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


async def may_remake(screen: Screen[Any], workbench: Project, count: int) -> bool:
    """The writer's answer to whether the agents' model makes so many texts again."""
    title = ngettext("Make {n} text again?", "Make {n} texts again?", count).format(n=count)
    words = _("The agents' model is asked wherever the text has changed, which costs money.")
    return await may_spend(screen, workbench, title, words)


async def agrees_to_spend(app: App[Any], quote: Quote) -> bool:
    """The writer's answer to a quote; True without a question where nothing is spent."""
    if quote.is_free:
        return True
    answer: bool = await app.push_screen_wait(ConfirmScreen(_("Rewrite it?"), "\n".join(spend_lines(quote))))
    return answer
