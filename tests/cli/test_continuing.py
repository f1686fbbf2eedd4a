"""Text that was cut off, kept and continued on the command line."""

from __future__ import annotations

import asyncio
import json

from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint, opened
from tests.runner.fakes import flow, prompt

FLOW = flow(prompt("a", "Say it.", context=False))
BEGUN, REST = "The river rose all night, and nobody slept in the house. ", "In the morning the ferry was gone."


def test_a_cut_off_text_is_kept_and_continued(call: Call, project: Make, server: FaultServer) -> None:
    folder = project(both(endpoint(server, retries=1)))

    async def store() -> None:
        async with opened(folder) as case:
            await case.project.carry_out(SaveWorkflow(FLOW))

    asyncio.run(store())
    server.push({"content": BEGUN * 3, "eof_after": 9})
    assert call("run", folder, "flow", "--chapter", "1").code != 0
    run = json.loads(call("status", folder, "--json").out)["runs"][0]["id"]
    refused = call("keep", folder, run, "a")
    assert refused.code != 0
    assert "--partial" in refused.err
    assert call("keep", folder, run, "a", "--partial").code == 0
    assert call("run", folder, "--continue", "flow").code == 2
    server.push({"content": REST})
    ended = call("run", folder, "--resume", run, "--continue", "--json")
    assert ended.code == 0
    (done,) = ended.told("node:completed")
    assert done["output"].startswith(BEGUN[:10])
    assert done["output"].endswith(REST)
