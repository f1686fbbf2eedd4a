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
from tests.project.case import Case, both, calls, endpoint, make_one, opened
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
async def case(folder: Path, server: FaultServer) -> AsyncIterator[Case]:
    async with opened(await make_one(folder, both(endpoint(server)))) as case:
        await case.project.carry_out(SaveWorkflow(TREE))
        yield case


async def states(case: Case, run: RunId) -> dict[str, str]:
    return dict((await case.project.runs.run_details(run)).summary.nodes)


async def test_a_run_in_steps_waits_for_the_word_before_each_level(case, server):
    run = await case.start("tree", step=True)
    for seen in (2, 3):
        await case.until(RunStateChanged, lambda event: event.state == "paused")
        assert (calls(server), case.project.quiet) == (seen, True)
        assert [each.state for each in await case.project.runs.summaries()] == ["paused"]
        case.events.clear()
        await case.project.carry_out(AdvanceRun(run))
    assert await case.follow(run) == "done"
    assert calls(server) == 4
    assert [each.state for each in await case.project.runs.summaries()] == ["done"]
    with pytest.raises(RunError, match="not paused"):
        await case.project.carry_out(AdvanceRun(run))


async def test_a_branch_is_stopped_with_all_that_depends_on_it_and_the_rest_goes_on(case, server):
    server.push({"stall_after": 1, "times": 2})
    run = await case.start("tree")
    await case.until(NodeStarted, lambda event: event.node == "a")
    await case.project.carry_out(CancelRun(run, NodeId("a"), branch=True))
    await case.project.carry_out(CancelRun(run, NodeId("other")))
    assert await case.follow(run) == "cancelled"
    assert (await states(case, run))["a"] == "cancelled"
    assert {event.node for event in case.told(NodeStarted)} <= {"a", "other"}


async def test_a_branch_that_has_not_begun_never_does(case, server):
    run = await case.start("tree", step=True)
    await case.until(RunStateChanged, lambda event: event.state == "paused")
    await case.project.carry_out(CancelRun(run, NodeId("b"), branch=True))
    await case.project.carry_out(AdvanceRun(run))
    assert await case.follow(run) == "cancelled"
    assert {event.node: event.state for event in case.told(NodeStateChanged)}["b"] == "cancelled"
    assert calls(server) == 2, "a and other"


async def test_a_paused_run_can_be_stopped(case):
    run = await case.start("tree", step=True)
    await case.until(RunStateChanged, lambda event: event.state == "paused")
    await case.project.carry_out(CancelRun(run))
    assert await case.follow(run) == "cancelled"
