from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from flowcabal_tui.domain.run import Decision
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.protocol.runs import NodeNeedsHuman, RunStateChanged
from tests.nodes.flows import FakeActions, act, answered, bench, body, edge, node, values
from tests.runner.fakes import flow, until


def both(**branches):
    return node("both", "parallel", branches=branches)


async def test_branches_run_at_the_same_time_and_the_node_waits_for_all():
    actions = FakeActions(holds={"a": asyncio.Event(), "b": asyncio.Event()})
    made = bench(actions)
    run = await made.run(
        flow(both(left=body(act("a")), right=body(act("b"))), act("after", x="{{result_of.both.left.did}}"))
    )
    task = asyncio.create_task(run.execute())
    await until(lambda: actions.going == 2)
    actions.holds["b"].set()
    await until(lambda: len(actions.done) == 1)
    assert "both" not in run.outputs
    actions.holds["a"].set()
    assert await task == "done"
    assert {name: value["did"] for name, value in values(run)["both"].items()} == {"left": "a", "right": "b"}
    assert values(run)["after"]["params"] == {"x": "a"}


async def test_a_branch_that_fails_fails_the_node_when_the_others_have_ended():
    made = bench(actions := FakeActions(holds={"slow": asyncio.Event()}))
    bad = body(node("bad", "condition", kind="equals", source="input.missing", value=1))
    run = await made.run(flow(both(bad=bad, good=body(act("slow"), act("then", x="{{result_of.slow.did}}")))))
    task = asyncio.create_task(run.execute())
    await until(lambda: actions.going)
    actions.holds["slow"].set()
    assert await task == "failed"
    assert [name for name, _given, _approved in actions.done] == ["slow", "then"]


async def test_a_branch_whose_exit_was_skipped_gives_nothing():
    check = node("check", "condition", kind="equals", source=1, value=2)
    made = bench()
    branch = body(check, act("x"), edges=(edge("check", "x", "true"),), leave="x")
    run = await made.run(flow(both(one=branch, two=body(check, act("x"), edges=(edge("check", "x", "true"),)))))
    assert await run.execute() == "done"
    assert values(run)["both"]["one"] is None and values(run)["both"]["two"]["label"] == "false"


async def test_a_run_that_waits_in_one_branch_says_so_when_the_other_has_ended():
    made = bench(actions := FakeActions(holds={"slow": asyncio.Event()}))
    asks = node("asks", "human", question="after {{result_of.slow}}?")
    run = await made.run(
        flow(
            both(
                one=body(act("slow"), asks, leave="asks"),
                two=body(act("quick"), act("then", x="{{result_of.quick.did}}")),
            )
        )
    )
    task = asyncio.create_task(run.execute())
    await until(lambda: len(actions.done) == 2)
    actions.holds["slow"].set()
    await until(lambda: any(event.state == "waiting" for event in made.of(RunStateChanged)))
    assert run.only_waits
    await answered(made, run, Decision("edit", text="this"))
    assert await task == "done" and values(run)["both"]["one"] == {"text": "this"}


@pytest.mark.parametrize("branches", [{}, {"a/b": body(act("x"))}, {" ": body(act("x"))}])
def test_branches_need_names_that_can_be_part_of_a_path(branches):
    with pytest.raises(ValidationError):
        kinds()["parallel"].params.model_validate({"branches": branches})


def test_an_exit_that_is_not_there_is_found():
    kind = kinds()["parallel"]
    params = kind.params.model_validate({"branches": {"one": body(act("x"), leave="y")}})
    assert [(one.code, one.field) for one in kind.check(params, node("p", "parallel"))] == [
        ("UNKNOWN_NODE", "branches.one.exit")
    ]


async def test_a_run_does_not_wait_between_the_rounds_of_a_loop():
    made = bench(actions := FakeActions(holds={"write": asyncio.Event()}))
    asks, rounds = (
        node("asks", "human", question="which?"),
        node("rounds", "loop", source=[1, 2, 3], body=body(act("write"))),
    )
    run = await made.run(flow(asks, rounds))
    task = asyncio.create_task(run.execute())
    await until(lambda: made.of(NodeNeedsHuman) and actions.going)
    actions.holds["write"].set()
    await until(lambda: "rounds" in run.outputs)
    await until(lambda: run.only_waits)
    told = [event.state for event in made.of(RunStateChanged)]
    assert told.count("waiting") == 1, "only when the last round has ended"
    await answered(made, run, Decision("edit", text="this"))
    assert await task == "done"
