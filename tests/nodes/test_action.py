from __future__ import annotations

import asyncio
import json

from flowcabal_tui.domain.run import Decision
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from tests.nodes.flows import FakeActions, act, answered, bench, node, values
from tests.runner.fakes import flow, until

SOURCE = node("source", "end", value={"n": 3, "to": "林"})


async def test_an_action_gets_its_params_with_bindings_filled_in_and_tells_them():
    made = bench(actions := FakeActions({"send": lambda given: {"sent": given["n"] + 1}}))
    run = await made.run(flow(act("send", n="result_of.source.n", to={"__from__": "result_of.source.to"}), SOURCE))
    assert await run.execute() == "done"
    assert actions.done == [("send", {"n": 3, "to": "林"}, False)]
    assert values(run)["send"] == {"sent": 4, "params": {"n": 3, "to": "林"}}


async def test_a_result_that_is_no_object_is_yielded_as_it_is():
    made = bench(FakeActions({"list": lambda given: [1, 2]}))
    run = await made.run(flow(act("list")))
    await run.execute()
    assert values(run) == {"list": [1, 2]}


async def test_an_action_is_carried_out_again_in_every_run():
    made = bench(actions := FakeActions())
    for name in ("r1", "r2"):
        await (await made.run(flow(act("send")), run=name)).execute()
    assert len(actions.done) == 2


async def test_a_gated_action_shows_what_it_would_do_and_waits():
    made = bench(actions := FakeActions(gates={"send"}))
    run = await made.run(flow(act("send", n="result_of.source.n"), SOURCE))
    task = asyncio.create_task(run.execute())
    await until(lambda: made.of(NodeNeedsHuman))
    asked = made.of(NodeNeedsHuman)[0].question
    assert asked.kind == "gate" and "send" in asked.reason and json.loads(asked.proposal) == {"n": 3}
    assert actions.done == []
    await answered(made, run, Decision("approve"))
    assert await task == "done" and actions.done == [("send", {"n": 3}, True)]


async def test_a_gate_that_is_refused_ends_the_node_without_the_action():
    made = bench(actions := FakeActions(gates={"send"}))
    run = await made.run(flow(act("send"), act("after", x="{{result_of.send.did}}")))
    task = asyncio.create_task(run.execute())
    await answered(made, run, Decision("reject"))
    assert await task == "failed" and actions.done == []


async def test_an_approval_holds_for_exactly_what_was_shown():
    """The answer outlives the process; with other inputs it is asked again."""
    made = bench(actions := FakeActions(gates={"send"}))
    steps = flow(act("send", n="{{input.n}}"))
    first = await made.run(steps, inputs={"n": "one"})
    task = asyncio.create_task(first.execute())
    await until(lambda: made.of(NodeNeedsHuman))
    question = made.of(NodeNeedsHuman)[0].question
    first.close()
    await task
    await made.journal.answer(question.id, Decision("approve"))
    again = await made.run(steps, inputs={"n": "two"})
    task = asyncio.create_task(again.execute())
    await until(lambda: len(made.of(NodeNeedsHuman)) == 2)
    assert made.of(NodeNeedsHuman)[1].question.id != question.id and actions.done == []
    again.close()
    await task
    resumed = await made.run(steps, inputs={"n": "one"})
    assert await resumed.execute() == "done" and actions.done == [("send", {"n": "one"}, True)]


async def test_an_action_that_was_cut_off_by_a_kill_is_carried_out_again_only_when_a_person_says_so():
    begun = asyncio.Event()
    made = bench(actions := FakeActions())
    done_at_once = actions.act

    async def hangs(action, params, *, approved):
        begun.set()
        await asyncio.Event().wait()

    actions.act = hangs
    for kill in (1, 2):
        run = await made.run(flow(act("send")))
        task = asyncio.create_task(run.execute())
        if kill == 2:
            await answered(made, run, Decision("approve"))
        await begun.wait()
        begun.clear()
        run.close()
        await task
    actions.act = done_at_once
    run = await made.run(flow(act("send")))
    task = asyncio.create_task(run.execute())
    await until(lambda: len(made.of(NodeNeedsHuman)) == 2)
    assert actions.done == [] and "again" in made.of(NodeNeedsHuman)[1].question.reason
    await answered(made, run, Decision("approve"), 1)
    assert await task == "done" and len(actions.done) == 1


def test_an_action_without_a_name_is_found_and_the_output_schema_tells_of_the_params():
    kind = kinds()["action"]
    params = kind.params.model_validate({"action": " ", "output": {"type": "object", "properties": {"id": {}}}})
    assert [one.code for one in kind.check(params, node("a", "action"))] == ["MISSING_ACTION"]
    assert set(kind.output_schema(params)["properties"]) == {"id", "params"}
