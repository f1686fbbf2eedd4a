"""A model that is sent no limit: what its answers may cost is bounded all the same, and enforced while they arrive."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Decision, Quote, RunRequest, SpendLimit
from flowcabal_tui.models.bounds import USUAL_OUTPUT
from flowcabal_tui.project.models.spending import COUNTED_AT_ONCE
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.protocol.runs import NodeNeedsHuman, ResumeRun
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, change, endpoint, leave, make_one, opened
from tests.project.test_run_limit import chain

PRICED: dict[str, Any] = {"price_in": Decimal(0), "price_out": Decimal(100)}
"""A token of an answer costs 0.0001; the model is sent no limit."""
TOKEN = Decimal("0.0001")
ENDLESS = "She crossed the wet street. " * 6_000


async def quoted(case: Case, *nodes: str) -> tuple[str, Quote]:
    workflow = chain(*nodes)
    await case.project.carry_out(SaveWorkflow(workflow))
    return workflow.id, await case.project.runs.quote(RunRequest(workflow.id))


async def test_a_priced_model_without_limits_has_a_finite_quote_that_says_what_it_assumes(
    folder: Path, server: FaultServer
) -> None:
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        _workflow, quote = await quoted(case, "a", "b")
        assert quote.most is not None
        assert quote.most.cost == 2 * USUAL_OUTPUT * TOKEN
        assert [words for words in quote.open_ends if "no more than 4,096 tokens" in words]


async def test_a_goal_makes_room_for_a_chapter_of_twice_its_length(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, **PRICED)))
    change(folder, "goals", chapter=5_000)
    async with opened(folder) as case:
        _workflow, quote = await quoted(case, "a")
        assert quote.limit is not None and quote.limit.answer > 10_000
        assert quote.most is not None and quote.most.output_tokens == quote.limit.answer


@pytest.mark.parametrize("thoughts", [False, True])
async def test_an_endless_answer_is_stopped_at_the_most_of_the_quote_and_the_person_is_asked(
    folder: Path, server: FaultServer, thoughts: bool
) -> None:
    server.push({"reasoning" if thoughts else "content": ENDLESS, "stall_after": 50_000})
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        workflow, quote = await quoted(case, "a")
        assert quote.most is not None and quote.most.cost is not None
        run = await case.start(workflow)
        assert await case.follow(run, leave) == "waiting"
        (asked,) = [each.question for each in case.told(NodeNeedsHuman)]
        assert (asked.kind, asked.node, asked.required) == ("limit", "a", True)
        spent = await case.project.runs.totals()
        assert spent.cost is not None
        assert spent.cost <= quote.most.cost + COUNTED_AT_ONCE * TOKEN, "a piece of a batch, then it is looked at"
        assert spent.output_tokens > quote.most.output_tokens // 2, "it had all the room that was agreed to"
        (attempt,) = (await case.view(run, "a")).attempts
        assert ENDLESS.startswith(attempt.text.strip()) and bool(attempt.text) != thoughts


async def test_a_long_answer_takes_the_room_that_the_rest_of_the_run_has_left(
    folder: Path, server: FaultServer
) -> None:
    long = " ".join(f"On street {n} she met number {n * n} of the guard." for n in range(USUAL_OUTPUT // 10))
    server.push({"content": long})
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        workflow, _quote = await quoted(case, "a", "b", "c")
        run = await case.start(workflow, targets=(NodeId("a"),), limit=SpendLimit(cost=30_000 * TOKEN, currency="USD"))
        assert await case.follow(run, leave) == "done"
        assert (await case.view(run, "a")).attempts[-1].text == long


async def test_after_yes_a_stopped_answer_is_continued_and_paid_for_once(folder: Path, server: FaultServer) -> None:
    server.push({"content": ENDLESS}, {"content": "Then it ended."})
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        workflow, _quote = await quoted(case, "a")
        run = await case.start(workflow)
        assert await case.follow(run) == "done"
        (attempt,) = (await case.view(run, "a")).attempts
        begun = attempt.text.removesuffix("Then it ended.")
        assert len(begun) < len(attempt.text) and begun and ENDLESS.startswith(begun)
        assert (calls(server), (await case.project.runs.totals()).calls) == (2, 2)


async def test_a_stopped_answer_is_continued_after_the_program_was_closed(folder: Path, server: FaultServer) -> None:
    server.push({"content": ENDLESS}, {"content": "Then it ended."})
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        workflow, _quote = await quoted(case, "a")
        run = await case.start(workflow)
        assert await case.follow(run, leave) == "waiting"
    async with opened(folder) as case:
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        (attempt,) = (await case.view(run, "a")).attempts
        assert attempt.text.endswith("Then it ended.") and len(attempt.text) > 1_000
        assert (calls(server), (await case.project.runs.totals()).calls) == (2, 2)


async def test_saying_no_keeps_what_had_arrived(folder: Path, server: FaultServer) -> None:
    server.push({"content": ENDLESS})
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        workflow, _quote = await quoted(case, "a")
        run = await case.start(workflow)
        assert await case.follow(run, lambda _question: Decision("reject")) == "failed"
        (attempt,) = (await case.view(run, "a")).attempts
        assert attempt.text and not attempt.complete
        assert (calls(server), (await case.project.runs.totals()).calls) == (1, 1)


async def test_an_endless_answer_of_the_agents_is_stopped_at_a_cap_too(folder: Path, server: FaultServer) -> None:
    server.push({"content": ENDLESS})
    await make_one(folder, both(endpoint(server, **PRICED)))
    change(folder, "budget", max_cost=USUAL_OUTPUT * TOKEN)
    async with opened(folder) as case:
        model = case.project._parts.base.models.booked("agent")

        async def answered() -> BaseException | None:
            try:
                await model.answer(ModelRequest((Message("user", "Who?"),)))
            except Exception as error:
                return error
            return None

        assert "stopped while it arrived" in str(await case.project._engine.call(answered()))
        assert (await case.project.runs.totals()).output_tokens < USUAL_OUTPUT + COUNTED_AT_ONCE


@pytest.mark.parametrize("curator", [True, False])
async def test_a_quote_says_what_keeping_the_chapter_likely_costs_beside_the_run(
    folder: Path, server: FaultServer, curator: bool
) -> None:
    await make_one(folder, both(endpoint(server, **PRICED)))
    change(folder, "agents", curator=curator, profiles=2)
    async with opened(folder) as case:
        quote = await case.project.runs.quote(RunRequest("chapter", await case.chapter(1)))
        said = [words for words in spend_lines(quote) if words.startswith("When the output is kept")]
        if not curator:
            assert quote.keeping is None and said == []
            return
        assert quote.keeping is not None and quote.most is not None and quote.limit is not None
        assert quote.keeping.calls == 2, "read once with its summaries, two profiles together"
        assert quote.keeping.cost == quote.keeping.output_tokens * TOKEN and len(said) == 1
        assert quote.limit.cost == quote.most.cost, "it is no part of what the run may cost"
