"""The narrow places of a run: cancels that come too early, equal requests side by side, logs that cannot be written."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import DiskFull, ModelError, ModelFault
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.model_calls import RetryWait
from flowcabal_tui.domain.run import Decision, Evaluation
from flowcabal_tui.domain.workflow import Edge
from flowcabal_tui.protocol.runs import NodeCompleted, NodeNeedsHuman, NodeStateChanged, RunStateChanged
from flowcabal_tui.runner.fold import fold
from tests.compat.flowcabal_fakes import Memory
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, prompt, texts, until
from tests.waiting import soon


def echo(request):
    return f"[{request.messages[-1].content}]"


async def test_a_cancel_that_comes_before_the_first_step_of_a_node_ends_the_run():
    bench = Bench(FakeModel(echo))
    run = await bench.run(flow(prompt("a", "x"), prompt("b", "@a")))
    task = asyncio.create_task(run.execute())
    await until(lambda: run._tasks)
    run.cancel()
    assert await soon(task) == "cancelled"
    assert {node: state.state for node, state in fold(bench.journal.events).nodes.items()} == {
        "a": "cancelled",
        "b": "blocked",
    }


@pytest.mark.parametrize(("value", "state"), [('{"label": "true"}', "done"), ('{"result": true}', "skipped")])
async def test_the_label_of_an_output_says_which_branch_it_takes(value: str, state: str):
    bench = Bench(FakeModel(echo))
    branch = Edge(source=NodeId("a"), target=NodeId("b"), condition="true")
    document = flow(prompt("a", "x", context=False), prompt("b", "y", context=False), edges=(branch,))
    run = await bench.run(document, scope={"pins": {"a": Output(value, "json")}})
    await run.execute()
    assert fold(bench.journal.events).nodes[NodeId("b")].state == state


async def test_equal_requests_side_by_side_are_paid_for_once():
    bench = Bench(FakeModel(lambda r: f"answer {len(bench.model.calls)}"))
    first, second = await bench.run(flow(prompt("a", "x"))), await bench.run(flow(prompt("a", "x")), run="r2")
    assert await asyncio.gather(first.execute(), second.execute()) == ["done", "done"]
    assert len(bench.model.calls) == 1 and texts(first) == texts(second)


async def test_what_was_paid_for_is_kept_and_booked_though_the_run_is_cancelled_at_that_moment():
    bench = Bench(FakeModel(echo))
    run = await bench.run(flow(prompt("a", "x")))
    keep = bench.journal.keep_result

    async def cancelled_meanwhile(*given):
        run.cancel()
        await keep(*given)

    bench.journal.keep_result = cancelled_meanwhile
    assert await run.execute() == "cancelled"
    assert bench.spend.booked == 1 and len(bench.journal.results) == 1


async def test_another_model_does_not_take_the_key_of_one_that_failed():
    bench = Bench(FakeModel(lambda r: ModelError(ModelFault.AUTH, "wrong key")))
    await (await bench.run(flow(prompt("a", "x")))).execute()
    bench.model.endpoint, bench.model.says = Endpoint(model="other"), lambda r: "by the other"
    await (await bench.run(flow(prompt("a", "x")))).execute()
    bench.model.endpoint, bench.model.says = Endpoint(model="fake"), lambda r: "by the first"
    run = await bench.run(flow(prompt("a", "x")), run="r2")
    await run.execute()
    assert texts(run) == {"a": "by the first"}


async def test_a_kill_after_an_outcome_was_taken_over_asks_nobody_again():
    judged = FakeMonitor(lambda text, n: Evaluation("ask", "in doubt", 0.5))
    bench = Bench(FakeModel(echo), judged)
    workflow = flow(prompt("a", "x", angles=["timeline"]))
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    question = bench.of(NodeNeedsHuman)[0].question.id
    await bench.journal.answer(question, Decision("edit", text="mine"))
    run.answer(question, Decision("edit", text="mine"))
    await task
    await (await bench.run(workflow, run="r2")).execute()
    end = next(at for at, e in enumerate(bench.journal.events) if e.run == "r2" and e.kind == "nodes-served")
    del bench.journal.events[end:]
    again = await bench.run(workflow, run="r2")
    assert await soon(again.execute()) == "done"
    assert texts(again) == {"a": "mine"} and len(judged.seen) == 1


async def test_a_log_that_cannot_be_written_leaves_the_other_branches_and_is_told_as_it_is():
    bench = Bench(FakeModel(lambda r: ModelError(ModelFault.AUTH, "no") if "x" in r.messages[-1].content else echo(r)))
    run = await bench.run(flow(prompt("a", "x"), prompt("c", "y")))
    record = bench.journal.record

    async def full(*events: RunEvent):
        if any(event.kind == "node-failed" for event in events):
            raise DiskFull("no room")
        await record(*events)

    bench.journal.record = full
    with pytest.raises(DiskFull, match="no room"):
        await run.execute()
    assert texts(run) == {"c": "[y]"}
    assert not any(event.kind == "run-ended" for event in bench.journal.events), "so it can be resumed"


async def test_a_run_with_an_answer_no_longer_only_waits():
    bench = Bench(FakeModel(echo))
    run = await bench.run(flow(prompt("a", "x", review="always"), prompt("b", "y", review="always")))
    task = asyncio.create_task(run.execute())
    await until(lambda: run.only_waits and len(bench.of(NodeNeedsHuman)) == 2)
    assert run.answer(bench.of(NodeNeedsHuman)[0].question.id, Decision("approve"))
    assert not run.only_waits, "the answered node can go on at once"
    run.cancel()
    await task


async def test_a_step_can_be_stopped_before_it_begins_but_not_after_it_ended():
    bench = Bench(FakeModel(echo, gates={"x": asyncio.Event()}))
    run = await bench.run(flow(prompt("a", "x"), prompt("b", "@a"), prompt("c", "@b"), prompt("d", "y")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.model.going == 1 and "d" in texts(run))
    assert run.cancel(NodeId("b")) and not run.cancel(NodeId("d")) and not run.cancel(NodeId("nobody"))
    bench.model.gates["x"].set()
    assert await task == "cancelled"
    assert {node: state.state for node, state in fold(bench.journal.events).nodes.items()} == {
        "a": "done",
        "b": "cancelled",
        "c": "blocked",
        "d": "done",
    }


async def test_text_after_a_wait_shows_the_node_running_again():
    bench = Bench(FakeModel(echo, waits=(RetryWait(7, "busy", 2),)))
    await (await bench.run(flow(prompt("a", "x")))).execute()
    states = [event.state for event in bench.of(NodeStateChanged)]
    assert states[-3:] == ["retrying", "running", "done"]


async def test_a_node_is_running_while_its_context_is_gathered():
    bench = Bench(FakeModel(echo))
    bench.ports = replace(bench.ports, context=Memory("rules", "material"))
    await (await bench.run(flow(prompt("a", "x")))).execute()
    states = [(event.state, event.detail) for event in bench.of(NodeStateChanged)]
    assert states[:2] == [("running", "gathering the context"), ("ready", "")]


async def test_a_question_that_was_withdrawn_by_a_cancel_is_asked_again_on_resume():
    bench = Bench(FakeModel(echo))
    workflow = flow(prompt("a", "x", review="always"))
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    run.cancel()
    assert await task == "cancelled"
    (question,) = bench.journal.questions
    assert not await bench.journal.answer(question, Decision("approve"))
    second = await bench.run(workflow)
    task = asyncio.create_task(second.execute())
    await until(lambda: len(bench.of(NodeNeedsHuman)) == 2)
    assert second.answer(question, Decision("approve"))
    assert await task == "done" and len(bench.model.calls) == 1
    assert bench.of(NodeCompleted)[-1].output == "[x]"
    assert [event.state for event in bench.of(RunStateChanged)] == [
        "waiting",
        "cancelled",
        "waiting",
        "running",
        "done",
    ]
    assert fold(await bench.journal.history(RunId("r1"))).state == "done"


async def test_the_state_of_a_run_is_the_last_that_is_told_of_it():
    bench = Bench(FakeModel(echo))
    await (await bench.run(flow(prompt("a", "x")))).execute()
    assert bench.events[-1] == RunStateChanged(RunId("r1"), "done")


async def test_what_was_paid_for_and_could_not_be_kept_is_booked():
    bench = Bench(FakeModel(echo))

    async def full(*_given):
        raise DiskFull("no room")

    bench.journal.keep_result = full
    run = await bench.run(flow(prompt("a", "x")))
    assert await run.execute() == "failed"
    assert (len(bench.model.calls), bench.spend.booked) == (1, 1)
