"""Stable beginnings of a prompt are marked for Anthropic's cache, and for nobody else."""

from __future__ import annotations

import json
import random

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.models.anthropic import AnthropicModel
from flowcabal_tui.models.openai import OpenAIModel


async def _no_sleep(_seconds: float) -> None: ...


def bodies(*messages: Message) -> tuple[dict, dict]:
    request = ModelRequest(messages)
    one = AnthropicModel(Endpoint(provider="anthropic", model="m"), "k", random.Random(0), _no_sleep)
    other = OpenAIModel(Endpoint(model="m"), "k", random.Random(0), _no_sleep)
    return one.body(request), other.body(request)


def test_the_stable_beginnings_end_blocks_that_are_kept_in_the_cache() -> None:
    told, asked = "the book\n\n", "write it"
    mine, theirs = bodies(Message("system", "rules"), Message("user", told + asked, stable=(4, len(told))))
    assert mine["system"] == [{"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}]
    (turn,) = mine["messages"]
    assert [("cache_control" in block, block["text"]) for block in turn["content"]] == [
        (True, "the "), (True, "book\n\n"), (False, asked),
    ]  # fmt: skip
    assert "cache_control" not in json.dumps(theirs)
    assert theirs["messages"][1]["content"] == told + asked


def test_no_more_breakpoints_than_the_protocol_takes_and_no_blank_block() -> None:
    mine, _theirs = bodies(Message("system", "rules"), Message("user", "abcdefgh\n", stable=(0, 1, 2, 3, 4, 8, 99)))
    assert json.dumps(mine).count("cache_control") == 4
    assert all(block["text"].strip() for block in mine["messages"][0]["content"])
    assert "".join(block["text"] for block in mine["messages"][0]["content"]) == "abcdefgh"
