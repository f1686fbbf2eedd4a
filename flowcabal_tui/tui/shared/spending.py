"""Questions before paid actions and before work is stopped: one dialog and one wording for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from textual.app import App
from textual.screen import Screen

from flowcabal_tui.domain.memory import TaskKind
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import paid_models, spend_lines
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.memory import PayMemory
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

COSTS: Final = mark("This costs money.")
GOES_ON: Final = mark("Pay and continue")
NOT_NOW: Final = mark("Not now")
KEPT: Final = mark("Finished parts are kept. The rest can be continued later.")
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


async def agrees_to_spend(app: App[Any], project: Project, title: str, quote: Quote, *roles: Role) -> bool:
    """Shows a quote of the models of these roles; returns the writer's answer, or True at once if nothing is spent."""
    return quote.is_free or await agrees_to_pay(app, title, quote_price(project, quote, *roles))


def quote_price(project: Project, quote: Quote, *roles: Role, asks: bool = False) -> list[str]:
    """The lines of a quote with the models of these roles; `asks`: the run asks at its limit."""
    return spend_lines(quote, asks=asks, models=paid_models(project.info.models, *(roles or ("user", "agent"))))


def agents_cost(project: Project) -> bool:
    """True when the agents' model is not free."""
    return bool(paid_models(project.info.models, "agent"))


async def begin_work(project: Project, command: Command, quote: Quote) -> str:
    """Starts background work whose quote the writer has accepted; returns the result of the command."""
    result = await project.carry_out(command)
    if not quote.is_free and quote.pause is not None:
        await project.carry_out(PayMemory(quote.pause))
    return str(result or "")


async def work_agreed(
    screen: Screen[Any], project: Project, title: str, steps: Mapping[TaskKind, int], command: Command
) -> str | None:
    """Starts background work after a question if it costs money; returns the result of the command, or None."""
    quote = await project.memory.quote_background(steps)
    price = [] if quote.is_free else quote_price(project, quote, "agent", asks=True)
    if price and not await agrees_to_pay(screen.app, title, price):
        return None
    return await begin_work(project, command, quote)


async def remake_agreed(screen: Screen[Any], project: Project, uris: Sequence[str], command: Command) -> str | None:
    """Like `work_agreed`, for a command by which the agents' model regenerates these derived texts."""
    count = len(uris)
    title = ngettext("Regenerate {n} text?", "Regenerate {n} texts?", count).format(n=count)
    return await work_agreed(screen, project, title, Counter(map(_kind_of, uris)), command)


def _kind_of(uri: str) -> TaskKind:
    """The step that makes a derived text."""
    if uri.startswith("summaries/arcs/"):
        return "arc"
    return "l1" if uri.startswith(("summaries/", "manuscript/")) else "profile"
