"""A real OpenViking server shared by the tests of a file: one that waits takes 3 % of a processor."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from flowcabal_tui.viking.client import KnowledgeClient
from flowcabal_tui.viking.server import COMMAND_VARIABLE, OpenVikingServer
from flowcabal_tui.viking.status import Ready
from tests.viking.fakes import USERS_KEY, Running, Statuses, fake_model, quick_server


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The server that is started."""
    return quick_server(tmp_path_factory.mktemp("program"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory, program: str) -> AsyncIterator[Running]:
    folder, statuses = tmp_path_factory.mktemp("knowledge"), Statuses()
    async with fake_model() as model:
        server = OpenVikingServer(folder, model.endpoint, statuses, start_seconds=90, first_wait=0.1)
        client = KnowledgeClient(server.address)
        try:
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("OPENAI_API_KEY", USERS_KEY)
                environment.setenv(COMMAND_VARIABLE, program)
                await server.start()
                await statuses.wait_for(lambda status: isinstance(status, Ready))
            yield Running(server, model, client, statuses, folder)
        finally:
            await client.aclose()
            await server.stop(wait=True)
