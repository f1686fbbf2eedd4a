"""Tools, called until there is an answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.model_calls import Provider, Tool
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.tool_loop import run_tools
from tests.faultserver import FaultServer
from tests.models.calls import REQUEST

LOOK = Tool("look", "Looks up a chapter.", {"type": "object", "properties": {"chapter": {"type": "integer"}}})
WITH_TOOLS = replace(REQUEST, tools=(LOOK,))


async def look(arguments: dict[str, Any]) -> str:
    if arguments["chapter"] > 9:
        raise ValueError("there are nine chapters")
    return f"chapter {arguments['chapter']}: rain"


def call(arguments: Any, name: str = "look") -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


async def test_parallel_calls_are_answered_in_one_turn(
    server: FaultServer, model: HttpModel, provider: Provider
) -> None:
    server.push(
        {"tool_calls": [call({"chapter": 1}), call({"chapter": 2})], "reasoning": "look first"}, {"content": "Rain."}
    )
    answer = await run_tools(model, WITH_TOOLS, {"look": look})
    assert answer.text == "Rain."
    messages = server.log[1]["body"]["messages"]
    assert "chapter 1: rain" in json.dumps(messages) and "chapter 2: rain" in json.dumps(messages)
    assert answer.usage.input_tokens == sum(
        len(json.dumps(entry["body"]["messages"], ensure_ascii=False)) for entry in server.log
    )
    if provider == "anthropic":
        thought, *calls = messages[-2]["content"]
        assert (thought["thinking"], thought["signature"]) == ("look first", "c2lnbmVk")
        assert [block["input"] for block in calls] == [{"chapter": 1}, {"chapter": 2}]
        assert [block["tool_use_id"] for block in messages[-1]["content"]] == ["toolu_0", "toolu_1"]
    else:
        assert messages[-3]["reasoning_content"] == "look first"
        assert [message["tool_call_id"] for message in messages[-2:]] == ["call_0", "call_1"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (call({"chapter": 99}), "there are nine chapters"),
        (call("{broken"), "no JSON"),
        (call("[1]"), "no JSON object"),
        (call({}), "chapter"),
        (call({}, "erase"), "no such tool"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(
    server: FaultServer, model: HttpModel, wrong: dict[str, Any], told: str
) -> None:
    server.push({"tool_calls": [wrong]}, {"content": "Rain."})
    assert (await run_tools(model, WITH_TOOLS, {"look": look})).text == "Rain."
    assert told in json.dumps(server.log[1]["body"]["messages"][-1])


async def test_endless_calls_end_at_the_limit(server: FaultServer, model: HttpModel) -> None:
    server.push({"tool_calls": [call({"chapter": 1})], "times": -1})
    with pytest.raises(ModelError):
        await run_tools(model, WITH_TOOLS, {"look": look}, limit=3)
    assert len(server.log) == 3
    assert "none" in json.dumps(server.log[-1]["body"]["tool_choice"])
