"""The time that an answer may take: over both protocols, for streams, tools and structured questions."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from flowcabal_tui.domain.answer_schema import StructuredAnswer
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Finished, TextDelta
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.transport import Transport
from tests.faultserver import PROSE, FaultServer
from tests.models.calls import REQUEST, events_of, text_of
from tests.models.conftest import MakeModel
from tests.waiting import PATIENCE

LIMIT = 600.0


class Clock:
    """A clock that a test sets; `step` seconds pass with each look."""

    def __init__(self, step: float = 0.0) -> None:
        self.seconds, self.step = 0.0, step

    def __call__(self) -> float:
        self.seconds += self.step
        return self.seconds


class Facts(StructuredAnswer):
    """A list of lines."""

    facts: list[str]
    promises: list[str]


def timed(make: MakeModel, provider: str, clock: Clock, **fields: Any) -> HttpModel:
    model = make(provider, **({"answer_timeout": LIMIT, "idle_timeout": PATIENCE} | fields))
    model.clock = clock
    return model


async def stopped(model: HttpModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(model)
    return caught.value


async def test_an_answer_that_goes_on_arriving_is_stopped_at_its_limit_and_keeps_its_text(
    server: FaultServer, make: MakeModel, provider: str
) -> None:
    server.push({"content": "雨" * 500, "delay": 0.01})
    clock = Clock()
    pieces: list[str] = []

    async def read() -> None:
        async with aclosing(timed(make, provider, clock).stream(REQUEST)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    pieces.append(event.text)
                    clock.seconds += LIMIT / 8

    with pytest.raises(ModelError) as caught:
        await read()
    error = caught.value
    assert error.fault is ModelFault.TIME_LIMIT
    assert error.partial == "".join(pieces) and 0 < len(error.partial) < 500
    assert "600 s" in error.detail and f"{len(error.partial)} characters" in error.detail
    assert "kept" not in error.detail  # only some callers store the text
    assert "answer_timeout" in error.detail and "answer_timeout" in error.advice
    await server.wait_for("client_closed")
    assert len(server.log) == 1 and not error.retryable


async def test_an_answer_that_falls_silent_is_stopped_when_its_time_ends_before_the_silence_counts(
    server: FaultServer, make: MakeModel, provider: str
) -> None:
    server.push({"stall_after": 8})
    error = await stopped(timed(make, provider, Clock(), answer_timeout=0.5))
    assert error.fault is ModelFault.TIME_LIMIT
    assert error.partial and PROSE.startswith(error.partial)
    server.push({"stall_after": 8})
    silent = await stopped(timed(make, provider, Clock(), idle_timeout=0.5))
    assert silent.fault is ModelFault.STALLED


async def test_signs_of_life_do_not_prolong_an_answer(server: FaultServer, make: MakeModel, provider: str) -> None:
    server.push({"comments": 10_000, "comment_delay": 0.01})
    error = await stopped(timed(make, provider, Clock(LIMIT / 8)))
    assert (error.fault, error.partial) == (ModelFault.TIME_LIMIT, "")
    assert len(server.log) == 1


async def test_a_plain_body_that_trickles_in_is_stopped_at_its_limit(
    server: FaultServer, make: MakeModel, provider: str
) -> None:
    server.push({"type": "application/json", "raw": [" "] * 500, "delay": 0.01})
    error = await stopped(timed(make, provider, Clock(LIMIT / 8)))
    assert (error.fault, error.partial) == (ModelFault.TIME_LIMIT, "")
    await server.wait_for("client_closed")


def slowly(server: FaultServer, fault: dict[str, Any]) -> None:
    """The next answer begins with a message and goes on for as long as anyone listens."""
    server.push({"type": "text/html", "raw": ["no room. ", *"x" * 100_000], "delay": 0.01, "times": -1} | fault)


@pytest.mark.parametrize(("status", "fault"), [(500, ModelFault.SERVER), (200, ModelFault.PROTOCOL)])
async def test_the_body_of_an_error_or_a_page_that_trickles_in_is_not_waited_for(
    server: FaultServer, make: MakeModel, provider: str, status: int, fault: ModelFault
) -> None:
    slowly(server, {"status": status})
    error = await stopped(timed(make, provider, Clock(), answer_timeout=0.5, retries=0))
    assert error.fault is fault and "no room" in error.detail
    await server.wait_for("client_closed")


async def test_vectors_that_trickle_in_are_stopped_at_their_limit(server: FaultServer) -> None:
    slowly(server, {"type": "application/json", "status": 200})
    endpoint = Endpoint(provider="openai", model="mock", base_url=server.url + "/v1", answer_timeout=0.5)
    transport = Transport(endpoint, server.url + "/v1", {}, None)
    with pytest.raises(ModelError) as caught:
        await transport.post("/chat/completions", {"model": "mock", "messages": [], "stream": True})
    assert caught.value.fault is ModelFault.TIME_LIMIT and "answer_timeout" in caught.value.detail
    await transport.aclose()


async def test_the_wait_for_the_first_sign_has_a_limit_of_its_own(
    server: FaultServer, make: MakeModel, provider: str
) -> None:
    clock = Clock()
    model = timed(make, provider, clock)
    clock.seconds = 10 * LIMIT
    assert text_of(await events_of(model)) == PROSE


async def test_an_answer_whose_end_has_come_is_whole_however_long_it_took(
    server: FaultServer, make: MakeModel, provider: str
) -> None:
    server.push({"content": "雨。"})
    clock = Clock()
    pieces = []
    async with aclosing(timed(make, provider, clock, answer_timeout=1e-9).stream(REQUEST)) as events:
        async for event in events:
            pieces.append(event)
    assert isinstance(pieces[-1], Finished) and pieces[-1].finish == "stop"


@pytest.mark.parametrize("structured", ["tool", "native", "prompted"])
async def test_a_structured_answer_that_is_stopped_keeps_its_whole_items_and_is_not_asked_for_again(
    server: FaultServer, make: MakeModel, provider: str, structured: str
) -> None:
    facts = [f"line {number} of the log" for number in range(20)]
    text = json.dumps({"facts": facts, "promises": ["to return"]})
    answer_of: dict[str, Any] = {"stall_after": 100, "content": text}
    if structured == "tool":
        answer_of = {"stall_after": 12, "tool_calls": [{"name": "give_answer", "arguments": text}]}
    server.push(answer_of | {"times": -1})
    model = timed(make, provider, Clock(), answer_timeout=0.5, structured=structured)
    value, answer = await model.structured(REQUEST, Facts)
    assert value.facts and value.facts == facts[: len(value.facts)] and len(value.facts) < 20
    assert not answer.whole and set(value.unread) == {"facts", "promises"}
    assert len(server.log) == 1


async def test_a_structured_answer_of_which_nothing_can_be_read_is_an_error_with_its_text(
    server: FaultServer, make: MakeModel, provider: str
) -> None:
    server.push({"stall_after": 8})
    with pytest.raises(ModelError) as caught:
        await timed(make, provider, Clock(), answer_timeout=0.5, structured="prompted").structured(REQUEST, Facts)
    assert caught.value.fault is ModelFault.TIME_LIMIT and PROSE.startswith(caught.value.partial)
