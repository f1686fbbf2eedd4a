"""Calls that were under way when the program was killed are booked when the project is opened, once."""

from __future__ import annotations

import asyncio
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.protocol.runs import NodeStreaming, ResumeRun
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint, make_one, opened
from tests.project.test_run_limit import chain
from tests.trusting import confirmed
from tests.waiting import PATIENCE

PRICED: dict[str, Any] = {"price_in": Decimal(100), "price_out": Decimal(100), "idle_timeout": 60.0}
TEXT = "The river rose all night, and nobody slept in the house by the water. " * 4
ARRIVED = 100


async def killed(folder: Path, server: FaultServer, copy: Path) -> RunId:
    """`copy` is the project as its files were while a node streamed and an answer of the agents was awaited."""
    async with opened(await make_one(folder, both(endpoint(server, **PRICED)))) as case:
        await case.project.carry_out(SaveWorkflow(chain("a")))
        server.push({"content": TEXT, "stall_after": 1 + ARRIVED // 2})
        run = await case.start("chain")
        await case.until(NodeStreaming, lambda event: event.offset + len(event.chunk) == ARRIVED)
        store, agent = case.project._parts.store, case.project._parts.base.models.booked("agent")

        async def until_open(number: int) -> None:
            async with asyncio.timeout(PATIENCE):
                while len(await store.usage.left_open()) < number:  # noqa: ASYNC110  # the table is polled
                    await asyncio.sleep(0)
            store.journal.journal_text(run, NodeId("a"), 1, 0, TEXT[:ARRIVED])  # as the run does about once a second
            await store.journal.partial_text(run, NodeId("a"), 1)  # behind all that is queued

        async def ask_the_agents() -> None:
            asked = asyncio.create_task(agent.answer(ModelRequest((Message("user", "Who rows the ferry?"),))))
            await until_open(2)
            shutil.copytree(folder, copy)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

        server.push({"stall_after": 0})
        await case.project._engine.call(ask_the_agents())
    confirmed(copy)
    return run


async def test_what_was_open_is_booked_at_the_next_opening_and_never_again(
    folder: Path, server: FaultServer, tmp_path: Path
) -> None:
    run = await killed(folder, server, tmp_path / "killed")
    async with opened(tmp_path / "killed", read_only=True) as case:
        assert (await case.project.runs.totals()).calls == 0
    async with opened(tmp_path / "killed") as case:
        counter = case.project._parts.base.models.counter
        spent = await case.project.runs.totals()
        assert (spent.calls, spent.estimated_calls) == (2, 2)
        assert spent.output_tokens == counter.count(TEXT[:ARRIVED])
        assert spent.cost == (spent.input_tokens + spent.output_tokens) * Decimal("0.0001")
        of_run = await case.project._engine.call(case.project._parts.store.usage.totals(run))
        assert (of_run.calls, of_run.output_tokens) == (1, spent.output_tokens)
    async with opened(tmp_path / "killed") as case:
        assert await case.project.runs.totals() == spent, "once"
        server.clear()
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        assert (await case.project.runs.totals()).calls == 3, "resuming books its own call and no other"


async def test_a_call_that_ended_leaves_nothing_open(folder: Path, server: FaultServer) -> None:
    server.push({"status": 500})
    async with opened(await make_one(folder, both(endpoint(server, **PRICED, retries=1)))) as case:
        await case.project.carry_out(SaveWorkflow(chain("a")))
        run = await case.start("chain")
        assert await case.follow(run) == "done"
        spent = await case.project.runs.totals()
    async with opened(folder) as case:
        assert await case.project.runs.totals() == spent
        assert await case.project._engine.call(case.project._parts.store.usage.left_open()) == ()
