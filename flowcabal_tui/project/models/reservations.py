"""The highest possible costs of running calls, so that caps hold although calls run in parallel."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from decimal import Decimal

from flowcabal_tui.domain.endpoints import Endpoint, OpenCall
from flowcabal_tui.domain.errors import BudgetExceeded, LimitReached
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import UsageRecord
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import CallBound, bound_of
from flowcabal_tui.project.models.memory_gate import Booking
from flowcabal_tui.project.words import money
from flowcabal_tui.settings.project_file import BudgetSettings


@dataclass(slots=True, eq=False)
class Reservation:
    """A call that waits or runs, with the highest cost of its next try."""

    bound: CallBound
    run: RunId | None = None
    endpoint: Endpoint | None = None
    """The model; None: the reservation does not grow with the answer."""
    is_limited: bool = False
    """The request limits its answer, and the provider has kept the limit so far."""
    number: int = field(default_factory=lambda: secrets.randbits(62))
    """The number of the open call in the store."""
    call: OpenCall | None = None
    booking: Booking | None = None
    """The booking of a call of background work to a paid model."""
    arrived: int = 0
    """Tokens of the answer that were counted."""
    uncounted: list[str] = field(default_factory=list)
    """The pieces after them, until there are enough to count."""
    pieces: list[str] = field(default_factory=list)
    """All of the answer so far, for a provider that does not count it."""

    @property
    def tokens(self) -> int:
        """The input and output tokens together."""
        return self.bound.tokens

    def starts_again(self) -> None:
        """Resets the count of the answer, because a failed try is repeated."""
        self.arrived = 0
        self.uncounted.clear()
        self.pieces.clear()

    @property
    def cost(self) -> Decimal:
        """The highest cost; 0 if it is unknown: the cap then applies to later calls."""
        return self.bound.cost or Decimal(0)


@dataclass(slots=True)
class RunSpending:
    """A run with its limit, and its cost so far."""

    agreed: SpendLimit
    """The run's quote."""
    limit: SpendLimit
    """The quote, plus the same again for each time that a person agreed."""
    spent: Totals
    answers: int = 0
    """The number of questions about the limit that a person has answered."""
    sent: int = 0
    """Calls that were begun since the run has its limit."""


class Reservations:
    """Lets a call begin only when it fits within the limit together with spent and reserved amounts.

    The project's caps let one call pass at a time, at any price, and can be exceeded only by that call. A run's own
    limit is not exceeded: LimitReached is raised instead, and a person decides.
    """

    def __init__(self, budget: Callable[[], BudgetSettings], totals: Callable[[], Totals]) -> None:
        self._budget, self._totals = budget, totals
        self._under_way: set[Reservation] = set()
        self._changed = asyncio.Event()
        self.runs: dict[RunId, RunSpending] = {}
        self.jobs: dict[RunId, tuple[Decimal | None, Totals]] = {}
        """Caps of background jobs and what these have cost; like the project's, passed by one call at most."""

    def hold(self, run: RunId, spending: RunSpending) -> None:
        """Limits a run: no call begins that could exceed its limit."""
        self.runs[run] = spending

    def spent(self, run: RunId, call: UsageRecord) -> None:
        """Records a booked call of this run or job."""
        if (spending := self.runs.get(run)) is not None:
            spending.spent = spending.spent.plus(call)
        if run in self.jobs:
            limit, so_far = self.jobs[run]
            self.jobs[run] = (limit, so_far.plus(call))

    def release_run(self, run: RunId) -> None:
        """Removes the limit of a run that has ended."""
        self.runs.pop(run, None)

    async def admit(self, call: Reservation, require: Callable[[], None]) -> None:
        """Waits until the call fits, and reserves it. `require` raises BudgetExceeded when a cap is used up.

        Raises LimitReached when it cannot fit into the limit of its run.
        """
        while True:
            require()
            of_run = [each for each in self._under_way if each.run is not None and each.run == call.run]
            if self._no_call_left(call) or not self._fits_run(call, of_run):
                if not of_run:
                    raise self._reached(call)
            elif (self._fits_project(call, self._under_way) and self._fits_job(call, of_run)) or not self._under_way:
                self._under_way.add(call)
                self._sent(call)
                return
            self._changed.clear()
            await self._changed.wait()

    def require_again(self, call: Reservation) -> None:
        """Checks a call before it repeats a failed try. Raises LimitReached when that could exceed the limit of its
        run."""
        call.starts_again()
        if self._no_call_left(call) or not self._fits_run(
            call, [each for each in self._under_way if each.run == call.run and each is not call]
        ):
            raise self._reached(call)
        self._sent(call)

    def _no_call_left(self, call: Reservation) -> bool:
        spending = self.runs.get(call.run) if call.run is not None else None
        return spending is not None and spending.limit.calls is not None and spending.sent >= spending.limit.calls

    def _sent(self, call: Reservation) -> None:
        if call.run is not None and (spending := self.runs.get(call.run)) is not None:
            spending.sent += 1

    def enlarge(self, call: Reservation, output_tokens: int) -> None:
        """Reserves a longer answer for a running call.

        Raises LimitReached when the limit of its run has no space for it, BudgetExceeded when a cap has none.
        """
        if call.endpoint is None or output_tokens <= call.bound.output_tokens:
            return
        larger = Reservation(bound_of(call.endpoint, call.bound.input_tokens, output_tokens), call.run)
        others = [each for each in self._under_way if each is not call]
        of_run = [each for each in others if each.run is not None and each.run == call.run]
        if not self._fits_run(larger, of_run):
            raise self._cut(call)
        if not self._fits_project(larger, others) or not self._fits_job(larger, of_run):
            raise BudgetExceeded(
                _("A cap is reached: an answer was stopped while it arrived."),
                _("It grew longer than the length reserved for it. The text so far is kept; it has been paid for."),
                _("Raise max_cost or max_tokens under [budget] in flowcabal.toml, or start again with a higher cap."),
            )
        call.bound = larger.bound

    def release(self, call: Reservation) -> None:
        """Releases the reservation of a call that has ended and is booked."""
        self._under_way.discard(call)
        self._changed.set()

    def raise_limit(self, run: RunId, call: Reservation) -> SpendLimit:
        """Raises the limit of a run by the agreed amount, and at least by the requested call; returns the new limit."""
        spending = self.runs[run]
        spent, limit, agreed = spending.spent, spending.limit, spending.agreed
        if limit.cost is not None:
            most = max(limit.cost, spent.cost or Decimal(0)) + max(agreed.cost or Decimal(0), call.cost)
            limit = replace(limit, cost=most)
        if limit.tokens is not None:
            limit = replace(limit, tokens=max(limit.tokens, spent.tokens) + max(agreed.tokens or 0, call.tokens))
        if limit.calls is not None:
            limit = replace(limit, calls=spending.sent + max(1, agreed.calls or 0))
        spending.limit = limit
        self._changed.set()
        return limit

    def fits_run(self, call: Reservation) -> bool:
        """True when the call fits within the limit of its run, if no other call of the run is in progress."""
        return self._fits_run(call, ())

    def _fits_run(self, call: Reservation, beside: Iterable[Reservation]) -> bool:
        spending = self.runs.get(call.run) if call.run is not None else None
        if spending is None:
            return True
        calls = [call, *beside]
        if spending.limit.cost is not None:
            spent = spending.spent.cost
            return spent is not None and spent + sum(each.cost for each in calls) <= spending.limit.cost
        if spending.limit.tokens is not None:
            return spending.spent.tokens + sum(each.tokens for each in calls) <= spending.limit.tokens
        return True

    def _fits_project(self, call: Reservation, beside: Iterable[Reservation]) -> bool:
        budget, spent, calls = self._budget(), self._totals(), [call, *beside]
        cost = None if spent.cost is None else spent.cost + sum(each.cost for each in calls)
        if budget.max_cost is not None and cost is not None and cost > budget.max_cost:
            return False
        if budget.max_tokens is None:
            return True
        return spent.tokens + sum(each.tokens for each in calls) <= budget.max_tokens

    def _fits_job(self, call: Reservation, beside: Iterable[Reservation]) -> bool:
        limit, spent = self.jobs.get(call.run, (None, Totals())) if call.run is not None else (None, Totals())
        if limit is None or spent.cost is None:
            return True
        return spent.cost + sum(each.cost for each in (call, *beside)) <= limit

    def _cut(self, call: Reservation) -> LimitReached:
        spending = self.runs[call.run] if call.run is not None else None
        words = _("An answer grew longer than the length reserved for it and was stopped. The text so far is kept.")
        reached = LimitReached(_("The run has reached the upper limit of its quote."), words, _advice())
        reached.reservation, reached.number, reached.cut = call, spending.answers if spending else 0, True
        return reached

    def _reached(self, call: Reservation) -> LimitReached:
        nothing = SpendLimit()
        spending = self.runs[call.run] if call.run is not None else RunSpending(nothing, nothing, Totals())
        limit, spent = spending.limit, spending.spent
        if limit.cost is not None:
            words = _("You agreed to at most {limit}; {spent} has been spent, and the next call may cost up to {next}.")
            words = words.format(
                limit=money(limit.cost, limit.currency),
                spent=_("an unknown amount") if spent.cost is None else money(spent.cost, limit.currency),
                next=_("an unknown amount") if call.bound.cost is None else money(call.cost, limit.currency),
            )
        else:
            words = _(
                "You agreed to at most {limit:,} tokens; {spent:,} have been used, and the next call may use up "
                "to {next:,}."
            )
            words = words.format(limit=limit.tokens or 0, spent=spent.tokens, next=call.tokens)
        reached = LimitReached(_("The run has reached the upper limit of its quote."), words, _advice())
        reached.reservation, reached.number = call, spending.answers
        return reached


def _advice() -> str:
    return _("Start the run again to continue: paid answers are kept and not charged again.")
