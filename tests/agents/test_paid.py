from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from pydantic import BaseModel

from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.answer_schema import StructuredAnswer
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Answer,
    Message,
    ModelRequest,
)
from tests.agents.fakes import FakeAnswers, FakeModel


class Shape(BaseModel):
    word: str


ASK = ModelRequest((Message("user", "which word?"),), purpose="a")


async def test_the_same_request_is_paid_once_also_after_a_restart() -> None:
    answers, model = FakeAnswers(), FakeModel(lambda request: {"word": "yes"})
    assert (await PaidOnce(model, answers).structured(ASK, Shape)).word == "yes"
    assert (await PaidOnce(model, answers).structured(replace(ASK, purpose="b"), Shape)).word == "yes"
    assert len(model.requests) == 1


async def test_a_repeated_answer_says_that_it_was_paid_for() -> None:
    paid = PaidOnce(FakeModel(lambda request: "text"), FakeAnswers())
    assert await paid.stored_answer(ASK) is None
    assert (await paid.answer(ASK)).cached is False
    again = await paid.answer(ASK)
    assert (again.text, again.cached) == ("text", True)
    assert await paid.stored_answer(ASK) == again


@pytest.mark.parametrize(
    "other",
    [
        replace(ASK, messages=(Message("user", "another?"),)),
        replace(ASK, temperature=0.5),
        replace(ASK, max_tokens=9),
        replace(ASK, parameters=(("seed", 1),)),
    ],
)
async def test_another_request_is_another_call(other: ModelRequest) -> None:
    model = FakeModel(lambda request: "text")
    paid = PaidOnce(model, FakeAnswers())
    await paid.answer(ASK)
    await paid.answer(other)
    assert len(model.requests) == 2


async def test_another_model_is_another_call() -> None:
    answers = FakeAnswers()
    first, second = (
        FakeModel(lambda request: "one"),
        FakeModel(lambda request: "two", Endpoint(model="big")),
    )
    await PaidOnce(first, answers).answer(ASK)
    assert (await PaidOnce(second, answers).answer(ASK)).text == "two"


async def test_a_failed_call_is_not_kept() -> None:
    replies: list[object] = [ModelError(ModelFault.SERVER, "down"), "up"]
    paid = PaidOnce(FakeModel(lambda request: replies.pop(0)), FakeAnswers())
    with pytest.raises(ModelError):
        await paid.answer(ASK)
    assert (await paid.answer(ASK)).text == "up"


class Parts(StructuredAnswer):
    facts: list[str]


async def test_only_what_could_not_be_read_is_asked_for_again_also_after_a_restart() -> None:
    answers = FakeAnswers()
    replies = [{"facts": ["one"], "unread": ["facts[1]"]}, {"facts": ["one"], "unread": ["facts"]}, {"facts": ["two"]}]
    model = FakeModel(lambda request: replies.pop(0))
    found = [await PaidOnce(model, answers).structured(ASK, Parts) for _ in range(4)]
    assert [each.unread for each in found] == [("facts[1]",), ("facts",), (), ()]
    assert [request.earlier for request in model.requests] == ["", *(each.model_dump_json() for each in found[:2])]


class SlowModel(FakeModel):
    """Answers when it is released, and remembers whether it was cancelled."""

    def __init__(self) -> None:
        super().__init__(lambda request: "slow")
        self.asked, self.release, self.cancelled = asyncio.Event(), asyncio.Event(), False

    async def answer(self, request: ModelRequest) -> Answer:
        self.asked.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return await super().answer(request)


async def test_equal_requests_at_the_same_time_share_one_call() -> None:
    model = SlowModel()
    paid = PaidOnce(model, FakeAnswers())
    one, two = asyncio.create_task(paid.answer(ASK)), asyncio.create_task(paid.answer(ASK))
    await model.asked.wait()
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    model.release.set()
    assert (await two).text == "slow"
    assert len(model.requests) == 1
    assert not model.cancelled


async def test_the_call_is_cancelled_when_nobody_waits_for_it() -> None:
    model = SlowModel()
    asking = asyncio.create_task(PaidOnce(model, FakeAnswers()).answer(ASK))
    await model.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert model.cancelled


class LingeringModel(SlowModel):
    """Takes a while to end when it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.ends = asyncio.Event()

    async def answer(self, request: ModelRequest) -> Answer:
        try:
            return await super().answer(request)
        except asyncio.CancelledError:
            await self.ends.wait()
            raise


async def test_a_call_that_was_given_up_does_not_end_the_sharing_of_the_one_in_its_place() -> None:
    model = LingeringModel()
    paid = PaidOnce(model, FakeAnswers())
    given_up = asyncio.create_task(paid.answer(ASK))
    await model.asked.wait()
    given_up.cancel()
    model.asked.clear()
    await asyncio.sleep(0)
    second = asyncio.create_task(paid.answer(ASK))
    await model.asked.wait()
    model.ends.set()
    await asyncio.wait([given_up])
    third = asyncio.create_task(paid.answer(ASK))
    await asyncio.sleep(0)
    model.release.set()
    assert (await second).text == (await third).text == "slow"
    assert len(model.requests) == 1
