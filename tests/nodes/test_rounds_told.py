"""Rounds of recursion and evolution, and each evaluation of an attempt, are events; a replay repeats them."""

from __future__ import annotations

from pathlib import Path

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import AngleCheck, Decision, Evaluation, RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.runs import NodeCompleted, NodeEvaluated, NodeIteration
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import OFFLINE
from tests.nodes.test_evolution import Writer as Candidates
from tests.nodes.test_evolution import openings, run_with
from tests.nodes.test_recursive import Writer, polish, ran, said
from tests.project.case import both, make_one, opened
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, prompt

RIGHT = Evaluation("approve", "", 1.0, (AngleCheck("timeline", "passed"),))
WRONG = Evaluation("retry", "too late", 0.9, (AngleCheck("timeline", "found"),))


async def test_each_round_of_a_recursion_is_told_before_its_steps():
    bench = Bench(FakeModel(Writer(said(False, "weak end"), said(True))))
    await ran(bench, polish(depth=5))
    told = bench.of(NodeIteration)
    assert [(each.node, each.iteration, each.total, each.kind, each.candidates) for each in told] == [
        ("polish", 1, 5, "recursive", 0),
        ("polish", 2, 5, "recursive", 0),
    ]
    drafts = [n for n, each in enumerate(bench.events) if getattr(each, "node", "") == "polish/1/criticise"]
    assert bench.events.index(told[0]) < drafts[0] < bench.events.index(told[1])


async def test_each_round_of_an_evolution_is_told_with_its_candidates():
    bench = Bench(FakeModel(Candidates()))
    await run_with(bench, openings(rounds=2), Decision("choose", attempt=1), Decision("choose", attempt=3))
    told = bench.of(NodeIteration)
    assert [(each.iteration, each.total, each.kind, each.candidates) for each in told] == [
        (1, 2, "evolutionary", 3),
        (2, 2, "evolutionary", 3),
    ]


async def test_the_evaluation_of_an_attempt_that_is_retried_is_told_too():
    words = iter(("late", "noon"))
    monitor = FakeMonitor(lambda draft, _attempt: WRONG if draft == "late" else RIGHT)
    bench = Bench(FakeModel(lambda _request: next(words)), monitor)
    node = prompt("draft", "write", angles=["timeline"], context=False)
    assert await (await bench.run(flow(node))).execute() == "done"
    told = bench.of(NodeEvaluated)
    assert [(each.node, each.attempt, each.evaluation) for each in told] == [("draft", 1, WRONG), ("draft", 2, RIGHT)]
    (done,) = bench.of(NodeCompleted)
    assert (done.attempt, done.evaluation) == (2, RIGHT)


async def test_both_have_a_json_form():
    iteration = NodeIteration("r1", NodeId("open"), 2, 3, "evolutionary", 5)
    assert to_message(iteration) == {
        "type": "node:iteration",
        "run": "r1",
        "node": "open",
        "iteration": 2,
        "total": 3,
        "kind": "evolutionary",
        "candidates": 5,
    }
    evaluated = NodeEvaluated("r1", NodeId("draft"), 1, WRONG)
    assert to_message(evaluated)["type"] == "node:evaluated"
    assert [from_message(to_message(each)) for each in (iteration, evaluated)] == [iteration, evaluated]


async def test_a_replay_repeats_the_rounds_and_a_quote_tells_none(tmp_path: Path):
    await make_one(tmp_path / "novel", both(OFFLINE))
    async with opened(tmp_path / "novel") as case:
        document = Workflow(id="rounds", nodes=(openings(candidates=2, automatic=True),))
        await case.project.carry_out(SaveWorkflow(document))
        await case.project.runs.quote(RunRequest("rounds"))
        assert not case.told(NodeIteration)
        run = await case.run("rounds", answer=lambda _question: Decision("choose", attempt=1))
        again = [each for each in await case.project.runs.replay(run) if isinstance(each, NodeIteration)]
        assert again == case.told(NodeIteration) != []
