"""A model whose whole answers wait for a slot, check the budget first, and are booked."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import BudgetExceeded, LimitReached, ModelError
from flowcabal_tui.domain.model_calls import Answer, ModelEvent, ModelRequest, Role, Usage
from flowcabal_tui.domain.model_ports import ModelPort, T
from flowcabal_tui.models.bounds import USUAL_OUTPUT, structured_extra
from flowcabal_tui.models.collect import ARRIVED, BEFORE_REPEATING, WAITS, Arrived, total
from flowcabal_tui.project.models.memory_gate import MEMORY_WORK
from flowcabal_tui.project.models.reservations import Reservation
from flowcabal_tui.project.models.spending import Spending
from flowcabal_tui.runner.effects import whole
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.ports import CALLER

R = TypeVar("R")
NONE_COUNTED: Final = total([])
"""The usage of a structured answer whose only try was cut off: it is booked by what has arrived."""


def _priority(request: ModelRequest) -> float:
    """Calls that a running node waits for go before calls of other nodes; background calls go last."""
    if MEMORY_WORK.get() is not None or request.purpose.startswith("curator."):
        return -math.inf
    return math.inf if request.purpose.startswith(("monitor.", "context.")) else 0.0


class BookedModel:
    """A model whose whole answers wait for a slot, check the budget first, and are booked."""

    def __init__(self, spending: Spending, role: Role, model: ModelPort, limits: Limits) -> None:
        self._spending, self._role, self._model, self._limits = spending, role, model, limits

    @property
    def endpoint(self) -> Endpoint:
        return self._model.endpoint

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        return self._model.stream(request)

    async def answer(self, request: ModelRequest) -> Answer:
        async def call() -> Answer:
            async with self._place(request):
                answer = await self._model.answer(request)
                await self._book(request, answer)
            return answer

        return await self._agreed(call)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        async def call() -> tuple[T, Answer]:
            async with self._place(request, structured_extra(self._spending.counter, self.endpoint, shape)):
                value, answer = await self._model.structured(request, shape)
                if answer.usage != NONE_COUNTED:
                    await self._book(request, answer)
            return value, answer

        return await self._agreed(call)

    @staticmethod
    async def _agreed(call: Callable[[], Awaitable[R]]) -> R:
        """Makes the call. Asks the writer first if it could exceed the run's limit; no slot is held meanwhile."""
        while True:
            try:
                return await call()
            except LimitReached as reached:
                if (caller := CALLER.get()) is None:
                    raise
                await caller.ask_at_limit(reached)

    async def _book(self, request: ModelRequest, answer: Answer) -> None:
        """Books an answer that is paid for; a cancel does not stop it, and the caller may keep the answer."""
        book = self._spending.book if answer.summed else self._spending.spent
        await whole(book(self._role, request.purpose, self.endpoint, request, answer.usage))

    @asynccontextmanager
    async def _place(self, request: ModelRequest, extra: int = 0) -> AsyncIterator[None]:
        """Holds a slot for one call until the call is booked. Raises BudgetExceeded.

        Checks the budget after the wait, because the calls before this one may have reached the cap, and again before
        a failed try, which is booked, is repeated.
        """
        async with (
            self._limits.slot(self.endpoint, _priority(request)),
            self._spending.reserved(
                self.endpoint, request, self._role, request.purpose, extra=extra, answer=USUAL_OUTPUT
            ) as reservation,
        ):
            arrived = Arrived(partial(self._spending.count_piece, reservation))
            holder = ARRIVED.set(arrived)
            caller = CALLER.get()
            tells = WAITS.set(caller.call_waits if caller else None)
            outside = BEFORE_REPEATING.set(partial(self._before_repeating, request, arrived, reservation))
            try:
                yield
                await whole(self._lost(request, arrived, None))  # a last try that was cut off after the readable parts
            except (ModelError, BudgetExceeded, asyncio.CancelledError) as error:
                await whole(self._lost(request, arrived, getattr(error, "usage", None)))
                raise
            finally:
                BEFORE_REPEATING.reset(outside)
                WAITS.reset(tells)
                ARRIVED.reset(holder)

    async def _before_repeating(
        self, request: ModelRequest, arrived: Arrived, reservation: Reservation, usage: Usage | None
    ) -> None:
        await self._lost(request, arrived, usage)
        self._spending.require_again(reservation)

    async def _lost(self, request: ModelRequest, arrived: Arrived, usage: Usage | None) -> None:
        """Books a try without an answer: the provider's count, or an estimate of the text received."""
        if usage is not None:
            await self._spending.book(self._role, request.purpose, self.endpoint, request, usage)
        elif arrived.pieces:
            await self._spending.book_estimate(
                self._role, request.purpose, self.endpoint, request, "".join(arrived.pieces)
            )
        arrived.pieces.clear()
