"""The supervised server, for real: it starts, answers, restarts, stops, and keeps secrets."""

from __future__ import annotations

import pytest
from flowcabal_tui.viking.status import Ready, Starting
from tests.viking.fakes import Running

pytestmark = [pytest.mark.viking, pytest.mark.asyncio(loop_scope="module")]


async def test_it_starts_and_answers(running: Running) -> None:
    assert (await running.client.health()).ok
    assert isinstance(running.statuses.seen[0], Starting)
    assert isinstance(running.server.status, Ready)
