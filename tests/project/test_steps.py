"""Step mode, and what is stopped: a node, a branch, a run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.runs import AdvanceRun, CancelRun, NodeStarted, NodeStateChanged, RunStateChanged
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.desk import Desk, both, calls, endpoint, make_one, opened
from tests.runner.fakes import prompt

PLAIN = {"context": False, "angles": []}
TREE = Workflow(
    id="tree",
    nodes=(
        prompt("a", "Begin.", **PLAIN),
        prompt("b", "Go on: ", "@a", **PLAIN),
        prompt("c", "End: ", "@b", **PLAIN),
        prompt("other", "Alone.", **PLAIN),
    ),
)


@pytest_asyncio.fixture
async def desk(folder: Path, server: FaultServer) -> AsyncIterator[Desk]:
    async with opened(await make_one(folder, both(endpoint(server)))) as desk:
        await desk.project.carry_out(SaveWorkflow(TREE))
        yield desk


async def states(desk: Desk, run: RunId) -> dict[str, str]:
    return dict((await desk.project.runs.run_details(run)).summary.nodes)


async def test_a_run_in_steps_waits_for_the_word_before_each_level(desk, server):
    run = await desk.start("tree", step=True)
    for seen in (2, 3):
        await desk.until(RunStateChanged, lambda event: event.state == "paused")
        assert (calls(server), desk.project.quiet) == (seen, True)
        assert [each.state for each in await desk.project.runs.summaries()] == ["paused"]
        desk.events.clear()
        await desk.project.carry_out(AdvanceRun(run))
    assert await desk.follow(run) == "done"
    assert calls(server) == 4
    assert [each.state for each in await desk.project.runs.summaries()] == ["done"]
    with pytest.raises(RunError, match="not paused"):
        await desk.project.carry_out(AdvanceRun(run))


async def test_a_branch_is_stopped_with_all_that_depends_on_it_and_the_rest_goes_on(desk, server):
    server.push({"stall_after": 1, "times": 2})
    run = await desk.start("tree")
    await desk.until(NodeStarted, lambda event: event.node == "a")
    await desk.project.carry_out(CancelRun(run, NodeId("a"), branch=True))
    await desk.project.carry_out(CancelRun(run, NodeId("other")))
    assert await desk.follow(run) == "cancelled"
    assert (await states(desk, run))["a"] == "cancelled"
    assert {event.node for event in desk.told(NodeStarted)} <= {"a", "other"}


async def test_a_branch_that_has_not_begun_never_does(desk, server):
    run = await desk.start("tree", step=True)
    await desk.until(RunStateChanged, lambda event: event.state == "paused")
    await desk.project.carry_out(CancelRun(run, NodeId("b"), branch=True))
    await desk.project.carry_out(AdvanceRun(run))
    assert await desk.follow(run) == "cancelled"
    assert {event.node: event.state for event in desk.told(NodeStateChanged)}["b"] == "cancelled"
    assert calls(server) == 2, "a and other"


async def test_a_paused_run_can_be_stopped(desk):
    run = await desk.start("tree", step=True)
    await desk.until(RunStateChanged, lambda event: event.state == "paused")
    await desk.project.carry_out(CancelRun(run))
    assert await desk.follow(run) == "cancelled"
