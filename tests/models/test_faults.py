"""The table of faults, for both protocols."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing
from datetime import date
from email.utils import formatdate
from typing import Any

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    Queued,
    RetryWait,
    TextDelta,
    ThinkingDelta,
)
from flowcabal_tui.domain.providers import Provider
from flowcabal_tui.models.backoff import Backoff
from flowcabal_tui.models.failures import Failures, retry_after
from flowcabal_tui.models.http_model import HttpModel
from tests.faultserver import PROSE, FaultServer
from tests.models.calls import REQUEST, events_of, text_of
from tests.models.conftest import KEY, MakeModel, Waits
from tests.waiting import PATIENCE

_STALL = 2.0
"""Seconds of silence that end a stream which stalls on purpose: more than a busy machine takes between two events."""


def _patience(kind: ModelFault) -> float:
    """Only a stream that stalls on purpose is given up for its silence."""
    return _STALL if kind is ModelFault.STALLED else PATIENCE


def last(events: list[ModelEvent]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


async def failure(model: HttpModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(model)
    return caught.value


@pytest.mark.parametrize(
    "fault",
    [
        {},
        {"ttft": 0.3},
        {"comment_at": 3},
        {"no_done": True},
        {"empty_choices_at": 0},
        {"split": 1},
        {"split": 7},
    ],
    ids=str,
)
async def test_harmless_quirks_do_not_change_the_text(
    server: FaultServer, model: HttpModel, provider: Provider, fault: dict[str, Any]
) -> None:
    if provider == "anthropic" and "empty_choices_at" in fault:
        pytest.skip("only OpenAI has choices")
    server.push(fault)
    events = await events_of(model)
    assert text_of(events) == PROSE
    assert last(events).finish == "stop"
    assert last(events).model == "mock"


async def test_usage_is_what_the_provider_counted(server: FaultServer, model: HttpModel, provider: Provider) -> None:
    usage = last(await events_of(model)).usage
    body = server.log[0]["body"]
    assert usage.output_tokens == len(PROSE)
    assert usage.input_tokens and usage.input_tokens > len(body["messages"][-1]["content"])
    assert usage.cached_tokens == (3 if provider == "anthropic" else None)


async def test_missing_usage_stays_unknown(server: FaultServer, model: HttpModel) -> None:
    server.push({"usage": False})
    usage = last(await events_of(model)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (None, None, None)


async def test_thinking_is_kept_apart_from_the_text(server: FaultServer, model: HttpModel, provider: Provider) -> None:
    server.push({"reasoning": "先想一想雨声", "content": "雨。"})
    events = await events_of(model)
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "先想一想雨声"
    assert text_of(events) == "雨。"
    assert last(events).signature == ("c2lnbmVk" if provider == "anthropic" else "")


async def test_thinking_left_in_the_text_is_taken_out_of_it(server: FaultServer, make: MakeModel) -> None:
    server.push({"content": "<think>先想一想</think>\n\n雨。"})
    answer = await make("openai").answer(REQUEST)
    assert (answer.text, answer.thinking) == ("雨。", "先想一想")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"reset_after": 8}, ModelFault.NETWORK),
        ({"eof_after": 8}, ModelFault.TRUNCATED),
        ({"bad_json_at": 8}, ModelFault.PROTOCOL),
        ({"error_event_at": 8}, ModelFault.OVERLOADED),
        ({"stall_after": 8}, ModelFault.STALLED),
        ({"finish": "content_filter"}, ModelFault.CONTENT_FILTER),
    ],
    ids=str,
)
async def test_a_stream_that_breaks_keeps_its_text_and_is_not_sent_again(
    server: FaultServer, make: MakeModel, provider: Provider, fault: dict[str, Any], kind: ModelFault
) -> None:
    server.push(fault)
    model = make(provider, idle_timeout=_patience(kind))
    shown: list[str] = []

    async def read() -> None:
        async with aclosing(model.stream(REQUEST)) as events:
            async for event in events:
                shown.extend([event.text] if isinstance(event, TextDelta) else [])

    with pytest.raises(ModelError) as caught:
        await read()
    error = caught.value
    assert error.fault is kind
    assert error.partial == "".join(shown)
    assert error.partial and PROSE.startswith(error.partial)
    assert str(len(error.partial)) in error.detail
    assert error.advice
    assert len(server.log) == 1


@pytest.mark.parametrize("broken", ["data: {cut off", "data: {}\n\ndata: 7", 'data: {"error": {"message": "busy"}}'])
async def test_text_that_came_in_one_piece_with_something_broken_is_kept(
    server: FaultServer, make: MakeModel, broken: str
) -> None:
    said = '{"choices": [{"delta": {"content": "雨。"}}]}'
    server.push({"raw": f"data: {said}\n\ndata: {said}\n\n{broken}\n\ndata: {said}\n\n"})
    error = await failure(make("openai"))
    assert error.fault in (ModelFault.PROTOCOL, ModelFault.OVERLOADED, ModelFault.SERVER)
    assert error.partial == "雨。雨。"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"reset_after": 60}, ModelFault.NETWORK),
        ({"eof_after": 60}, ModelFault.TRUNCATED),
        ({"stall_after": 60}, ModelFault.STALLED),
    ],
    ids=str,
)
async def test_a_long_stream_that_is_read_in_steps_keeps_all_that_came_before_it_broke(
    server: FaultServer, make: MakeModel, provider: Provider, fault: dict[str, Any], kind: ModelFault
) -> None:
    server.push({"content": "雨" * 500, "delay": 0.004} | fault)
    error = await failure(make(provider, idle_timeout=_patience(kind)))
    assert error.fault is kind
    assert 2 * 56 <= len(error.partial) <= 2 * 60


@pytest.mark.parametrize(
    ("fault", "kind", "calls"),
    [
        ({"status": 401}, ModelFault.AUTH, 1),
        ({"status": 403}, ModelFault.AUTH, 1),
        ({"status": 404}, ModelFault.NOT_FOUND, 1),
        ({"status": 400}, ModelFault.REFUSED, 1),
        ({"status": 302}, ModelFault.REFUSED, 1),
        ({"status": 413}, ModelFault.CONTEXT_LENGTH, 1),
        ({"status": 500}, ModelFault.SERVER, 3),
        ({"status": 503}, ModelFault.OVERLOADED, 3),
        ({"status": 529}, ModelFault.OVERLOADED, 3),
        ({"status": 502, "body": "<html><h1>Bad gateway</h1></html>"}, ModelFault.SERVER, 3),
        ({"body": "<html><h1>Please log in</h1></html>"}, ModelFault.PROTOCOL, 1),
        ({"reset_after": -1}, ModelFault.NETWORK, 3),
        ({"reset_after": 1}, ModelFault.NETWORK, 3),
        ({"eof_after": 1}, ModelFault.TRUNCATED, 1),
        ({"stall_after": 1}, ModelFault.STALLED, 1),
        ({"header_delay": 60}, ModelFault.STALLED, 1),
        ({"content": ""}, ModelFault.EMPTY, 1),
        ({"raw": "data: {}\n\ndata: 7\n\n"}, ModelFault.PROTOCOL, 1),
        ({"raw": "data: " + "[" * 100_000 + "\n\n"}, ModelFault.PROTOCOL, 1),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_call_without_text_is_sent_again_only_when_that_can_help(
    server: FaultServer, make: MakeModel, provider: Provider, fault: dict[str, Any], kind: ModelFault, calls: int
) -> None:
    server.push(fault | {"times": -1})
    error = await failure(make(provider, retries=2, first_token_timeout=_patience(kind)))
    assert error.fault is kind
    assert error.partial == ""
    assert error.title and error.advice
    assert "<" not in str(error)
    assert len(server.log) == calls


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "This model's maximum context length is 8192 tokens", ModelFault.CONTEXT_LENGTH),
        (400, "prompt is too long: 300000 tokens > 200000 maximum", ModelFault.CONTEXT_LENGTH),
        (400, "data_inspection_failed: inappropriate content", ModelFault.CONTENT_FILTER),
        (400, "输入内容超过最大长度限制", ModelFault.CONTEXT_LENGTH),
        (400, "系统检测到输入或生成内容可能包含敏感内容", ModelFault.CONTENT_FILTER),
        (400, "model names are case-sensitive", ModelFault.REFUSED),
        (429, "您的账户余额不足，请充值", ModelFault.REFUSED),
        (402, "Insufficient Balance", ModelFault.REFUSED),
        (429, "insufficient_quota: check your billing details", ModelFault.REFUSED),
    ],
)
async def test_the_providers_words_decide_where_the_status_says_too_little(
    server: FaultServer, model: HttpModel, status: int, message: str, kind: ModelFault
) -> None:
    server.push({"status": status, "body": {"error": {"message": message, "type": "invalid_request_error"}}})
    error = await failure(model)
    assert error.fault is kind
    assert message in error.detail


async def test_a_wait_that_the_provider_asks_for_is_shown_and_kept_to(
    server: FaultServer, model: HttpModel, waits: Waits
) -> None:
    server.push({"status": 429, "headers": {"retry-after": 2}})
    events = await events_of(model)
    assert isinstance(events[0], RetryWait)
    assert 2 <= events[0].seconds <= 2.2
    assert events[0].attempt == 2 and events[0].reason
    assert waits.seconds == [events[0].seconds]
    assert text_of(events) == PROSE


@pytest.mark.parametrize("asked", ["90", formatdate(4e9, usegmt=True)])
async def test_a_wait_longer_than_max_wait_is_an_error_that_says_how_long(
    server: FaultServer, model: HttpModel, waits: Waits, asked: str
) -> None:
    server.push({"status": 429, "headers": {"retry-after": asked}})
    error = await failure(model)
    assert error.fault is ModelFault.RATE_LIMIT
    assert error.retry_after is not None and error.retry_after >= 90
    assert waits.seconds == []


@pytest.mark.parametrize("clock", [0.0, 4_000_000_000.0])
def test_a_date_to_wait_for_is_compared_with_the_date_of_the_answer(clock: float) -> None:
    """The clock of a laptop whose battery was empty says 1970, and the provider 2026."""
    until, sent = "Wed, 04 Mar 2026 12:00:07 GMT", "Wed, 04 Mar 2026 12:00:00 GMT"
    assert retry_after({"retry-after": until, "date": sent}, clock) == 7


@pytest.mark.parametrize("asked", ["soon", "-5", "nan", "1e400"])
async def test_a_retry_after_that_makes_no_sense_falls_back_to_our_own_wait(
    server: FaultServer, model: HttpModel, waits: Waits, asked: str
) -> None:
    server.push({"status": 429, "headers": {"retry-after": asked}})
    assert text_of(await events_of(model)) == PROSE
    assert len(waits.seconds) == 1 and 0 <= waits.seconds[0] <= 1


async def test_waits_grow_with_each_attempt_and_never_pass_max_wait(
    server: FaultServer, make: MakeModel, provider: Provider, waits: Waits
) -> None:
    server.push({"status": 500, "times": -1})
    await failure(make(provider, retries=8, max_wait=3))
    assert len(waits.seconds) == 8
    assert all(wait <= min(3, 2**n) for n, wait in enumerate(waits.seconds))
    assert max(waits.seconds) > 1


async def test_signs_of_life_keep_a_queued_call_alive(server: FaultServer, make: MakeModel, provider: Provider) -> None:
    server.push({"comments": 8, "comment_delay": 0.4})
    events = await events_of(make(provider, first_token_timeout=2))
    assert sum(isinstance(event, Queued) for event in events) >= 8
    assert text_of(events) == PROSE


async def test_length_is_passed_on(server: FaultServer, model: HttpModel) -> None:
    server.push({"finish": "length"})
    assert last(await events_of(model)).finish == "length"


@pytest.mark.parametrize("fault", [{"reset_after": 20}, {"stall_after": 20}], ids=str)
async def test_an_answer_that_had_finished_survives_a_broken_end(
    server: FaultServer, make: MakeModel, fault: dict[str, Any]
) -> None:
    server.push({"content": "雨" * 36} | fault)  # event 20 comes after the one that says how it finished
    events = await events_of(make("openai", idle_timeout=_STALL))
    assert text_of(events) == "雨" * 36


async def test_closing_the_stream_closes_the_connection_at_once(server: FaultServer, model: HttpModel) -> None:
    server.push({"delay": 0.01, "content": "雨" * 4000})
    async with aclosing(model.stream(REQUEST)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert (await server.wait_for("client_closed"))["events"] < 500


async def test_cancelling_the_task_closes_the_connection_at_once(server: FaultServer, model: HttpModel) -> None:
    server.push({"stall_after": 5})
    first = asyncio.Event()

    async def read() -> None:
        async with aclosing(model.stream(REQUEST)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    first.set()

    task = asyncio.create_task(read())
    await first.wait()
    task.cancel()
    await server.wait_for("client_closed")
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_wait_can_be_cancelled(server: FaultServer, make: MakeModel, provider: Provider) -> None:
    server.push({"status": 429, "headers": {"retry-after": 30}})
    async with aclosing(make(provider).stream(REQUEST)) as events:
        assert isinstance(await anext(events), RetryWait)
    assert len(server.log) == 1


async def test_a_host_that_is_not_there_is_a_network_error(make: MakeModel, provider: Provider) -> None:
    error = await failure(make(provider, base_url="http://127.0.0.1:1/v1", retries=0))
    assert error.fault is ModelFault.NETWORK
    assert "127.0.0.1:1" in error.title


@pytest.mark.parametrize("address", ["api.example.com/v1", "ftp://host", "http://", "http://[::1", "http://h:99999999"])
def test_an_address_that_is_none_is_said_to_be_one(make: MakeModel, provider: Provider, address: str) -> None:
    with pytest.raises(ModelError) as caught:
        make(provider, base_url=address)
    assert caught.value.fault is ModelFault.NOT_CONFIGURED


def test_a_password_in_an_address_is_not_shown(make: MakeModel, provider: Provider) -> None:
    with pytest.raises(ModelError) as caught:
        make(provider, base_url="ftp://writer:hunter2@host")
    assert "hunter2" not in str(caught.value)


async def test_a_proxy_that_cannot_be_used_is_said_to_be_one(
    make: MakeModel, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://writer:hunter2@127.0.0.1:1080")
    error = await failure(make(provider, base_url="https://model.invalid", retries=0))
    assert error.fault is ModelFault.NETWORK
    assert "HTTPS_PROXY" in error.advice
    assert "hunter2" not in str(error)


async def test_the_key_appears_nowhere(server: FaultServer, model: HttpModel, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.push({"status": 401, "body": {"error": {"message": f"Incorrect API key provided: {KEY}, sk-other-0123456"}}})
    error = await failure(model)
    seen = "\n".join([str(error), repr(error), repr(vars(error)), repr(model), repr(model._transport), caplog.text])
    assert KEY not in seen
    assert "sk-other" not in seen
    assert "***" in error.detail
    assert KEY in str(server.log[0]["headers"])


async def test_hostile_text_is_harmless_however_it_is_cut(server: FaultServer, model: HttpModel) -> None:
    server.push({"content": "雨\x1b]52;c;cm0gLXJm\x07声\x1b[31m红\r\n灯\u202e火\x1b", "split": 3})
    events = await events_of(model)
    assert text_of(events) == "雨声红\n灯火"


async def test_half_a_character_in_a_prompt_does_not_stop_the_call(server: FaultServer, model: HttpModel) -> None:
    answer = await model.answer(ModelRequest((Message("user", "雨\ud83d"),), parameters=(("day", date(2026, 1, 2)),)))
    assert answer.text == PROSE
    assert server.log[0]["body"]["day"] == "2026-01-02"


async def test_a_server_that_does_not_stream_is_understood(server: FaultServer, make: MakeModel) -> None:
    choice = {"message": {"role": "assistant", "content": "雨。"}, "finish_reason": "stop"}
    server.push({"body": {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}})
    answer = await make("openai").answer(REQUEST)
    assert (answer.text, answer.usage.output_tokens) == ("雨。", 2)


async def test_an_error_with_status_200_is_an_error(server: FaultServer, make: MakeModel) -> None:
    server.push({"body": {"error": {"message": "model is loading", "code": 503}}, "times": -1})
    assert (await failure(make("openai", retries=0))).fault is ModelFault.OVERLOADED


async def test_one_connection_serves_call_after_call(server: FaultServer, model: HttpModel) -> None:
    for _ in range(3):
        await model.answer(REQUEST)
    assert [entry["outcome"] for entry in server.log] == ["complete"] * 3
    assert server.connections == 1


def test_a_stalled_call_is_repeated_elsewhere_and_never_beside_a_server_that_may_still_work_on_it() -> None:
    stalled = ModelError(ModelFault.STALLED, "no answer")
    elsewhere = Backoff(Endpoint(model="m", base_url="https://models.example/v1"), random.Random(1))
    here = Backoff(Endpoint(model="m", base_url="http://127.0.0.1:8080/v1"), random.Random(1))
    assert elsewhere.seconds(stalled, 1) is not None
    assert here.seconds(stalled, 1) is None
    assert here.seconds(ModelError(ModelFault.OVERLOADED, "loading"), 1) is not None


def test_of_a_page_only_its_words_are_quoted() -> None:
    page = b"<html><style>p {}</style><p class='a'>Please <b>log in</b>.</p><SCRIPT>go()</SCRIPT> 1 < 2 <script>on"
    assert Failures("https://x.test", "m", None).from_page(page).detail == "Please log in . 1 < 2"
