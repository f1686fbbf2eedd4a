"""What all nodes of a run share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from weakref import WeakValueDictionary

from flowcabal_tui.domain.ids import Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.model_calls import Endpoint
from flowcabal_tui.domain.run import Decision, Evaluation, RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol import Event
from flowcabal_tui.runner.ports import ContextPort, JournalPort, ModelsPort, MonitorPort, SpendPort


class Limits:
    """How many calls go out at the same time: one limit over all, one for each provider."""

    def __init__(self, concurrency: int) -> None:
        self._all = asyncio.Semaphore(concurrency)
        self._providers: dict[str, asyncio.Semaphore] = {}
        self._turns: WeakValueDictionary[Digest, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(self, endpoint: Endpoint) -> AsyncIterator[None]:
        """Waits for a place at the provider, then for one among all calls."""
        provider = self._providers.setdefault(endpoint.limiter, asyncio.Semaphore(endpoint.concurrency))
        async with provider, self._all:
            yield

    @asynccontextmanager
    async def turn(self, request: Digest) -> AsyncIterator[None]:
        """Equal requests go one after another, so that the second finds what the first has paid for."""
        async with self._turns.setdefault(request, asyncio.Lock()):
            yield


@dataclass(frozen=True, slots=True)
class Services:
    """What a run needs from the project. `context` and `monitor` are None when switched off."""

    journal: JournalPort
    models: ModelsPort
    spend: SpendPort
    limits: Limits
    emit: Callable[[Event], None]
    now: Callable[[], datetime]
    feedback: Callable[[Evaluation], str]
    """What the model is told about the findings before it tries again."""
    context: ContextPort | None = None
    monitor: MonitorPort | None = None


@dataclass(slots=True)
class RunScope:
    """One run: what was asked, what is known, and who waits for an answer."""

    id: RunId
    workflow: Workflow
    request: RunRequest
    generation: Generation
    values: Mapping[str, str]
    services: Services
    outputs: dict[NodeId, str] = field(default_factory=dict)
    waiting: dict[QuestionId, tuple[NodeId, asyncio.Future[Decision]]] = field(default_factory=dict)
    closing: bool = False
    """True when the process ends: what is cut off stays resumable."""
