"""The question before something is paid for, fetched or deleted."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import Iterable

from flowcabal_tui.cli.argument_types import flag
from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.words import paid_models, spend_lines
from flowcabal_tui.protocol.memory import PayMemory
from flowcabal_tui.settings import paths


def add_yes(command: ArgumentParser, words: str = "") -> None:
    """Adds `--yes` to a paid command, which shows the price in any case, or to another with `words`."""
    flag(command, "--yes", words or _("accept the price without being asked; it is still shown"))


async def memory_settled(project: Project, *, yes: bool = False) -> None:
    """Waits until the background tasks have finished. Of those that would cost money, prints the price; with `yes` it
    lets them cost that, else they stay."""
    await project.memory.settled()
    if (work := await project.memory.unpaid()) is None:
        return
    models = paid_models(project.info.models, *work.roles)
    lines = spend_lines(work.quote, models=models)
    steps = ngettext("{n} step of background work waits.", "{n} steps of background work wait.", work.tasks)
    for line in (steps.format(n=work.tasks), _("This costs money."), *lines):
        say(line, file=sys.stderr)
    if yes and work.quote.pause is not None:
        await project.carry_out(PayMemory(work.quote.pause))
        await project.memory.settled()
        if (work := await project.memory.unpaid()) is None:
            return
    words = _(
        "background work waits for your answer; nothing was sent for it. "
        "`flowcabal-tui rebuild {folder} --what stale --yes` pays for it, "
        "or set memory_spending in {file}: ask, never, or an amount a day."
    )
    place = words.format(folder=project.info.path, file=paths.user_file())
    say(_("note: {text}").format(text=place), file=sys.stderr)


async def agreed_to_pay(price: Iterable[str], *, yes: bool, advice: str = "") -> bool:
    """Shows the price and asks the person at the terminal, unless `yes`. Raises RunError if nobody can be asked."""
    for line in (_("This costs money."), *price):
        say(line, file=sys.stderr)
    return yes or await agreed(advice=advice)


async def agreed(nothing: str = "", advice: str = "") -> bool:
    """True when the person at the terminal agrees. Raises RunError, with `nothing` as detail, if nobody can be
    asked."""
    if not sys.stdin.isatty():
        raise RunError(
            _("There is no one to confirm it."), nothing or _("Nothing was sent."), advice or _("Give --yes.")
        )
    answer = await asyncio.to_thread(input, _("Begin? [y/N]") + " ")
    return answer.strip().lower() in ("y", "yes", "是")


async def agreed_to_spend(project: Project, quote: Quote, *roles: Role, yes: bool) -> bool:
    """Shows a quote with its models; True when it is free or agreed to, with `yes` without a question."""
    lines = spend_lines(quote, asks=False, models=paid_models(project.info.models, *(roles or ("user", "agent"))))
    if not quote.is_free:
        return await agreed_to_pay(lines, yes=yes)
    for line in lines:
        say(line, file=sys.stderr)
    return True
