"""The user's rule for calls of background work to paid models, and the amount left for today."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from flowcabal_tui.domain.errors import SettingsError, SpendingNotAgreed
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import CallBound
from flowcabal_tui.project.words import UNPAID
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.locked import locked
from flowcabal_tui.settings.user_file import SpendingRule, load_user
from flowcabal_tui.system.files import write_whole

FILE: Final = "memory-spending.json"
"""In the user's state folder: the day, its currency, and the amount booked for background calls in all projects."""


@dataclass(slots=True)
class MemoryWork:
    """A step of background work that may call paid models; `refused` is the error of a call that was not permitted."""

    refused: SpendingNotAgreed | None = None


MEMORY_WORK: Final[ContextVar[MemoryWork | None]] = ContextVar("MEMORY_WORK", default=None)
"""The step of background work to which this task belongs."""


@dataclass(slots=True)
class Booking:
    """The booking of a call: under the sum of a day, or under an answer of the user by its number.

    `paid` and `used` are what its tries have cost so far, in money and tokens.
    """

    currency: str
    day: str = ""
    answer: int = 0
    cost: Decimal = Decimal(0)
    tokens: int = 0
    paid: Decimal = Decimal(0)
    used: int = 0


class MemoryGate:
    """Lets a call of background work begin only if the user's rule or answer pays for its highest cost.

    Lives on the engine's loop. An answer holds in this process until the work that it was given for is done.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._answer: SpendLimit | None = None
        self._answers = 0
        self._seen: tuple[int, str] | None = None
        """The state of the user's file and the day at the last refusal: until one changes, nothing is tried."""

    @property
    def state(self) -> tuple[object, ...]:
        """A value that changes with everything on which a refusal depends."""
        return (*self._now(), self._answers, self.has_answer)

    @property
    def has_answer(self) -> bool:
        """True while the user's answer pays for work."""
        return self._answer is not None

    def allow(self, limit: SpendLimit) -> None:
        """Lets the open work cost as much as the user has agreed to."""
        self._answer, self._seen, self._answers = limit, None, self._answers + 1

    def lapse(self) -> None:
        """Ends the answer: the work that it was given for is done."""
        self._answer = None

    def has_changed(self) -> bool:
        """True when the user's file or the day is another one than at the last refusal."""
        return self._seen is not None and self._seen != self._now()

    async def begin(self, currency: str, bound: CallBound) -> Booking:
        """Books the most that a call may cost, before it is sent. Raises SpendingNotAgreed."""
        booking = Booking(currency)
        if self._seen is not None and self._seen == self._now():
            self.refuse()
        if not self._takes(booking, bound):
            await asyncio.to_thread(self._book, booking, bound)
        return booking

    def again(self, booking: Booking, bound: CallBound) -> None:
        """Books a further try of a call, or a longer answer. Raises SpendingNotAgreed."""
        if booking.day or not self._takes(booking, bound):
            self._book(booking, bound)

    def end(self, booking: Booking) -> None:
        """Replaces the booked amount by the actual cost of the call. After a kill, the booked amount stays."""
        if booking.day:
            _change(booking.day, booking.currency, booking.paid - booking.cost, None)
        elif booking.answer == self._answers:
            self._pay(booking.paid - booking.cost, booking.used - booking.tokens)

    def _takes(self, booking: Booking, bound: CallBound) -> bool:
        """Books the call under the user's answer; an answer that cannot pay for it is used up."""
        limit = self._answer
        if limit is None or (limit.cost is not None and (bound.cost is None or booking.currency != limit.currency)):
            return False
        cost = booking.paid + (bound.cost or Decimal(0)) - booking.cost
        tokens = booking.used + bound.tokens - booking.tokens
        if cost > limit.cost if limit.cost is not None else tokens > (limit.tokens or 0):
            self._answer = None
            return False
        self._pay(cost, tokens)
        booking.answer, booking.cost, booking.tokens = self._answers, booking.cost + cost, booking.tokens + tokens
        return True

    def _pay(self, cost: Decimal, tokens: int) -> None:
        limit = self._answer
        if limit is not None:
            left = None if limit.cost is None else limit.cost - cost
            self._answer = SpendLimit(None if limit.tokens is None else limit.tokens - tokens, left, limit.currency)

    def _book(self, booking: Booking, bound: CallBound) -> None:
        """Books the call under the amount of today."""
        day, rule = booking.day or self._today(), spending_rule()
        if isinstance(rule, Decimal) and bound.cost is not None:
            more = booking.paid + bound.cost - booking.cost
            if _change(day, booking.currency, more, rule, self._today()):
                booking.day, booking.cost = day, booking.cost + more
                return
        self._seen = self._now()
        self.refuse()

    def refuse(self) -> None:
        """Raises SpendingNotAgreed, and notes it for the step of background work."""
        error = SpendingNotAgreed(
            _(UNPAID),
            _("Nothing was sent. The text is saved."),
            _("Answer on the screen with R, or on the command line with --yes; memory_spending in your config.toml has "
              "the rule."),
        )  # fmt: skip
        if (work := MEMORY_WORK.get()) is not None:
            work.refused = error
        raise error

    def _today(self) -> str:
        return self._clock().astimezone().date().isoformat()

    def _now(self) -> tuple[int, str]:
        try:
            changed = paths.user_file().stat().st_mtime_ns
        except OSError:
            changed = 0
        return changed, self._today()


def spending_rule() -> SpendingRule:
    """The user's rule; `ask` where their file cannot be read."""
    try:
        return load_user().memory_spending
    except SettingsError:
        return "ask"


def _change(day: str, currency: str, amount: Decimal, most: Decimal | None, today: str = "") -> bool:
    """Adds an amount to the sum of a day, unless it would exceed `most`; returns False when nothing was added.

    A day has one currency. A file that cannot be read or written lets nothing begin. A sum booked under a wrong clock
    for a day after `today` counts for `today`; otherwise it would count for every day until then.
    """
    path = paths.state_folder() / FILE
    try:
        with locked(path):
            known, of_day, booked = _read()
            if known != day and most is None:
                return False  # a call of another day has ended: its booking stays there
            known = min(known, today) if today else known
            if known < day:
                known, of_day, booked = day, currency, Decimal(0)
            if (booked and of_day != currency) or (most is not None and booked + amount > most):
                return False
            row = {"day": known, "currency": currency, "booked": str(max(booked + amount, Decimal(0)))}
            write_whole(path, f"{json.dumps(row)}\n".encode())
    except (OSError, ValueError):
        return False
    return True


def _read() -> tuple[str, str, Decimal]:
    try:
        row = json.loads((paths.state_folder() / FILE).read_text(encoding="utf-8"))
        booked = Decimal(row["booked"])
        if not booked.is_finite() or booked < 0:
            raise ValueError(FILE)
        return str(row["day"]), str(row["currency"]), booked
    except FileNotFoundError:
        return "", "", Decimal(0)
    except (KeyError, TypeError, InvalidOperation) as error:
        raise ValueError(FILE) from error
