"""Caps on money hold for answers that are of no use, and for calls that wait in a queue."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import BudgetExceeded, KnowledgeError, ModelError, ModelFault
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import (
    Answer,
    Message,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
)
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.models.collect import collect
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript
from flowcabal_tui.protocol.memory import BootstrapChanged, StartBootstrap
from flowcabal_tui.protocol.runs import CancelRun, NodeStreaming, ResumeRun
from flowcabal_tui.runner import streaming
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, change, endpoint, make, opened, write_chapters
from tests.trusting import confirmed

PRICE: dict[str, Any] = {"price_in": Decimal(1), "price_out": Decimal(2)}
CAP = Decimal("0.000001")
REQUEST = ModelRequest((Message("user", "Who is in it?"),))
WORDS = "I would rather tell it in my own words."
NOT_JSON = {"content": WORDS, "times": -1}
COUNTED = (
    'data: {"choices": [{"index": 0, "delta": {"content": "It r"}}],'
    ' "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\n'
)
"""A stream that breaks off, of a server that counts in every event."""
THOUGHT = (
    'data: {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}],'
    ' "usage": {"prompt_tokens": 7, "completion_tokens": 5}}\n\n'
)
"""What a model has thought, counted, before it says anything."""
OVERLOADED = THOUGHT + 'data: {"error": {"message": "overloaded", "code": 503}}\n\n'
"""A try that was counted, and is repeated."""


HALF = ("Hm. ", "It r")


class Cast(BaseModel):
    names: list[str]


class HalfSaid:
    """A model that thinks, says half a word, and no more."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.said = endpoint, asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield ThinkingDelta(HALF[0])
        yield TextDelta(HALF[1])
        self.said.set()
        await asyncio.Event().wait()

    async def answer(self, request: ModelRequest) -> Answer:
        return await collect(self, request)


async def capped(folder: Path, server: FaultServer, provider: str = "openai", **fields: Any) -> Path:
    """A project with a price, a cap that one answer reaches, and a model that answers one call at a time."""
    await make(folder, both(endpoint(server, provider, concurrency=1, **PRICE, **fields)))
    change(folder, "budget", max_cost=CAP)
    return folder


def model_of(case: Case) -> ModelPort:
    return case.project._parts.base.models.booked("agent")


async def ask(case: Case) -> Any:
    return await case.project._engine.call(model_of(case).structured(REQUEST, Cast))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_answers_that_miss_the_shape_are_booked(folder: Path, server: FaultServer, provider: str) -> None:
    server.push(NOT_JSON)
    await make(folder, both(endpoint(server, provider, **PRICE)))
    async with opened(folder) as case:
        with pytest.raises(ModelError) as caught:
            await ask(case)
        assert (caught.value.fault, calls(server)) == (ModelFault.SCHEMA, 3)
        spent = await case.project.runs.totals()
        assert spent.output_tokens == 3 * len(WORDS)
        assert spent.cost == (spent.input_tokens + 2 * spent.output_tokens) / Decimal(1_000_000)
    async with opened(folder) as again:
        assert await again.project.runs.totals() == spent


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_an_answer_that_misses_the_shape_and_reaches_the_cap_is_booked_and_not_repaired(
    folder: Path, server: FaultServer, provider: str
) -> None:
    server.push(NOT_JSON)
    async with opened(await capped(folder, server, provider)) as case:
        for _again in range(2):
            with pytest.raises(BudgetExceeded):
                await ask(case)
            assert calls(server) == 1
            assert (await case.project.runs.totals()).output_tokens == len(WORDS)


async def test_what_failed_teaches_the_counter_nothing(folder: Path, server: FaultServer) -> None:
    server.push(NOT_JSON)
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        counter = case.project._parts.base.models.counter
        before = counter.calibration
        with pytest.raises(ModelError):
            await ask(case)
        assert counter.calibration == before


@pytest.mark.parametrize("how", ["repeated", "repaired"])
async def test_the_counter_does_not_learn_from_the_sum_of_several_tries(
    folder: Path, server: FaultServer, how: str
) -> None:
    await make(folder, both(endpoint(server, retries=1)))
    request = ModelRequest((Message("user", "Who is in it? " * 20),))
    async with opened(folder) as case:
        counter, model = case.project._parts.base.models.counter, model_of(case)
        await case.project._engine.call(model.answer(request))
        learned = counter.calibration
        assert learned.samples == 1
        if how == "repeated":
            server.push({"raw": OVERLOADED})
            await case.project._engine.call(model.answer(request))
        else:
            server.push(NOT_JSON | {"times": 1}, {"content": '{"names": []}'})
            await case.project._engine.call(model.structured(request, Cast))
        assert (calls(server), counter.calibration.factor) == (3, learned.factor)


@pytest.mark.parametrize(
    "fault", [{"finish": "content_filter"}, {"content": "", "finish": "length"}], ids=["filtered", "empty"]
)
async def test_a_whole_answer_of_no_use_is_booked(folder: Path, server: FaultServer, fault: dict[str, Any]) -> None:
    async with opened(await capped(folder, server)) as case:
        server.push(fault)
        with pytest.raises(ModelError):
            await case.project._engine.call(model_of(case).answer(REQUEST))
        assert ((await case.project.runs.totals()).cost or 0) > CAP


@pytest.mark.parametrize(("fault", "counted"), [({"eof_after": 6}, False), ({"raw": COUNTED}, True)], ids=["no", "yes"])
async def test_a_cut_answer_is_booked_by_its_count_or_by_an_estimate(
    folder: Path, server: FaultServer, fault: dict[str, Any], counted: bool
) -> None:
    async with opened(await capped(folder, server)) as case:
        server.push(fault)
        with pytest.raises(ModelError) as caught:
            await case.project._engine.call(model_of(case).answer(REQUEST))
        assert (caught.value.fault, bool(caught.value.partial)) == (ModelFault.TRUNCATED, True)
        spent = await case.project.runs.totals()
        if counted:
            assert (spent.cost, spent.estimated_calls, spent.about) == (Decimal("0.000011"), 0, "")
        else:
            counter = case.project._parts.base.models.counter
            tokens = counter.count_request(REQUEST), counter.count(caught.value.partial)
            assert (spent.input_tokens, spent.output_tokens) == tokens
            assert (spent.cost, spent.estimated_calls, spent.about) == (
                (tokens[0] + 2 * tokens[1]) / Decimal(1_000_000),
                1,
                "≈ ",
            )
        with pytest.raises(BudgetExceeded):
            await case.project._engine.call(model_of(case).answer(REQUEST))
        assert spent == case.project._parts.base.models.spending.totals, "what is shown at once is what was written"


async def test_a_call_of_which_nothing_arrived_is_not_booked(folder: Path, server: FaultServer) -> None:
    async with opened(await capped(folder, server, retries=0)) as case:
        server.push({"status": 503})
        with pytest.raises(ModelError):
            await case.project._engine.call(model_of(case).answer(REQUEST))
        assert (await case.project.runs.totals()).calls == 0


def vectors(server: FaultServer, **fields: Any) -> ModelsSettings:
    return ModelsSettings(user=OFFLINE, agent=OFFLINE, embedding=endpoint(server, dimensions=8, **fields))


async def embedded(case: Case, *texts: str) -> None:
    await case.project._engine.call(case.project._parts.base.models.embedder().embed(texts))


async def test_vectors_that_have_a_price_are_booked_and_held_under_the_cap(folder: Path, server: FaultServer) -> None:
    await make(folder, vectors(server, price_in=Decimal(1)))
    change(folder, "budget", max_cost=Decimal("0.000030"))
    async with opened(folder) as case:
        knowledge = case.project._parts.memory.knowledge
        await embedded(case, *["ab"] * 12)
        knowledge.require_paid()
        spent = await case.project.runs.totals()
        assert (spent.calls, spent.input_tokens, spent.output_tokens) == (2, 24, 0)
        assert (spent.cost, spent.estimated_calls) == (Decimal("0.000024"), 0)
        await embedded(case, "abcdef")
        with pytest.raises(KnowledgeError, match="cap"):
            knowledge.require_paid()


async def test_vectors_that_nobody_counted_are_booked_by_an_estimate(folder: Path, server: FaultServer) -> None:
    await make(folder, vectors(server, price_in=Decimal(1)))
    async with opened(folder) as case:
        server.push({"body": {"data": [{"index": 0, "embedding": [1.0] * 8}]}})
        await embedded(case, "The river rose all night.")
        spent = await case.project.runs.totals()
        assert (spent.calls, spent.estimated_calls, spent.about) == (1, 1, "≈ ")
        assert spent.cost == spent.input_tokens / Decimal(1_000_000) > 0


async def test_vectors_without_a_price_leave_the_sum_known(folder: Path, server: FaultServer) -> None:
    await make(folder, vectors(server))
    change(folder, "budget", max_cost=CAP)
    async with opened(folder) as case:
        await embedded(case, "ab")
        case.project._parts.memory.knowledge.require_paid()
        assert (await case.project.runs.totals()).calls == 0


async def test_a_node_that_is_stopped_while_it_writes_is_booked_by_an_estimate(
    folder: Path, server: FaultServer
) -> None:
    async with opened(await capped(folder, server)) as case:
        await case.project.carry_out(AddChapter("The Glove"))
        server.push({"stall_after": 6})
        run = await case.start("quick-draft", 1)
        await case.until(NodeStreaming)
        await case.project.carry_out(CancelRun(run))
        assert await case.follow(run) == "cancelled"
        spent = await case.project.runs.totals()
        assert (spent.calls, spent.estimated_calls) == (1, 1)
        assert spent.input_tokens > 0 < spent.output_tokens
        assert (spent.cost or 0) > CAP, "the cap holds for what was stopped too"


async def test_a_node_that_was_writing_when_the_process_was_killed_is_booked_when_the_project_is_opened(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "JOURNAL_SECONDS", 0.0)
    await make(folder, both(endpoint(server, **PRICE)))
    killed = folder.parent / "killed"
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("The Glove"))
        server.push({"stall_after": 6})
        run = await case.start("quick-draft", 1)
        await case.until(NodeStreaming)
        said = await case.project._engine.call(case.project._parts.store.journal.partial_text(run, NodeId("draft"), 1))
        assert said
        confirmed(shutil.copytree(folder, killed))  # the files as a kill would leave them
    for where in (killed, folder):  # stopped in an orderly way, it was booked then
        async with opened(where) as case:
            assert (await case.project.runs.totals()).estimated_calls == 1
            await case.project.carry_out(ResumeRun(run))
            assert await case.follow(run) == "done"
            spent = await case.project.runs.totals()
            assert (spent.calls, spent.estimated_calls) == (2, 1)


async def test_an_agent_that_is_stopped_while_it_answers_is_booked_by_an_estimate(
    folder: Path, server: FaultServer
) -> None:
    async with opened(await capped(folder, server)) as case:
        models = case.project._parts.base.models

        async def stopped() -> None:
            model = HalfSaid(models.model("agent").endpoint)
            models._models[model.endpoint] = model
            asked = asyncio.ensure_future(models.booked("agent").answer(REQUEST))
            await model.said.wait()
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked

        await case.project._engine.call(stopped())
        spent = await case.project.runs.totals()
        assert (spent.calls, spent.estimated_calls) == (1, 1)
        assert spent.output_tokens == models.counter.count("".join(HALF))


async def test_a_node_whose_stream_breaks_off_is_booked_and_reaches_the_cap(folder: Path, server: FaultServer) -> None:
    async with opened(await capped(folder, server)) as case:
        await case.project.carry_out(AddChapter("The Glove"))
        server.push({"raw": COUNTED})
        run = await case.start("quick-draft", 1)
        assert await case.follow(run) == "failed"
        assert (await case.project.runs.totals()).cost == Decimal("0.000011")
        assert (await case.project.runs.run_details(run)).totals.output_tokens == 2
        assert await case.follow(await case.start("quick-draft", 1)) == "failed"
        assert calls(server) == 1, "the cap is reached"


async def test_a_node_whose_first_try_reaches_the_cap_is_not_tried_again(folder: Path, server: FaultServer) -> None:
    async with opened(await capped(folder, server, retries=5)) as case:
        await case.project.carry_out(AddChapter("The Glove"))
        server.push({"raw": OVERLOADED, "times": -1})
        assert await case.follow(await case.start("quick-draft", 1)) == "failed"
        assert calls(server) == 1
        assert (await case.project.runs.totals()).output_tokens == 5


@pytest.mark.parametrize("how", ["answer", "structured"])
async def test_an_agent_whose_first_try_reaches_the_cap_does_not_try_again(
    folder: Path, server: FaultServer, how: str
) -> None:
    async with opened(await capped(folder, server, retries=5)) as case:
        server.push({"raw": OVERLOADED, "times": -1})
        model = model_of(case)
        asked: Any = model.answer(REQUEST) if how == "answer" else model.structured(REQUEST, Cast)
        with pytest.raises(BudgetExceeded):
            await case.project._engine.call(asked)
        assert calls(server) == 1
        assert (await case.project.runs.totals()).output_tokens == 5


async def test_what_a_try_cost_that_was_repeated_is_booked_beside_the_answer(folder: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server, retries=1, **PRICE)))
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("The Glove"))
        server.push({"raw": OVERLOADED})
        run = await case.start("quick-draft", 1)
        assert await case.follow(run) == "done"
        node = await case.view(run, "draft")
        assert (await case.project.runs.totals()).output_tokens == 5 + (node.attempts[-1].usage.output_tokens or 0)
    async with opened(await make(folder.parent / "other", both(endpoint(server, retries=1, **PRICE)))) as case:
        server.push({"raw": OVERLOADED})
        answer = await case.project._engine.call(model_of(case).answer(REQUEST))
        assert (await case.project.runs.totals()).output_tokens == 5 + len(answer.text)


@pytest.mark.parametrize("how", ["answer", "structured"])
async def test_calls_that_wait_for_a_place_are_not_sent_once_the_cap_is_reached(
    folder: Path, server: FaultServer, how: str
) -> None:
    async with opened(await capped(folder, server)) as case:
        model = model_of(case)

        async def three() -> list[Any]:
            waiting: list[Any] = [
                model.answer(REQUEST) if how == "answer" else model.structured(REQUEST, Cast) for _number in range(3)
            ]
            return await asyncio.gather(*waiting, return_exceptions=True)

        first, *later = await case.project._engine.call(three())
        assert not isinstance(first, Exception)
        assert [type(each) for each in later] == [BudgetExceeded] * 2
        assert calls(server) == 1


async def test_a_reading_by_a_model_that_gives_no_json_stops_at_its_cap(folder: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server, concurrency=1, **PRICE)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "chapters"))))
        await case.settled()
        server.push(NOT_JSON)
        await case.project.carry_out(StartBootstrap(max_cost=CAP))
        status = (await case.until(BootstrapChanged, lambda event: event.status.state != "running")).status
        assert (status.state, calls(server)) == ("paused", 1)
        assert "cap" in status.reason
        assert (status.spent.cost or 0) > CAP
