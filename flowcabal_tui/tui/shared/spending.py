"""Questions before paid actions and before work is stopped: one dialog and one wording for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual.app import App
from textual.screen import Screen

from flowcabal_tui.domain.memory import TaskKind
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import paid_models, spend_lines
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project

COSTS: Final = mark("This costs money.")
GOES_ON: Final = mark("Pay and continue")
NOT_NOW: Final = mark("Not now")
KEPT: Final = mark("What is finished is kept. The rest can be continued later.")
STOPS: Final = mark("Stop")
STAYS: Final = mark("Let it continue")


async def agrees_to_pay(app: App[Any], title: str, price: Sequence[str], *more: str) -> bool:
    """Shows the price with the model, the likely and the highest cost (`price_lines`) and `more` sentences; returns the
    writer's answer."""
    words = "\n".join((_(COSTS), *price, *more))
    answer: bool = await app.push_screen_wait(ConfirmScreen(title, words, yes=_(GOES_ON), no=_(NOT_NOW)))
    return answer


async def agrees_to_stop(app: App[Any], title: str) -> bool:
    """Asks before work is stopped; returns the writer's answer."""
    answer: bool = await app.push_screen_wait(ConfirmScreen(title, _(KEPT), yes=_(STOPS), no=_(STAYS)))
    return answer


async def agrees_to_spend(app: App[Any], workbench: Project, title: str, quote: Quote, *roles: Role) -> bool:
    """Shows a quote of the models of these roles; returns the writer's answer, or True at once if nothing is spent."""
    return quote.is_free or await agrees_to_pay(app, title, quote_price(workbench, quote, *roles))


def quote_price(workbench: Project, quote: Quote, *roles: Role, asks: bool = False) -> list[str]:
    """The lines of a quote with the models of these roles; `asks`: the run asks at its limit."""
    return spend_lines(quote, asks=asks, models=paid_models(workbench.info.models, *(roles or ("user", "agent"))))


def agents_cost(workbench: Project) -> bool:
    """True when the agents' model is not the embedded one."""
    return bool(paid_models(workbench.info.models, "agent"))


def reading_again() -> str:
    """A sentence on the cost of a change of chapters: the agents' model reads them again."""
    return _("The agents' model reads each of them again for its summary, names and facts.")


async def reading_price(workbench: Project, chapters: int) -> list[str]:
    """The lines of the price of reading the changed chapters again; [] if nothing is spent."""
    quote = await workbench.memory.quote_reading(max(1, chapters))
    if quote.is_free:
        return []
    models = paid_models(workbench.info.models, "agent")
    return [*spend_lines(quote, asks=False, models=models), reading_again()]


async def may_spend(screen: Screen[Any], workbench: Project, title: str, chapters: int = 1) -> bool:
    """Asks before a change of `chapters` chapters that the agents' model reads again; True at once if nothing is
    spent."""
    price = await reading_price(workbench, chapters)
    return not price or await agrees_to_pay(screen.app, title, price)


async def may_work(screen: Screen[Any], workbench: Project, title: str, steps: Mapping[TaskKind, int]) -> bool:
    """Asks before the given steps of background work; True at once if nothing is spent."""
    quote = await workbench.memory.quote_background(steps)
    return await agrees_to_spend(screen.app, workbench, title, quote, "agent")


async def may_remake(screen: Screen[Any], workbench: Project, uris: Sequence[str]) -> bool:
    """Asks whether the agents' model may regenerate these derived texts; returns the writer's answer."""
    count = len(uris)
    title = ngettext("Regenerate {n} text?", "Regenerate {n} texts?", count).format(n=count)
    return await may_work(screen, workbench, title, Counter(map(_kind_of, uris)))


def _kind_of(uri: str) -> TaskKind:
    """The step that makes a derived text."""
    if uri.startswith("summaries/arcs/"):
        return "arc"
    return "l1" if uri.startswith(("summaries/", "manuscript/")) else "profile"
