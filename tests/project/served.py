"""A project with its knowledge server: when it has everything, and what it has."""

from __future__ import annotations

import asyncio

from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.protocol.memory import KnowledgeStatus
from tests.project.case import Case
from tests.viking.fakes import Contents, contents
from tests.waiting import PATIENCE

UP = ("ready", "external")


def knowledge(case: Case) -> KnowledgeConnection:
    return case.project._parts.memory.knowledge


async def whole(case: Case, after: int = 0) -> KnowledgeStatus:
    """Waits until the server has told that it is ready (once more) and has all that it should have."""
    async with asyncio.timeout(2 * PATIENCE):
        while True:
            ready = [event for event in case.told(KnowledgeStatus)[after:] if event.state in UP]
            owed = [task for task in await case.project.memory.background() if task.kind == "knowledge"]
            if ready and knowledge(case).is_up and not owed:
                return ready[0]
            await asyncio.sleep(0.05)


async def counts(case: Case) -> Contents:
    client = knowledge(case)._client
    assert client is not None
    return await case.project._engine.call(contents(client, knowledge(case).sync()))
