"""`rescue`: recovers the contents of a damaged project."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.locale import _
from flowcabal_tui.project.rescue import Rescue
from flowcabal_tui.project.rescue_out import PROJECT, REPORT, described, take_out


async def rescue(arguments: Namespace) -> int:
    """Lists the recoverable contents; with `--to` writes them into a new folder. Returns 1 when nothing was found."""
    folder = arguments.project.expanduser()
    with await asyncio.to_thread(Rescue, folder, arguments.database) as found:
        for line in described(found):
            say(line)
        if not found.chapters and not found.loose:
            say(_("Nothing that can be extracted was found."))
            return 1
        if arguments.to is None:
            words = _("Nothing was changed. `flowcabal-tui rescue {project} --to FOLDER` extracts it.")
            say(words.format(project=folder))
            return 0
        target = arguments.to.expanduser().resolve()
        made = await take_out(found, folder, target)
    say(_("Written to {folder}; see {report} there.").format(folder=target, report=REPORT))
    if made:
        say(_("A new project is in {folder}.").format(folder=target / PROJECT))
    return 0
