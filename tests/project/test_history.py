"""Runs of the past: their nodes and costs, and their events once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.project.runs.history import folds_to
from flowcabal_tui.protocol.runs import NodeCompleted, NodeStateChanged, RunStateChanged
from tests.faultserver import FaultServer
from tests.project.case import Case, calls, demo_at, opened
from tests.project.test_steps import case  # noqa: F401  # a fixture


def rain_first(question: Question) -> Decision:
    return Decision("retry", note="more rain") if question.attempts == (1,) else Decision("approve")


async def test_a_replay_tells_the_same_in_the_same_order_and_calls_nobody(case: Case, server: FaultServer):  # noqa: F811
    run = await case.run("tree")
    before = calls(server)
    told = [event for event in case.events if isinstance(event, NodeCompleted)]
    again = [event for event in await case.project.runs.replay(run) if isinstance(event, NodeCompleted)]
    assert [(event.node, event.output, event.cached) for event in again] == [
        (event.node, event.output, event.cached) for event in told
    ]
    assert calls(server) == before


@pytest.mark.parametrize("fails", [False, True])
async def test_the_log_folds_to_what_was_seen(case: Case, server: FaultServer, fails: bool):  # noqa: F811
    if fails:
        server.push({"status": 401})
    run = await case.start("tree")
    state = await case.follow(run)
    events = await case.project.runs.replay(run)
    details = await case.project.runs.run_details(run)
    assert {node: known.state for node, known in folds_to(events).nodes.items()} == {
        node.node: node.state for node in details.nodes
    }
    assert events[-1] == RunStateChanged(run, state)
    seen = {event.node: event.state for event in case.told(NodeStateChanged) if event.run == run}
    assert seen == {node.node: node.state for node in details.nodes}


async def test_questions_and_answers_are_replayed(folder: Path, demos: dict[str, Path]):
    async with opened(demo_at(folder, demos)) as demo:
        run = await demo.start("chapter", 7)
        await demo.follow(run, rain_first)
        events = await demo.project.runs.replay(run)
        kinds = [type(event).__name__ for event in events]
        assert kinds.count("NodeNeedsHuman") == kinds.count("QuestionAnswered") >= 2
        shown = {event.question: event.decision.note for event in events if type(event).__name__ == "QuestionAnswered"}
        assert "more rain" in shown.values()
        view = await demo.view(run, "plan")
        trace = await demo.project.runs.version_trace(run, NodeId("plan"), 2)
        assert (trace.exact, "more rain" in trace.messages[-1].content) == (True, True)
        assert trace.receipt == view.attempts[1].receipt


async def test_the_details_of_a_run_tell_tokens_and_what_was_served(case: Case):  # noqa: F811
    first = await case.run("tree")
    details = await case.project.runs.run_details(first)
    assert details.totals.calls == 4 and details.totals.cost == 0
    assert all(node.attempts == 1 and node.usage.output_tokens and node.models == ("mock",) for node in details.nodes)
    second = await case.project.runs.run_details(await case.run("tree"))
    assert all(node.served for node in second.nodes) and second.totals.calls == 0
    assert [run.id for run in await case.project.runs.summaries()] == [second.summary.id, first]


async def test_a_run_that_is_not_there(case: Case):  # noqa: F811
    with pytest.raises(RunError, match="no run x"):
        await case.project.runs.replay(RunId("x"))
    with pytest.raises(RunError, match="nothing named x"):
        await case.project.runs.run_details(RunId("x"))
