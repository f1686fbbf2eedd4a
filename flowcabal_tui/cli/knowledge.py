"""The knowledge server on the command line: waits for it, or prints that the command runs without it."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.memory import KnowledgeStatus

KNOWLEDGE_SECONDS = 120.0
TICK_SECONDS = 0.05
LOOK_SECONDS = 0.25


async def knowledge_decided(project: Project) -> str:
    """Waits until the knowledge server is ready or has failed; returns the reason for a failure, "" when it is
    ready."""
    with suppress(TimeoutError):
        async with asyncio.timeout(KNOWLEDGE_SECONDS):
            while True:
                for event in project.take():
                    if isinstance(event, KnowledgeStatus) and event.state not in ("starting", "restarting"):
                        return "" if event.state in ("ready", "external") else event.message
                await asyncio.sleep(TICK_SECONDS)
    return _("it did not start in time")


async def texts_taken(project: Project) -> int:
    """Waits as long as the server accepts texts; returns the number of missing texts."""
    with suppress(TimeoutError):
        async with asyncio.timeout(KNOWLEDGE_SECONDS):
            while any(map(_is_due, await _owed(project))):  # noqa: ASYNC110  # they change on the engine's loop
                await asyncio.sleep(LOOK_SECONDS)
    return len(await _owed(project))


async def _owed(project: Project) -> tuple[BackgroundTask, ...]:
    """The open tasks that send texts to the server, without those that it refused for good."""
    tasks = await project.memory.background()
    return tuple(task for task in tasks if task.kind == "knowledge" and task.state in ("waiting", "running"))


def _is_due(task: BackgroundTask) -> bool:
    return task.state == "running" or not task.not_before


async def tell_what_the_server_lacks(project: Project) -> None:
    """Waits until the server has the texts; otherwise prints that the run does without it, or the number of missing
    texts."""
    absent = await knowledge_decided(project)
    owed = 0 if absent else await texts_taken(project)
    if absent:
        note = _("the run works without the knowledge server: it is not available ({reason}).").format(reason=absent)
    elif owed:
        note = _("the knowledge server does not have {n} texts yet; the run cannot search them.").format(n=owed)
    else:
        return
    say(_("note: {text}").format(text=note), file=sys.stderr)
