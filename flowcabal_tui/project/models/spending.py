"""The spending of a project, its caps, and the booking of each paid call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import asdict, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final

from flowcabal_tui.domain.codec import from_plain, to_plain
from flowcabal_tui.domain.endpoints import Endpoint, OpenCall
from flowcabal_tui.domain.errors import BudgetExceeded, LimitReached, SpendingNotAgreed
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import Message, ModelRequest, Role, SentRequest, Usage, UsageRecord
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import USUAL_OUTPUT, CallBound, bound_of_request, sent_limit, with_margin
from flowcabal_tui.models.collect import WENT_OUT
from flowcabal_tui.models.registry import cost
from flowcabal_tui.models.tokens import Calibration, TokenEstimator
from flowcabal_tui.project.models.memory_gate import MEMORY_WORK, MemoryGate
from flowcabal_tui.project.models.reservations import Reservation, Reservations, RunSpending
from flowcabal_tui.project.words import money
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import UsageChanged
from flowcabal_tui.settings.project_file import BudgetSettings
from flowcabal_tui.store import Store

CALIBRATION: Final = "tokens"
LIMIT: Final = "limit"
COUNTED_AT_ONCE: Final = 200
"""Characters of an answer that are counted together while it arrives."""
ROOM_TOKENS: Final = 512
"""Tokens beyond the received ones that a reservation is enlarged by."""
FREE: Final = CallBound(0, 0, Decimal(0))
PAYING_RUN: Final[ContextVar[RunId | None]] = ContextVar("PAYING_RUN", default=None)
"""The run that pays for the calls of this task and of the tasks that it begins."""
BOOKED_CALL: Final[ContextVar[Reservation | None]] = ContextVar("BOOKED_CALL", default=None)
"""The call that this task makes and books."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """The raised limit of a run, and the number of answers by a person that led to it."""

    answers: int
    limit: SpendLimit


class Spending:
    """Implements the runner's `SpendPort`. Lives on the engine's loop."""

    def __init__(
        self,
        budget: Callable[[], BudgetSettings],
        store: Store,
        counter: TokenEstimator,
        emit: Callable[[Event], None],
        clock: Callable[[], datetime],
    ) -> None:
        self._budget, self._store, self.counter, self._emit = budget, store, counter, emit
        self.gate, self.vectors_gate = MemoryGate(clock), MemoryGate(clock)
        """The second one has the answer to the question about vectors; their rule is the same."""
        self._vectors_refused: tuple[object, ...] | None = None
        self.totals = Totals()
        self._of_runs: dict[RunId, Totals] = {}
        self.reservations = Reservations(budget, lambda: self.totals)

    async def begin(self) -> None:
        """Loads the spending and the calibration, and books the calls that a killed program could not book."""
        if learned := await self._store.values.learned(CALIBRATION, dict[str, Any]):
            self.counter.calibration = Calibration.stored(learned)
        if not self._store.read_only:
            await self._book_left_open()
        self.totals = await self._store.usage.totals()

    async def embedded(self, endpoint: Endpoint, texts: Sequence[str], tokens: int | None) -> None:
        """Books vectors that have a price.

        Others are not booked: most are computed on this machine, and a call with an unknown price would leave the money
        cap without a sum to compare.
        """
        request = _embedding(texts)
        paid = Usage(self.counter.count_request(request) if tokens is None else tokens, 0)
        if endpoint.price_in is None:
            if (booked := BOOKED_CALL.get()) is not None and booked.booking is not None:
                booked.booking.used += paid.input_tokens or 0
            return
        priced = endpoint.model_copy(update={"price_out": Decimal(0)})
        await self._enter("embedding", request.purpose, priced, request, Usage(tokens, 0), paid)

    @asynccontextmanager
    async def embedding(self, endpoint: Endpoint, texts: Sequence[str]) -> AsyncIterator[None]:
        """Books the most that the vectors of these texts may cost, if background work asks for them and they are not
        free. Raises SpendingNotAgreed."""
        if MEMORY_WORK.get() is None or endpoint.embeds_free:
            yield
            return
        tokens = with_margin(self.counter, self.counter.count_request(_embedding(texts)))
        cost_of_all = None if endpoint.price_in is None else endpoint.price_in * tokens / 1_000_000
        reservation = Reservation(CallBound(tokens, 0, cost_of_all))
        gate = self.vectors_gate if self.vectors_gate.has_answer else self.gate
        try:
            reservation.booking = await gate.begin(endpoint.currency, reservation.bound)
        except SpendingNotAgreed:
            self._vectors_refused = self._vectors_state
            raise
        outside = BOOKED_CALL.set(reservation)
        try:
            yield
        finally:
            BOOKED_CALL.reset(outside)
            gate.end(reservation.booking)

    def require_vectors(self) -> None:
        """Raises SpendingNotAgreed when vectors were refused, and neither an answer, the rule nor the day is another
        since."""
        if self._vectors_refused is not None and self._vectors_refused == self._vectors_state:
            self.gate.refuse()

    @property
    def _vectors_state(self) -> tuple[object, ...]:
        return (*self.gate.state, *self.vectors_gate.state)

    def cap(self, job: RunId, max_cost: Decimal | None, spent: Totals) -> None:
        """Caps a job: no further call of it begins once it has cost `max_cost`; `spent` is its cost so far."""
        self.reservations.jobs[job] = (max_cost, spent)

    def _require_job_budget(self, job: RunId | None) -> None:
        limit, spent = self.reservations.jobs.get(job, (None, Totals())) if job else (None, Totals())
        if limit is not None and (spent.cost is None or spent.cost >= limit):
            raise BudgetExceeded(
                _("The cap of {limit} is reached.").format(limit=money(limit, spent.currency)),
                _("No new call was made. Earlier answers are kept."),
                _("Start again with a higher cap to continue."),
            )

    async def hold(self, run: RunId, agreed: SpendLimit) -> None:
        """Limits a run to its quote, or to the limit to which a person has raised it."""
        known = await self._store.values.get(f"{LIMIT}/{run}", _Raised) or _Raised(0, agreed)
        answers, limit = known.answers, known.limit
        spent = self._of_runs[run] = await self._store.usage.totals(run)
        self.reservations.hold(run, RunSpending(agreed, limit, spent, answers))

    def fits(self, reached: LimitReached) -> bool:
        """True when the call that reached a limit would fit now."""
        return not isinstance(reached.reservation, Reservation) or self.reservations.fits_run(reached.reservation)

    async def answered(self, run: RunId, reached: LimitReached, *, more: bool) -> None:
        """Records a person's answer; with `more`, the run may cost the agreed amount once again."""
        run_spending = self.reservations.runs.get(run)
        if run_spending is None or not isinstance(reached.reservation, Reservation):
            return
        run_spending.answers += 1
        if more:
            self.reservations.raise_limit(run, reached.reservation)
        await self._store.values.put(f"{LIMIT}/{run}", to_plain(_Raised(run_spending.answers, run_spending.limit)))

    @asynccontextmanager
    async def reserved(
        self,
        endpoint: Endpoint,
        request: ModelRequest,
        role: Role,
        purpose: str,
        *,
        attempt: int = 0,
        before: str = "",
        extra: int = 0,
        answer: int = 0,
    ) -> AsyncIterator[Reservation]:
        """Reserves the most that a try of the request may cost, from before it is sent until it is booked.

        Until then the store lists the call as open; if the program is killed, the call is booked when the project is
        next opened. `attempt` is the attempt of the node that streams a text, `before` the text that it continues.
        `extra` are further tokens sent, such as a schema. `answer` is the assumed maximum of answer tokens when no
        limit is sent; 0: the assumption of the run's quote. Raises BudgetExceeded, LimitReached for a run's limit, or
        SpendingNotAgreed in background work.
        """
        if endpoint.provider == "offline":
            yield Reservation(FREE)
            return
        run = PAYING_RUN.get()
        of_run = self.reservations.runs.get(run) if run else None
        assumed = answer or (of_run.limit.answer if of_run else 0) or USUAL_OUTPUT
        bound = bound_of_request(self.counter, endpoint, request, extra, assumed)
        tokens = self.counter.count_request(request) + extra
        call = OpenCall(role, purpose, _priced(endpoint), tokens, run or "", attempt, len(before))
        is_limited = sent_limit(endpoint, request.max_tokens) is not None
        reservation = Reservation(bound, run, endpoint, is_limited, call=call)
        keeper = WENT_OUT.set(partial(self._keep_sent, role, endpoint.model, purpose, run or "", attempt))
        try:
            await self.reservations.admit(reservation, self.require_budget)
            async with self._open(endpoint, reservation, call):
                yield reservation
        finally:
            WENT_OUT.reset(keeper)

    def _keep_sent(
        self, role: Role, model: str, purpose: str, run: str, attempt: int, body: Mapping[str, object]
    ) -> None:
        words = json.dumps(body, ensure_ascii=False)
        self._store.sent.keep(SentRequest(role, model, purpose, run, attempt, words, datetime.now(UTC)))

    @asynccontextmanager
    async def _open(self, endpoint: Endpoint, reservation: Reservation, call: OpenCall) -> AsyncIterator[None]:
        """Lists a reserved call as open, then releases it."""
        outside = BOOKED_CALL.set(reservation)
        try:
            if MEMORY_WORK.get() is not None and not endpoint.is_free:
                reservation.booking = await self.gate.begin(endpoint.currency, reservation.bound)
            await self._store.usage.open(reservation.number, call)
            yield
        finally:
            BOOKED_CALL.reset(outside)
            self._store.usage.close(reservation.number)
            self.reservations.release(reservation)
            if reservation.booking is not None:
                self.gate.end(reservation.booking)

    def count_piece(self, reservation: Reservation, piece: str) -> None:
        """Counts a piece of an answer or of its thoughts, and enlarges the reservation when the answer outgrows it.

        A provider that was sent a limit may ignore it. It does when more arrives than an estimate can be wrong by.

        Raises LimitReached or BudgetExceeded when the run's limit or a cap leaves no space for the larger reservation.
        """
        reservation.pieces.append(piece)
        if reservation.endpoint is None:
            return
        reservation.uncounted.append(piece)
        if sum(map(len, reservation.uncounted)) < COUNTED_AT_ONCE:
            return
        reservation.arrived += self.counter.count("".join(reservation.uncounted))
        reservation.uncounted.clear()
        if reservation.is_limited:
            if reservation.arrived <= with_margin(self.counter, reservation.bound.output_tokens):
                return
            reservation.is_limited = False
        if (most := with_margin(self.counter, reservation.arrived)) > reservation.bound.output_tokens:
            self.reservations.enlarge(reservation, most + ROOM_TOKENS)
            if reservation.booking is not None:
                self.gate.again(reservation.booking, reservation.bound)

    def require_again(self, reservation: Reservation) -> None:
        """Checks the budget before a failed try is repeated. Raises BudgetExceeded, or LimitReached for a run's
        limit."""
        self.require_budget()
        self.reservations.require_again(reservation)
        if reservation.booking is not None:
            self.gate.again(reservation.booking, reservation.bound)
        if reservation.call is not None:
            self._store.usage.open_again(reservation.number, reservation.call)

    def require_budget(self) -> None:
        """Raises BudgetExceeded when the hard cap on money or tokens, or the cap of the paying job, is reached."""
        self._require_job_budget(PAYING_RUN.get())
        budget, spent = self._budget(), self.totals
        if budget.max_cost is not None and spent.cost is None:
            raise BudgetExceeded(
                _("The cap on money cannot be enforced, so no new call was made."),
                _("The cost is unknown: a model has no price, or there are two currencies."),
                _("Set price_in and price_out of the models, or cap tokens with max_tokens instead."),
            )
        over_cost = budget.max_cost is not None and (spent.cost or Decimal(0)) >= budget.max_cost
        if over_cost or (budget.max_tokens is not None and spent.tokens >= budget.max_tokens):
            raise BudgetExceeded(
                _("The cap of this project is reached: no new call was made."),
                _("Spent: {cost}, {tokens} tokens.").format(
                    cost=money(spent.cost, spent.currency), tokens=spent.tokens
                ),
                _("Raise max_cost or max_tokens under [budget] in flowcabal.toml."),
            )

    async def spent(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books one try and learns from its usage. The offline model costs nothing and is not booked."""
        await self.book(role, purpose, endpoint, request, usage)
        if endpoint.provider != "offline":
            self.counter.learn(request, usage)
            await self._store.values.put(CALIBRATION, asdict(self.counter.calibration))

    async def book(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books without calibrating, since the usage may be a sum of several tries or incomplete."""
        await self._enter(role, purpose, endpoint, request, usage, usage)

    async def book_estimate(
        self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, arrived: str
    ) -> None:
        """Books an estimate of a call that was cut off before the provider had counted it; `arrived`: thoughts too."""
        out = self.counter.count(arrived)
        estimate = Usage(self.counter.count_request(request), out)
        await self._enter(role, purpose, endpoint, request, Usage(None, out), estimate)

    async def _enter(
        self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, counted: Usage, paid: Usage
    ) -> None:
        if endpoint.provider == "offline":
            return
        booked = BOOKED_CALL.get()
        if counted.output_tokens is None and booked is not None:  # not reported: the received text is counted
            counted = replace(counted, output_tokens=self.counter.count("".join(booked.pieces)))
        record = UsageRecord(
            role,
            endpoint.model,
            purpose,
            counted,
            self.counter.count_request(request),
            cost(endpoint, paid),
            endpoint.currency,
            run=PAYING_RUN.get() or "",
            node=purpose.removeprefix("node:") if purpose.startswith("node:") else "",
        )
        self.totals = self.totals.plus(record)  # first: it was spent, even if storing it fails
        if (job := PAYING_RUN.get()) is not None:
            self.reservations.spent(job, record)
            self._of_runs[job] = self._of_runs.get(job, Totals()).plus(record)
        if booked is not None and booked.booking is not None:
            booked.booking.paid += record.cost or Decimal(0)
            booked.booking.used += sum(filter(None, (paid.input_tokens, paid.output_tokens)))
        self._emit(UsageChanged(self.totals, job, self._of_runs.get(job) if job else None))
        await self._store.usage.add(record, booked.number if booked else None)

    async def _book_left_open(self) -> None:
        """Books calls that were under way when the program was killed: the tokens sent and the text received."""
        for number, call in await self._store.usage.left_open():
            node = NodeId(call.purpose.removeprefix("node:")) if call.attempt else NodeId("")
            usage = await self._journalled(call, node) if call.attempt else Usage(None, 0)
            paid = replace(usage, input_tokens=call.estimated if usage.input_tokens is None else usage.input_tokens)
            money = cost(call.endpoint, paid)
            record = UsageRecord(
                call.role,
                call.endpoint.model,
                call.purpose,
                usage,
                call.estimated,
                money,
                call.endpoint.currency,
                run=call.run,
                node=node,
            )
            await self._store.usage.add(record, number)

    async def _journalled(self, call: OpenCall, node: NodeId) -> Usage:
        """The data of an attempt in the journal; from now on it also says that this is booked, so that resuming does
        not book it again."""
        run = RunId(call.run)
        for event in reversed(await self._store.journal.history(run)):
            if (event.kind, event.node, event.attempt) == (
                "attempt-done",
                node,
                call.attempt,
            ) and "usage" in event.payload:
                return from_plain(Usage, event.payload["usage"])
        text = await self._store.journal.partial_text(run, node, call.attempt)
        await self._store.journal.record(RunEvent(run, "attempt-cut", node, call.attempt, {}, at=datetime.now(UTC)))
        return Usage(None, self.counter.count(text[call.before :]))


def _embedding(texts: Sequence[str]) -> ModelRequest:
    return ModelRequest(tuple(Message("user", text) for text in texts), "embedding")


def _priced(endpoint: Endpoint) -> Endpoint:
    """The fields that booking a call needs: the model and its prices; 0 for a free one, whose address is not stored."""
    free = Decimal(0) if endpoint.is_free else None
    return Endpoint(
        provider=endpoint.provider,
        model=endpoint.model,
        price_in=endpoint.price_in if free is None else free,
        price_out=endpoint.price_out if free is None else free,
        price_cached=endpoint.price_cached,
        price_cache_write=endpoint.price_cache_write,
        currency=endpoint.currency,
    )
