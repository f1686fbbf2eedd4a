"""What the status line says of the knowledge server and of the work that waits for it."""

from __future__ import annotations

import asyncio

import pytest

from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.protocol.memory import BackgroundChanged, KnowledgeStatus
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.wait import WaitScreen
from tests.tui.fakes import FakeProject
from tests.tui.test_workspace import pane_in_view, screen_of, told, workspace
from tests.tui.waiting import until

REFUSED = BackgroundTask(1, "knowledge", "manuscript/c1", "d", "waiting", error="The embedder is down.")  # type: ignore[arg-type]  # a digest


@pytest.mark.parametrize(
    ("state", "message", "owed", "words"),
    [
        ("ready", "", (), "knowledge: ready"),
        ("ready", "", (("running", 1), ("waiting", 2)), "knowledge: indexing, 3 left (The embedder is down.)"),
        ("ready", "", (("failed", 2),), "knowledge: 2 failed: R (The embedder is down.)"),
        ("restarting", "restart 1: gone", (("waiting", 3),), "knowledge: restarting, 3 waiting"),
        ("failed", "no port", (("waiting", 3),), "knowledge: off, 3 waiting (no port)"),
        ("external", "http://there", (("waiting", 3),), "knowledge: ready (elsewhere), 3 waiting"),
    ],
)
async def test_the_knowledge_server_and_what_waits_for_it(tmp_path, state, message, owed, words):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, KnowledgeStatus(state, message), BackgroundChanged((), REFUSED, owed))
        status = screen_of(pilot).status
        assert words in status.words
        assert "background: " not in status.words, "the memory is complete without the server"


@pytest.mark.parametrize(("state", "waits"), [("starting", True), ("ready", False)])
async def test_a_run_that_is_prepared_says_so_keeps_the_keys_and_can_be_stopped(tmp_path, state, waits):
    project = FakeProject()
    gate = asyncio.Event()
    quote = project.runs.quote

    async def held(request):
        await gate.wait()
        return await quote(request)

    project.runs.quote = held
    async with workspace(project, tmp_path) as pilot:

        async def run():
            await pilot.press("f5")
            await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, WaitScreen))

        def ran():
            return any(isinstance(command, RunWorkflow) for command in project.sent)

        await told(pilot, project, KnowledgeStatus(state, ""))
        before = pane_in_view(pilot)
        await run()
        said = pilot.app.screen.words
        assert ("the knowledge server that it needs is starting" in said) == waits
        await pilot.press("y", "4", "escape")
        await until(pilot, lambda: pilot.app.screen is screen_of(pilot))
        assert pane_in_view(pilot) == before and not ran()
        await run()
        gate.set()
        await until(pilot, ran)
