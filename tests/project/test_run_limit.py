"""A run is held to what it was quoted: before a call could take it further, a person is asked."""

from __future__ import annotations

import asyncio
import itertools
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import BudgetExceeded
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Decision, Question, SpendLimit
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.protocol.runs import (
    CancelRun,
    Decide,
    NodeNeedsHuman,
    NodeStreaming,
    ResumeRun,
    RunStateChanged,
    WorkflowFailed,
)
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, change, endpoint, leave, make_one, opened

PRICE: dict[str, Any] = {"price_in": Decimal(0), "price_out": Decimal(100), "max_output": 100}
"""A call costs 0.01 at most: 100 tokens, each of which is a character that the fault server sends."""
CALL = Decimal("0.01")


def chain(*nodes: str) -> Workflow:
    """Nodes one after the other, each with a prompt of its own."""
    prompts = [
        Node(
            id=NodeId(node),
            kind="prompt",
            params={"prompt": [{"kind": "text", "text": f"Write {node}."}], "context": False, "review": "never"},
        )
        for node in nodes
    ]
    edges = tuple(Edge(source=NodeId(one), target=NodeId(next_)) for one, next_ in itertools.pairwise(nodes))
    return Workflow(id="chain", name="Chain", nodes=tuple(prompts), edges=edges)


async def case_with(case: Case, workflow: Workflow) -> str:
    await case.project.carry_out(SaveWorkflow(workflow))
    return workflow.id


async def priced(folder: Path, server: FaultServer, **fields: Any) -> Path:
    return await make_one(folder, both(endpoint(server, **{**PRICE, **fields})))


def limit_question(case: Case) -> Question:
    (question,) = [asked.question for asked in case.told(NodeNeedsHuman) if asked.question.kind == "limit"]
    return question


async def test_a_run_asks_before_a_call_that_could_pass_what_was_agreed(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "times": -1})
    async with opened(await priced(folder, server)) as case:
        workflow = await case_with(case, chain("a", "b", "c"))
        run = await case.start(workflow, limit=SpendLimit(cost=2 * CALL, currency="USD"))
        assert await case.follow(run, leave) == "waiting"
        asked = limit_question(case)
        assert (asked.node, asked.required, asked.options) == ("c", True, ("approve", "reject"))
        assert calls(server) == 2, "nothing was sent that could pass it"
        assert (await case.project.runs.totals()).cost == 2 * CALL
        assert await case.follow(run) == "done"
        assert calls(server) == 3


async def test_who_says_that_a_text_is_to_be_continued_is_not_asked_again_at_once(
    folder: Path, server: FaultServer
) -> None:
    server.push({"content": "x" * 100, "stall_after": 10})
    async with opened(await priced(folder, server, idle_timeout=30.0)) as case:
        workflow = await case_with(case, chain("a"))
        run = await case.start(workflow, limit=SpendLimit(cost=CALL, currency="USD"))
        await case.until(NodeStreaming, lambda event: event.offset + len(event.chunk) >= 10)
        await case.project.carry_out(CancelRun(run))
        assert await case.follow(run) == "cancelled"
        case.events.clear()
        server.push({"content": "y" * 90})
        await case.project.carry_out(ResumeRun(run, continues=True))
        assert await case.follow(run, leave) == "done"
        assert not [asked for asked in case.told(NodeNeedsHuman) if asked.question.kind == "limit"]
        assert (await case.view(run, "a")).attempts[0].text.endswith("y" * 90)


async def test_saying_no_ends_the_run_and_keeps_what_was_paid(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "times": -1})
    async with opened(await priced(folder, server)) as case:
        workflow = await case_with(case, chain("a", "b", "c"))
        run = await case.start(workflow, limit=SpendLimit(cost=2 * CALL, currency="USD"))
        assert await case.follow(run, lambda _question: Decision("reject")) == "failed"
        assert (calls(server), len(case.told(NodeNeedsHuman))) == (2, 1)
        again = await case.start(workflow)
        assert await case.follow(again, leave) == "done"
        assert calls(server) == 3, "what was paid for is not paid for again"


async def test_the_question_waits_for_the_next_start_and_the_answer_holds(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "times": -1})
    async with opened(await priced(folder, server)) as case:
        workflow = await case_with(case, chain("a", "b", "c", "d"))
        run = await case.start(workflow, limit=SpendLimit(cost=CALL, currency="USD"))
        assert await case.follow(run, leave) == "waiting"
    async with opened(folder) as case:
        (asked,) = await case.project.runs.questions()
        assert (asked.kind, calls(server)) == ("limit", 1)
        await case.project.carry_out(Decide(asked.id, Decision("approve")))
        assert await case.follow(run, leave) == "waiting", "it was raised by what was agreed to, one call"
        assert calls(server) == 2
    async with opened(folder) as case:
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        assert calls(server) == 4


async def test_branches_side_by_side_are_held_together_and_ask_once(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "times": -1})
    workflow = chain("a", "b", "c", "d").model_copy(update={"edges": ()})
    async with opened(await priced(folder, server)) as case:
        run = await case.start(await case_with(case, workflow), limit=SpendLimit(cost=2 * CALL, currency="USD"))
        await case.until(RunStateChanged, lambda event: event.state == "waiting")
        assert calls(server) == 2, "four may go at the same time, two fit"
        limit_question(case)
        assert await case.follow(run) == "done"
        assert calls(server) == 4
        assert (await case.project.runs.totals()).cost == 4 * CALL


async def test_a_run_is_held_to_its_quote_when_nobody_says_how_much(folder: Path, server: FaultServer) -> None:
    """The server counts a token a character: far more than the estimate for words that nobody has counted yet."""
    server.push({"content": "x" * 100, "times": -1})
    async with opened(await priced(folder, server, price_in=Decimal(1000))) as case:
        workflow = await case_with(case, chain("a", "b", "c", "d", "e", "f"))
        quoted = await case.project.runs.quote(await case_request(case, workflow))
        run = await case.start(workflow)
        await case.follow(run, leave)
        assert quoted.limit is not None and quoted.limit.cost is not None
        assert ((await case.project.runs.totals()).cost or 0) <= quoted.limit.cost + CALL * 10


async def case_request(_case: Case, workflow: str) -> Any:
    from flowcabal_tui.domain.run import RunRequest

    return RunRequest(workflow)


async def test_a_cap_of_the_project_is_passed_by_one_call_at_most(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "times": -1})
    workflow = chain("a", "b", "c", "d", "e", "f").model_copy(update={"edges": ()})
    await priced(folder, server, concurrency=6)
    change(folder, "budget", max_cost=CALL * Decimal("1.5"))
    async with opened(folder) as case:
        run = await case.start(await case_with(case, workflow))
        assert await case.follow(run) == "failed"
        assert calls(server) == 2, "six were asked for at the same time"
        assert [event.error for event in case.told(WorkflowFailed) if "cap" in event.error.lower()]


async def test_agents_calls_side_by_side_hold_the_cap_on_tokens(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "times": -1})
    await priced(folder, server, concurrency=8)
    change(folder, "budget", max_tokens=100)
    async with opened(folder) as case:
        model = case.project._parts.base.models.booked("agent")
        requests = [ModelRequest((Message("user", f"Question {number}?"),)) for number in range(6)]

        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*(model.answer(each) for each in requests), return_exceptions=True)

        answers = await case.project._engine.call(all_of_them())
        assert calls(server) == 1
        assert sum(isinstance(answer, BudgetExceeded) for answer in answers) == 5


@pytest.mark.parametrize("tokens", [300, 3_000])
async def test_without_a_price_the_tokens_are_held(folder: Path, server: FaultServer, tokens: int) -> None:
    server.push({"content": "x" * 100, "times": -1})
    model = endpoint(server, max_output=100)
    async with opened(await make_one(folder, both(model))) as case:
        workflow = await case_with(case, chain("a", "b", "c"))
        run = await case.start(workflow, limit=SpendLimit(tokens=tokens))
        assert await case.follow(run, leave) == ("waiting" if tokens == 300 else "done")


@pytest.mark.parametrize("kind", ["content", "reasoning"])
async def test_a_provider_that_ignores_the_limit_of_its_answer_is_stopped(
    folder: Path, server: FaultServer, kind: str
) -> None:
    server.push({kind: "word " * 40_000, "ttft": 0})
    async with opened(await priced(folder, server)) as case:
        workflow = await case_with(case, chain("a"))
        run = await case.start(workflow, limit=SpendLimit(cost=2 * CALL, currency="USD"))
        assert await case.follow(run, leave) == "waiting"
        limit_question(case)
        spent = (await case.project.runs.totals()).cost
        assert spent is not None and CALL < spent < 20 * CALL, "of an answer that would cost 400 times as much"


async def test_a_call_with_an_impossible_count_has_an_unknown_cost(folder: Path, server: FaultServer) -> None:
    server.push({"content": "x" * 100, "tokens_in": 10**30, "tokens_out": 10**30})
    async with opened(await priced(folder, server)) as case:
        run = await case.start(await case_with(case, chain("a")))
        assert await case.follow(run) == "done"
        totals = await case.project.runs.totals()
        assert (totals.calls, totals.unknown_calls) == (1, 1)
