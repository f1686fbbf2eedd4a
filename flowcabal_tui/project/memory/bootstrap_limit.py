"""A reading is held to the most of its quote, and shows how fast its model answers."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import BootstrapQuote, Totals
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.locale import _
from flowcabal_tui.project.models.roles import ModelRoles
from flowcabal_tui.store import Store

PACE: Final = "bootstrap/pace"


async def hold(store: Store, models: ModelRoles, job: RunId, quote: BootstrapQuote) -> None:
    """Limits the reading: no further call may exceed the amount spent so far plus the most of `quote`."""
    spent = await store.usage.totals(job)
    cost = None if quote.cost is None or spent.cost is None else spent.cost + quote.cost
    tokens = _tokens(spent) + quote.input_tokens + quote.output_tokens
    await models.spending.hold(job, SpendLimit(tokens, cost, quote.currency, calls=quote.calls))


def past_quote() -> str:
    """Why the reading paused when the next call could pass the limit."""
    return _("It has reached the limit of its quote: continue to agree to the rest.")


async def known_pace(store: Store, endpoint: Endpoint) -> float | None:
    """Seconds a token, as an earlier reading with this model took; None when there was none."""
    pace: float | None = (await store.values.get(PACE) or {}).get(endpoint.identity)
    return pace


async def learn_pace(store: Store, endpoint: Endpoint, job: RunId, before: Totals, seconds: float) -> None:
    """Keeps how long a token took since `before`."""
    if (tokens := _tokens(await store.usage.totals(job)) - _tokens(before)) > 0:
        known = await store.values.get(PACE) or {}
        await store.values.put(PACE, {**known, endpoint.identity: seconds / tokens})


def _tokens(spent: Totals) -> int:
    return spent.input_tokens + spent.output_tokens
