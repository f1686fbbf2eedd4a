"""kill -9 of a build in the middle of its answers: no workflow has changed, and what was answered is not paid again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint
from tests.waiting import PATIENCE

WISH = "Put a step between draft and polish that checks the names."
DELAY = 0.01
WORDS = "I look at the copy, piece by piece, before I go on with the next of the edits. " * 2
MOMENTS = range(0, 20, 1 if os.environ.get("FLOWCABAL_KILLS") else 5)
"""All twenty with FLOWCABAL_KILLS set."""
BETWEEN = 16
"""Pieces of an answer between two moments."""


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


ADD = tool("add_node", id="names", after="draft", params={"prompt": "Check the names.\n{{result_of.draft.text}}"})
READ = tool("set_prompt", node="polish", append="\n{{result_of.names.text}}")
TURNS = [
    {"content": WORDS, "tool_calls": [tool("set_checklist", items=[{"id": "i1", "what": WISH}])], "delay": DELAY},
    {"content": WORDS, "tool_calls": [{**ADD, "arguments": {**ADD["arguments"], "because": "i1"}}], "delay": DELAY},
    {"content": WORDS, "tool_calls": [{**READ, "arguments": {**READ["arguments"], "because": "i1"}}], "delay": DELAY},
    {"content": WORDS, "tool_calls": [tool("check"), tool("finish", explanation="Checks the names.")], "delay": DELAY},
]


def asked(server: FaultServer) -> list[dict[str, Any]]:
    return [entry for entry in server.log if entry["path"].endswith("completions")]


async def killed_after(folder: Path, server: FaultServer, pieces: int) -> None:
    """Builds in a process of its own, and kills it after so many pieces of its answers."""
    building = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flowcabal_tui", "update", str(folder), "chapter", WISH, "--yes", "--json"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(PATIENCE):
        while not asked(server) or sum(entry["events"] for entry in asked(server)) < pieces:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # the server is on another loop
    building.kill()
    await building.communicate()


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_build_changes_nothing_and_pays_nothing_twice(
    project: Make, server: FaultServer, call: Call, moment: int
) -> None:
    folder = project(both(endpoint(server, idle_timeout=10.0)))
    before = call("workflows", folder, "--json").out
    server.push(*TURNS)
    asyncio.run(killed_after(folder, server, moment * BETWEEN))
    answered = [json.dumps(entry["body"]) for entry in asked(server)[:-1]]  # the last one was under way
    assert call("workflows", folder, "--json").out == before
    (row,) = (json.loads(line) for line in call("builds", folder, "--json").out.splitlines())
    assert row["state"] == "interrupted"
    server._faults.clear()
    server.push(*({**turn, "delay": 0} for turn in TURNS[len(answered) :]))
    again = call("update", folder, "chapter", WISH, "--yes", "--json")
    assert again.code == 3, again.err
    sent = [json.dumps(entry["body"]) for entry in asked(server)]
    assert [each for each in answered if sent.count(each) > 1] == []
    assert len(sent) <= len(TURNS) + 1
    assert call("workflows", folder, "--json").out == before
    assert call("decide", folder, "build-2", "approve").code == 0
    names = [node["id"] for each in json.loads(call("workflows", folder, "--json").out) for node in each["nodes"]]
    assert names.count("names") == 1
