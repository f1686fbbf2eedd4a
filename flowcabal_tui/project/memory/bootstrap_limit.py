"""Limits a reading to the highest price of its quote, and measures the speed of its model."""

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
    """Limits the reading: no further call may exceed the amount spent so far plus the highest price of `quote`."""
    spent = await store.usage.totals(job)
    cost = None if quote.cost is None or spent.cost is None else spent.cost + quote.cost
    tokens = spent.tokens + quote.input_tokens + quote.output_tokens
    await models.spending.hold(job, SpendLimit(tokens, cost, quote.currency, calls=quote.calls))


def past_quote() -> str:
    """The reason for a pause when the next call could exceed the limit."""
    return _("It has reached the limit of its quote: continue to agree to the rest.")


async def known_pace(store: Store, endpoint: Endpoint) -> float | None:
    """The seconds per token measured in an earlier reading with this model; None when there was none."""
    return (await store.values.learned(PACE, dict[str, float]) or {}).get(endpoint.identity)


async def learn_pace(store: Store, endpoint: Endpoint, job: RunId, before: Totals, seconds: float) -> None:
    """Stores the seconds per token since `before`."""
    if (tokens := (await store.usage.totals(job)).tokens - before.tokens) > 0:
        known = await store.values.learned(PACE, dict[str, float]) or {}
        await store.values.put(PACE, {**known, endpoint.identity: seconds / tokens})
