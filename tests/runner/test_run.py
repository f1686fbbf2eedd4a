"""A run starts what is ready, pays once, asks durably, and goes on after a crash."""

from __future__ import annotations

import asyncio

import pytest

from flowcabal_tui.domain.errors import ModelError, ModelFault, WorkflowError
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.model_calls import RetryWait, Usage
from flowcabal_tui.domain.run import Decision, Evaluation
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.graph import dependencies, order
from flowcabal_tui.nodes.validation import require_valid, validate
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeNeedsHuman,
    NodeRetrying,
    RunStateChanged,
    WorkflowCompleted,
    WorkflowFailed,
)
from flowcabal_tui.runner.fold import fold
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, prompt, texts, until


def echo(request):
    return f"[{request.messages[-1].content}]"


CHAIN = flow(prompt("plan", "plan {{input.wish}}"), prompt("draft", "write ", "@plan"), prompt("polish", "@draft"))


async def test_outputs_flow_along_the_references():
    bench = Bench(FakeModel(echo))
    assert await (await bench.run(CHAIN, inputs={"wish": "a duel"})).execute() == "done"
    (completed,) = bench.of(WorkflowCompleted)
    assert completed.outputs == (("polish", "[[write [plan a duel]]]"),)


async def test_the_same_inputs_are_not_paid_twice():
    bench = Bench(FakeModel(echo))
    await (await bench.run(CHAIN, inputs={"wish": "a"})).execute()
    await (await bench.run(CHAIN, run="r2", inputs={"wish": "a"})).execute()
    assert len(bench.model.calls) == 3
    assert all(event.cached for event in bench.of(NodeCompleted)[3:])


async def test_a_changed_wish_is_paid_for_only_below_the_change():
    bench = Bench(FakeModel(lambda r: "same" if "plan" in r.messages[-1].content else echo(r)))
    await (await bench.run(CHAIN, inputs={"wish": "a"})).execute()
    await (await bench.run(CHAIN, run="r2", inputs={"wish": "b"})).execute()
    assert len(bench.model.calls) == 4, "the plan came out the same, so draft and polish were served"


async def test_run_again_adds_a_sample_and_keeps_the_old_one():
    answers = iter(["one", "two", "three"])
    bench = Bench(FakeModel(lambda r: next(answers)))
    solo = flow(prompt("a", "x"))
    await (await bench.run(solo)).execute()
    await (await bench.run(solo, run="r2", again=(NodeId("a"),))).execute()
    await (await bench.run(solo, run="r3")).execute()
    assert [event.output for event in bench.of(NodeCompleted)] == ["one", "two", "two"]
    assert {result.text for result in bench.journal.results.values()} == {"one", "two"}


async def test_a_question_holds_up_only_its_own_branch():
    bench = Bench(FakeModel(echo))
    workflow = flow(prompt("a", "x", review="always"), prompt("b", "@a"), prompt("c", "y"), prompt("d", "@c"))
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: {"c", "d"} <= set(texts(run)))
    await until(lambda: any(event.state == "waiting" for event in bench.of(RunStateChanged)))
    (asked,) = bench.of(NodeNeedsHuman)
    assert asked.question.node == "a" and "b" not in texts(run)
    await bench.journal.answer(asked.question.id, Decision("edit", text="mine"))
    assert run.answer(asked.question.id, Decision("edit", text="mine"))
    assert await task == "done"
    assert texts(run)["b"] == "[mine]"


async def test_a_waiting_question_survives_a_restart_and_no_call_is_repeated():
    bench = Bench(FakeModel(echo))
    workflow = flow(prompt("a", "x", review="always"), prompt("b", "@a"))
    first = await bench.run(workflow)
    task = asyncio.create_task(first.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    first.close()
    assert await task == "interrupted"
    (question,) = bench.journal.questions
    await bench.journal.answer(question, Decision("approve", attempt=1))
    second = await bench.run(workflow)
    assert await second.execute() == "done"
    assert len(bench.model.calls) == 2 and len(bench.journal.questions) == 1


async def test_retries_with_feedback_end_with_the_human_who_may_pick_any_attempt():
    tries = iter(["bad 1", "bad 2", "bad 3"])
    bench = Bench(
        FakeModel(lambda r: next(tries)),
        FakeMonitor(lambda text, n: Evaluation("retry" if n < 3 else "ask", f"{text} contradicts", 0.9)),
    )
    run = await bench.run(flow(prompt("a", "x", angles=["timeline"])))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    (asked,) = bench.of(NodeNeedsHuman)
    assert asked.question.attempts == (1, 2, 3)
    assert "wrong: bad 1 contradicts" in bench.model.calls[1].messages[-1].content
    await bench.journal.answer(asked.question.id, Decision("approve", attempt=2))
    run.answer(asked.question.id, Decision("approve", attempt=2))
    await task
    assert texts(run)["a"] == "bad 2"


async def test_a_retry_without_a_word_is_a_new_sample():
    answers = iter(["one", "two"])
    bench = Bench(FakeModel(lambda r: next(answers)))
    run = await bench.run(flow(prompt("a", "x", review="always")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    run.answer(bench.of(NodeNeedsHuman)[0].question.id, Decision("retry"))
    await until(lambda: len(bench.of(NodeNeedsHuman)) == 2)
    run.answer(bench.of(NodeNeedsHuman)[1].question.id, Decision("approve", attempt=2))
    await task
    assert texts(run)["a"] == "two" and len(bench.model.calls) == 2


async def test_failure_blocks_descendants_only():
    def says(request):
        text = request.messages[-1].content
        return ModelError(ModelFault.AUTH, "no key") if text == "x" else text

    bench = Bench(FakeModel(says))
    run = await bench.run(flow(prompt("a", "x"), prompt("b", "@a"), prompt("c", "y")))
    assert await run.execute() == "failed"
    assert texts(run) == {"c": "y"}
    assert bench.of(WorkflowFailed)[0].node == "a"
    states = {node: state.state for node, state in fold(await bench.journal.history(run.scope.id)).nodes.items()}
    assert states == {"a": "failed", "b": "blocked", "c": "done"}


async def test_resume_after_a_failure_runs_only_what_failed():
    broken = [ModelError(ModelFault.STALLED, "stalled", partial="half")]
    bench = Bench(FakeModel(lambda r: broken.pop() if broken and "x" in r.messages[-1].content else "fine"))
    workflow = flow(prompt("c", "y"), prompt("a", "x"), prompt("b", "@a"))
    await (await bench.run(workflow)).execute()
    assert await (await bench.run(workflow)).execute() == "done"
    assert len(bench.model.calls) == 4


async def test_cancel_keeps_the_streamed_text_and_closes_the_stream():
    bench = Bench(FakeModel(lambda r: "first half|second half", gates={"x": asyncio.Event()}))
    run = await bench.run(flow(prompt("a", "x"), prompt("b", "@a")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.model.going == 1 and len(bench.events) > 3)
    run.cancel()
    assert await task == "cancelled"
    assert bench.model.going == 0
    assert bench.journal.partials[("r1", "a", 1)] == "first half|"


async def test_cancelling_one_node_lets_the_others_finish():
    bench = Bench(FakeModel(echo, gates={"x": asyncio.Event()}))
    run = await bench.run(flow(prompt("a", "x"), prompt("c", "y")))
    task = asyncio.create_task(run.execute())
    await until(lambda: "c" in texts(run) and bench.model.going == 1)
    run.cancel(NodeId("a"))
    assert await task == "cancelled"
    assert texts(run) == {"c": "[y]"}


async def interrupted() -> tuple[Bench, Workflow]:
    """A process that ended while the only node of a workflow was streaming, and the workflow."""
    bench = Bench(FakeModel(lambda r: "first half|second half", gates={"x": asyncio.Event()}))
    workflow = flow(prompt("a", "x"))
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.model.going == 1 and len(bench.events) > 3)
    run.close()
    await task
    return bench, workflow


async def test_what_an_interrupted_attempt_streamed_stays_in_the_log():
    bench, workflow = await interrupted()
    bench.model.gates.clear()
    await (await bench.run(workflow)).execute()
    (reset,) = [event for event in bench.journal.events if event.kind == "attempt-reset"]
    assert bench.journal.kept[reset.payload["partial"]] == "first half|"


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "stopped"])
async def test_what_a_try_cost_that_was_cut_off_is_booked_once(killed):
    """A process that is killed writes nothing any more: what it had streamed is booked by the next one."""
    bench, workflow = await interrupted()
    assert bench.spend.cut_off == ["first half|"]
    if killed:
        bench.spend.cut_off.clear()
        bench.journal.events = [event for event in bench.journal.events if event.kind != "attempt-cut"]
    bench.model.gates.clear()
    await (await bench.run(workflow)).execute()
    await (await bench.run(workflow)).execute()
    assert bench.spend.cut_off == ["first half|"]


async def test_what_was_put_aside_and_booked_is_not_booked_again_when_the_next_try_streams_nothing():
    bench = Bench(FakeModel(lambda r: ModelError(ModelFault.OVERLOADED, "busy")))
    workflow = flow(prompt("a", "x"))
    await bench.run(workflow)
    bench.journal.partials[("r1", "a", 1)] = "first half|"
    await bench.journal.record(RunEvent(RunId("r1"), "attempt-started", NodeId("a"), 1, {"key": "k"}))
    for _time in range(2):
        assert await (await bench.run(workflow)).execute() == "failed"
    assert bench.spend.cut_off == ["first half|"]


async def test_calls_to_one_provider_keep_to_its_limit():
    from flowcabal_tui.domain.endpoints import Endpoint

    bench = Bench(FakeModel(echo, endpoint=Endpoint(model="m", concurrency=3)))
    await (await bench.run(flow(*(prompt(f"n{i}", f"p{i}") for i in range(12))))).execute()
    assert bench.model.most == 3 and len(bench.model.calls) == 12


async def test_a_wait_before_a_retry_is_shown():
    bench = Bench(FakeModel(echo, waits=(RetryWait(7, "busy", 2),)))
    await (await bench.run(flow(prompt("a", "x")))).execute()
    assert [(event.seconds, event.reason) for event in bench.of(NodeRetrying)] == [(7, "busy")]


async def test_the_hard_cap_stops_new_calls():
    bench = Bench(FakeModel(echo))
    bench.spend.left = 1
    assert await (await bench.run(CHAIN, inputs={"wish": "a"})).execute() == "failed"
    assert len(bench.model.calls) == 1


async def test_a_failed_try_that_reaches_the_hard_cap_is_not_repeated():
    bench = Bench(FakeModel(echo, waits=(RetryWait(7, "busy", 2, Usage(10, 5)), RetryWait(7, "busy", 3, Usage(10, 5)))))
    bench.spend.left = 1
    assert await (await bench.run(flow(prompt("a", "x")))).execute() == "failed"
    assert (bench.spend.booked, bench.of(NodeRetrying), bench.model.going) == (1, [], 0)


async def test_a_text_cut_at_the_length_limit_goes_to_the_human():
    bench = Bench(FakeModel(echo, finish="length"))
    run = await bench.run(flow(prompt("a", "x")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    assert "length" in bench.of(NodeNeedsHuman)[0].question.reason
    run.cancel()
    assert await task == "cancelled"


async def test_an_empty_answer_is_a_failure_of_its_own():
    bench = Bench(FakeModel(lambda r: "  "))
    await (await bench.run(flow(prompt("a", "x")))).execute()
    assert "without text" in bench.of(WorkflowFailed)[0].error


@pytest.mark.parametrize(
    ("workflow", "code"),
    [
        (flow(), "NO_NODES"),
        (flow(prompt("a", "@b"), prompt("b", "@a")), "CYCLE"),
        (flow(prompt("a", "@a")), "SELF_REFERENCE"),
        (flow(prompt("a", "@gone")), "MISSING_REFERENCE"),
        (flow(prompt("a", "x"), prompt("a", "y")), "DUPLICATE_ID"),
        (flow(prompt("a", "{{chapter.colour}}")), "UNKNOWN_NAME"),
        (flow(prompt("a", " ")), "EMPTY_PROMPT"),
        (flow(prompt("a", "x", temperature=9)), "BAD_PARAMS"),
        (flow(prompt("a", "x").model_copy(update={"kind": "magic"})), "UNKNOWN_KIND"),
    ],
)
def test_a_broken_workflow_is_refused_with_the_place(workflow, code):
    assert code in [finding.code for finding in validate(workflow)]
    with pytest.raises(WorkflowError, match=code):
        require_valid(workflow)


def test_a_sound_workflow_has_no_findings_and_kahns_order():
    assert validate(CHAIN) == ()
    assert order(dependencies(CHAIN)) == ("plan", "draft", "polish")


async def test_a_missing_input_names_what_is_there():
    bench = Bench(FakeModel(echo))
    await (await bench.run(CHAIN, inputs={"wisch": "x"})).execute()
    failed = bench.of(WorkflowFailed)[0]
    assert "input.wish" in failed.error and "wisch" in failed.detail
