from __future__ import annotations

from flowcabal_tui.domain.state import DualState, StateEffect
from tests.nodes.flows import bench, node, values
from tests.runner.fakes import flow


async def made_of(state: DualState, items, made=None, run="r1", **params):
    made = made or bench()
    going = await made.run(
        flow(node("it", "chat_context", **params)), run, inputs={"items": items}, scope={"state": state}
    )
    assert await going.execute() == "done"
    return values(going)["it"]["items"]


async def test_the_state_as_prompts_see_it_and_the_user_s_words_become_messages():
    state = DualState.of({"b": 2, "地点": "酒馆"})
    state.apply(StateEffect("start", keys=("b",)))
    state.apply(StateEffect("working", {"b": 9}))
    (item,) = await made_of(state, {"user_input": " 推门 "}, slots="seen")
    assert item["messages"] == [
        {"role": "system", "content": "[world_state]\nb=2\n地点=酒馆"},
        {"role": "user", "content": "推门"},
    ]
    assert item["seen"] == {"state_for_prompt": {"b": 2, "地点": "酒馆"}}


async def test_nobody_said_anything_in_an_empty_world():
    assert await made_of(DualState(), [{}]) == [{"messages": [{"role": "system", "content": "[world_state]\n(empty)"}]}]


async def test_another_state_makes_other_messages():
    made = bench()
    before = await made_of(DualState.of({"a": 1}), [{}], made)
    assert await made_of(DualState.of({"a": 2}), [{}], made, "r2") != before
