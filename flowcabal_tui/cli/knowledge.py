"""The knowledge server on the command line: it is waited for, or what goes on without it says so first."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol import KnowledgeStatus

KNOWLEDGE_SECONDS = 120.0
TICK_SECONDS = 0.05


async def knowledge_decided(project: Project) -> str:
    """Waits until the knowledge server is there, or will not come: then why; "" when it is there."""
    with suppress(TimeoutError):
        async with asyncio.timeout(KNOWLEDGE_SECONDS):
            while True:
                for event in project.take():
                    if isinstance(event, KnowledgeStatus) and event.state not in ("starting", "restarting"):
                        return "" if event.state in ("ready", "external") else event.message
                await asyncio.sleep(TICK_SECONDS)
    return _("it did not come in time")


async def tell_what_the_server_lacks(project: Project) -> None:
    """Waits for the server; says that the run does without it, or which texts it does not know yet."""
    absent = await knowledge_decided(project)
    owed = sum(task.kind == "knowledge" for task in await project.background())
    if absent:
        note = _("the run does without the knowledge server: it is not there ({reason}).").format(reason=absent)
    elif owed:
        note = _("the knowledge server does not have {n} texts yet; the run finds nothing in them.").format(n=owed)
    else:
        return
    say(_("note: {text}").format(text=note), file=sys.stderr)
