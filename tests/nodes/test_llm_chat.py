from __future__ import annotations

import asyncio

from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Message
from flowcabal_tui.domain.state import DualState
from tests.nodes.flows import bench, failure, node, values
from tests.runner.fakes import flow, until


def talk(*said: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in zip(("system", "user", "assistant"), said, strict=False)]


async def chatted(items, made=None, run="r1", state=None, **params):
    made = made or bench()
    going = await made.run(
        flow(node("it", "llm_chat", **params)), run=run, inputs={"items": items}, scope={"state": state or DualState()}
    )
    ended = await going.execute()
    return made, ended, values(going).get("it")


async def test_each_item_gets_the_answer_to_its_own_messages():
    made, _state, value = await chatted([{"messages": talk("be brief", "你好")}, {"messages": "hello"}])
    assert value == {
        "items": [
            {"messages": talk("be brief", "你好"), "response": "[你好]"},
            {"messages": "hello", "response": "[hello]"},
        ],
        "errors": [],
    }
    assert made.model.calls[0].messages == (Message("system", "be brief"), Message("user", "你好"))


async def test_the_calls_go_on_side_by_side():
    made = bench()
    made.model.gates = {"one": asyncio.Event(), "two": asyncio.Event()}
    task = asyncio.create_task(chatted([{"messages": "one"}, {"messages": "two"}], made))
    await until(lambda: made.model.going == 2)
    for gate in made.model.gates.values():
        gate.set()
    assert (await task)[1] == "done"


async def test_an_item_that_was_answered_is_not_paid_for_again():
    made, _state, _value = await chatted([{"messages": "x"}])
    _made, state, value = await chatted([{"messages": "x"}], made, run="r2")
    assert state == "done" and value["items"][0]["response"] == "[x]" and len(made.model.calls) == 1


async def test_a_failed_call_stops_the_node_and_keeps_what_the_others_gave():
    made = bench(
        says=lambda request: ModelError(ModelFault.AUTH, "no key") if request.messages[-1].content == "bad" else "ok"
    )
    _made, state, _value = await chatted([{"messages": "bad"}, {"messages": "good"}], made)
    assert state == "failed" and "no key" in failure(made)
    made.model.says = lambda request: "later"
    _made, state, value = await chatted([{"messages": "bad"}, {"messages": "good"}], made, run="r2")
    assert [item["response"] for item in value["items"]] == ["later", "ok"]


async def test_a_failed_call_can_be_told_instead():
    made = bench(says=lambda request: ModelError(ModelFault.AUTH, "no key"))
    _made, state, value = await chatted([{"messages": "bad"}], made, on_error="keep")
    assert state == "done" and value["items"] == [{"messages": "bad"}] and "no key" in value["errors"][0]["message"]


async def test_messages_that_cannot_be_sent_are_an_error():
    for bad in ([], [{"role": "boss", "content": "x"}], [{"role": "user"}], ["x"], 5):
        made, state, _value = await chatted([{"messages": bad}])
        assert state == "failed" and made.model.calls == [], bad
    made, _state, _value = await chatted([{"talk": []}])
    assert "talk" in failure(made)


async def test_an_answer_that_may_be_cut_off_is_told():
    made = bench()
    made.model.finish = "length"
    _made, _state, value = await chatted([{"messages": "x"}], made)
    assert value["items"][0]["response"] == "[x]" and value["errors"][0]["item"] == 0


async def test_the_state_can_stand_in_for_messages():
    state = DualState.of({"b": 2, "a": "风"})
    made, _state, _value = await chatted([{"user_input": " 推门 "}, {"messages": "none"}], state=state, world=True)
    world = Message("system", "[world_state]\na=风\nb=2")
    assert sorted(len(call.messages) for call in made.model.calls) == [1, 2]
    assert (world, Message("user", "推门")) in [call.messages for call in made.model.calls]
    made, _state, _value = await chatted([{}], world=True)
    assert made.model.calls[0].messages == (Message("system", "[world_state]\n(empty)"),)


async def test_another_state_is_another_question():
    made, _state, _value = await chatted([{}], world=True, state=DualState.of({"a": 1}))
    await chatted([{}], made, run="r2", world=True, state=DualState.of({"a": 2}))
    assert len(made.model.calls) == 2
