"""A real OpenViking server shared by the tests of a file: one that waits takes 3 % of a processor."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from flowcabal_tui.viking.client import KnowledgeClient
from flowcabal_tui.viking.server import OpenVikingServer
from flowcabal_tui.viking.status import Ready
from tests.viking.fakes import USERS_KEY, Running, Statuses, fake_model, server_command


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    server_command()
    folder, statuses = tmp_path_factory.mktemp("knowledge"), Statuses()
    async with fake_model() as model:
        server = OpenVikingServer(folder, model.endpoint, statuses, start_seconds=90, first_wait=0.1)
        client = KnowledgeClient(server.address)
        try:
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("OPENAI_API_KEY", USERS_KEY)
                await server.start()
                await statuses.wait_for(lambda status: isinstance(status, Ready))
            yield Running(server, model, client, statuses, folder)
        finally:
            await client.aclose()
            await server.stop(wait=True)
