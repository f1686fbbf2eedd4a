from __future__ import annotations

import asyncio

import pytest

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.state import DualState, StateEffect
from flowcabal_tui.nodes.registry import kinds
from tests.nodes.flows import answered, bench, edge, node, values
from tests.runner.fakes import flow, until


async def ran(state: DualState, *nodes, edges=(), inputs=None, made=None, run="r1"):
    made = made or bench()
    going = await made.run(flow(*nodes, edges=edges), run=run, scope={"state": state}, inputs=inputs or {})
    assert await going.execute() == "done", made.events
    return values(going)


async def test_a_read_puts_values_into_each_item():
    state = DualState.of({"hp": 10, "bag": {"gold": 3}})
    got = await ran(state, node("it", "state_read", source="input.items"), inputs={"items": [{"a": 1}, {}]})
    assert got["it"]["items"] == [{"a": 1, "state": {"hp": 10, "bag": {"gold": 3}}}, {"state": state.view()}]


async def test_a_read_without_a_source_gives_one_item_and_leaves_out_keys_that_are_not_there():
    got = await ran(DualState.of({"hp": 10}), node("it", "state_read", keys=["hp", "mp"], into="now"))
    assert got["it"]["items"] == [{"now": {"hp": 10}}]


async def test_a_prompt_sees_the_stable_value_of_a_pending_key():
    state = DualState.of({"mood": "calm"})
    state.apply(StateEffect("start", keys=("mood",)))
    state.apply(StateEffect("working", {"mood": "draft"}))
    got = await ran(state, node("a", "state_read", for_prompt=True), node("b", "state_read"))
    assert got["a"]["items"][0]["state"] == {"mood": "calm"} and got["b"]["items"][0]["state"] == {"mood": "draft"}


async def test_a_read_is_done_again_when_the_state_has_changed():
    made, state = bench(), DualState.of({"hp": 1})
    reads = node("it", "state_read")
    await ran(state, reads, made=made)
    state.apply(StateEffect("write", {"hp": 2}))
    assert (await ran(state, reads, made=made, run="r2"))["it"]["items"] == [{"state": {"hp": 2}}]


async def test_a_write_takes_values_and_fields_of_the_first_item_and_the_fields_win():
    state = DualState.of({"hp": 10, "mood": "calm"})
    write = node(
        "it", "state_write", source="input.items", updates={"hp": 1, "mood": "{{input.mood}}"}, from_item={"hp": "n"}
    )
    got = await ran(state, write, inputs={"items": [{"n": 7}, {"n": 8}], "mood": "wild"})
    assert state.view() == {"hp": 7, "mood": "wild"}
    assert got["it"] == {"items": [{"n": 7}, {"n": 8}], "errors": [], "written": {"hp": 7, "mood": "wild"}}


async def test_a_field_that_the_item_does_not_have_is_told_and_not_written():
    state = DualState.of({"hp": 10})
    got = await ran(
        state, node("it", "state_write", source="input.items", from_item={"hp": "n"}), inputs={"items": {"m": 1}}
    )
    assert state.view() == {"hp": 10} and "m" in got["it"]["errors"][0]["message"]


async def test_a_counter_begins_at_one_and_what_is_no_number_stays():
    state = DualState.of({"turn": 4, "text": "5", "mood": "calm"})
    got = await ran(state, node("it", "state_write", increment=["turn", "new", "text", "mood"]))
    assert state.view() == {"turn": 5, "new": 1, "text": 6, "mood": "calm"} and len(got["it"]["errors"]) == 1


async def test_counters_side_by_side_lose_no_step():
    state = DualState(durable=True)
    made = bench()
    await ran(state, *(node(f"n{n}", "state_write", increment=["turn"]) for n in range(20)), made=made)
    assert state.view() == {"turn": 20} and made.journal.states["turn"].stable == 20


async def test_what_cannot_be_kept_is_not_in_the_state_either():
    state, made = DualState.of({"turn": 1}), bench()

    async def full(*_given, **_more):
        raise DiskFull("no room")

    made.journal.keep_output = full
    run = await made.run(flow(node("it", "state_write", increment=["turn", "new"])), scope={"state": state})
    assert await run.execute() == "failed" and state.view() == {"turn": 1} and state.pending == frozenset()


async def test_a_key_can_be_rewritten_while_prompts_see_the_old_value():
    state, seen = DualState.of({"plan": "old"}), {"plan": "old"}
    steps = (
        node("start", "state_write", mode="start", keys=["plan"]),
        node("draft", "state_write", mode="working", updates={"plan": "new"}),
        node("see", "end", value="state.plan"),
        node("done", "state_write", mode="complete", updates={"plan": "final"}),
    )
    edges = (edge("start", "draft"), edge("draft", "see"), edge("see", "done"))
    got = await ran(state, *steps, edges=edges)
    assert got["see"] == seen["plan"] and state.view(prompt=True) == {"plan": "final"} and not state.pending


async def test_a_rewrite_that_fails_falls_back():
    state = DualState.of({"plan": "old"})
    steps = (
        node("start", "state_write", mode="start", keys=["plan"]),
        node("draft", "state_write", mode="working", updates={"plan": "new"}),
        node("fail", "state_write", mode="fail", keys=["plan"]),
    )
    await ran(state, *steps, edges=(edge("start", "draft"), edge("draft", "fail")))
    assert state.view() == {"plan": "old"} and not state.pending


async def test_a_resumed_run_writes_nothing_twice():
    made, steps = (
        bench(),
        (
            node("it", "state_write", increment=["turn"]),
            node("ask", "human", question="{{result_of.it.written.turn}}?"),
        ),
    )
    first = await made.run(flow(*steps), scope={"state": DualState()})
    task = asyncio.create_task(first.execute())
    await until(lambda: first.only_waits)
    first.close()
    await task
    state = DualState()
    second = await made.run(flow(*steps), scope={"state": state})
    task = asyncio.create_task(second.execute())
    await answered(made, second, Decision("edit", text="yes"), 1)
    assert await task == "done" and state.view() == {"turn": 1}


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"mode": "start"}, ["MISSING_PARAM"]),
        ({"mode": "fail", "keys": ["a"], "updates": {"a": 1}}, ["UNUSED_PARAM"]),
        ({"mode": "write", "keys": ["a"], "updates": {"a": 1}}, ["UNUSED_PARAM"]),
        ({"mode": "complete", "keys": ["a"]}, []),
    ],
)
def test_params_that_do_not_go_together_are_found_before_the_run(params, codes):
    kind = kinds()["state_write"]
    assert [one.code for one in kind.check(kind.params.model_validate(params), node("it", "state_write"))] == codes
