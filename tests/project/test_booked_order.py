"""The order in which calls get the next free slot of a provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import Answer, Message, ModelRequest, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.project.models.booked import BookedModel
from flowcabal_tui.project.models.memory_gate import MEMORY_WORK, MemoryWork
from flowcabal_tui.project.models.spending import Spending
from flowcabal_tui.runner.limits import Limits

ENDPOINT = Endpoint(model="a", concurrency=1)


class FreeSpending:
    """Every call may be made."""

    @asynccontextmanager
    async def reserved(self, *_given: object, **_how: object) -> AsyncIterator[None]:
        yield

    def count_piece(self, *_given: object) -> None:
        """Has no limit."""

    async def spent(self, *_given: object) -> None:
        """Costs nothing."""


class NotingModel:
    """Notes the purposes of the calls in their order."""

    endpoint = ENDPOINT

    def __init__(self) -> None:
        self.called: list[str] = []

    async def answer(self, request: ModelRequest) -> Answer:
        self.called.append(request.purpose)
        return Answer("Yes.", "stop", Usage(1, 1))


async def test_background_work_gets_the_model_after_all_that_a_person_waits_for() -> None:
    limits, noting = Limits(4), NotingModel()
    model = BookedModel(cast(Spending, FreeSpending()), "agent", cast(ModelPort, noting), limits)

    async def call(purpose: str, work: MemoryWork | None = None) -> Any:
        MEMORY_WORK.set(work)
        await model.answer(ModelRequest((Message("user", purpose),), purpose=purpose))

    async def node() -> None:
        async with limits.slot(ENDPOINT, 1.0):
            noting.called.append("a node")

    async with limits.slot(ENDPOINT, 0.0):
        calls = [
            asyncio.create_task(each)
            for each in (
                call("monitor.background", MemoryWork()),
                call("curator.reading"),
                call("conversation"),
                node(),
                call("monitor.node"),
            )
        ]
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    assert noting.called == ["monitor.node", "a node", "conversation", "monitor.background", "curator.reading"]
