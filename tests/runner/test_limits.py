"""Places by priority, and providers that are left alone for a while."""

from __future__ import annotations

import asyncio

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.runner.limits import FAILURES, Breaker, Limits, Slots
from tests.runner.fakes import until
from tests.waiting import PATIENCE, soon


async def test_who_has_the_longest_way_behind_it_gets_the_next_place_and_equals_go_in_order():
    slots, went = Slots(1), []

    async def goes(name: str, priority: float) -> None:
        await slots.acquire(priority)
        went.append(name)

    await slots.acquire(0)
    waiting = [("low", 1), ("first", 5), ("second", 5), ("high", 9)]
    tasks = [asyncio.create_task(goes(*one)) for one in waiting]
    await asyncio.sleep(0)
    for _name in waiting:
        slots.release()
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert went == ["high", "first", "second", "low"]


async def test_the_place_of_one_who_was_cancelled_while_it_got_it_goes_to_the_next():
    slots = Slots(1)
    await slots.acquire(0)
    cancelled, next_one = (asyncio.create_task(slots.acquire(priority)) for priority in (2, 1))
    await asyncio.sleep(0)
    slots.release()
    cancelled.cancel()
    await soon(next_one)
    slots.release()
    await soon(slots.acquire(0))


async def fail(breaker: Breaker, fault: ModelFault = ModelFault.SERVER, told: list[float] | None = None) -> None:
    with pytest.raises(ModelError):
        async with breaker.watched((told if told is not None else []).append):
            raise ModelError(fault, "no")


async def test_a_provider_that_fails_again_and_again_is_left_alone_and_one_call_tries_it():
    breaker, told, inside = Breaker(60), [], []
    for _try in range(FAILURES):
        await fail(breaker, told=told)
    assert told == [], "so far every call went out at once"

    async def calls(name: str) -> None:
        async with breaker.watched(told.append):
            inside.append(name)

    tasks = [asyncio.create_task(calls(name)) for name in "abc"]
    await until(lambda: told)
    assert inside == [] and 59 < told[0] <= 60
    breaker.hurry()
    await asyncio.gather(*tasks)
    assert inside[0] == "a" and sorted(inside) == ["a", "b", "c"] and len(told) == 1


async def test_when_the_trial_fails_too_the_next_pause_is_twice_as_long():
    breaker, told = Breaker(60), []
    for _try in range(FAILURES):
        await fail(breaker)
    trial = asyncio.create_task(fail(breaker, told=told))
    await until(lambda: told)
    breaker.hurry()
    await trial
    again = asyncio.create_task(fail(breaker, told=told))
    await until(lambda: len(told) == 2)
    assert 119 < told[1] <= 120
    breaker.hurry()
    await again


async def test_an_answer_forgets_the_failures_and_a_wrong_key_is_none():
    breaker, told = Breaker(60), []
    for _round in range(3):
        for _try in range(FAILURES - 1):
            await fail(breaker, told=told)
        await fail(breaker, ModelFault.AUTH, told)
        async with breaker.watched(told.append):
            pass
    assert told == []


async def test_each_provider_has_its_own_limit_under_the_one_over_all():
    limits = Limits(3)
    one, other = (
        Endpoint(model="a", concurrency=2),
        Endpoint(provider="anthropic", model="b", concurrency=2),
    )
    inside: list[str] = []
    leave = asyncio.Event()

    async def calls(endpoint: Endpoint) -> None:
        async with limits.slot(endpoint, 0):
            inside.append(endpoint.model)
            await leave.wait()

    tasks = [asyncio.create_task(calls(endpoint)) for endpoint in (one, one, one, other, other)]
    await until(lambda: len(inside) == 3)
    await asyncio.sleep(0)
    assert sorted(inside) == ["a", "a", "b"]
    leave.set()
    await asyncio.gather(*tasks)
    assert len(inside) == 5


async def test_calls_that_waited_for_a_place_are_not_sent_to_a_provider_that_fails_meanwhile():
    limits, endpoint, sent, told = Limits(8, pause=60), Endpoint(model="a", concurrency=2), [], []

    async def call(number: int) -> None:
        async with limits.slot(endpoint, 0.0, told.append):
            sent.append(number)
            await asyncio.sleep(0)
            raise ModelError(ModelFault.SERVER, "no")

    calls = [asyncio.create_task(call(number)) for number in range(30)]
    await until(lambda: told)
    assert len(sent) <= FAILURES + 1, "one was under way when the third failed"
    async with asyncio.timeout(PATIENCE), limits.slot(Endpoint(provider="anthropic", model="b"), 0.0):
        pass  # another provider has its place
    for each in calls:
        each.cancel()
    await asyncio.wait(calls)
    assert {each.cancelled() for each in calls[len(sent) :]} == {True}
