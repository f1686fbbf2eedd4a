"""What was spent, call by call."""

from __future__ import annotations

from decimal import Decimal

from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import UsageRecord
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.runs.journal import Clock


class UsageLog:
    """Paid calls; money is added exactly."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    async def add(self, record: UsageRecord) -> None:
        """Books one call."""
        usage = record.usage
        row = (
            *(record.role, record.model, record.purpose),
            *(usage.input_tokens, usage.output_tokens, usage.cached_tokens, record.estimated_input),
            *(None if record.cost is None else str(record.cost), record.currency, record.run, record.node),
            self._clock().isoformat(),
        )
        await self._database.do(
            lambda connection: connection.execute(
                "INSERT INTO usage (role, model, purpose, input, output, cached, estimated, cost, currency, run, node,"
                f" at) VALUES ({', '.join('?' * len(row))})",
                row,
            ).close()
        )

    async def totals(self, run: RunId | None = None) -> Totals:
        """Of one run or of all. Tokens that a provider did not report count as estimated (in) and 0 (out).

        The cost is None when any price is unknown, or when there are two currencies.
        """
        rows = await self._database.rows(
            "SELECT input, output, estimated, cost, currency FROM usage WHERE ? IS NULL OR run=?", (run, run)
        )
        costs = [Decimal(cost) for *_tokens, cost, _currency in rows if cost is not None]
        currencies = {currency for *_others, currency in rows}
        known = len(costs) == len(rows) and len(currencies) <= 1
        return Totals(
            calls=len(rows),
            input_tokens=sum(row[2] if row[0] is None else row[0] for row in rows),
            output_tokens=sum(row[1] or 0 for row in rows),
            cost=sum(costs, Decimal(0)) if known else None,
            currency=currencies.pop() if len(currencies) == 1 else "",
            unknown_calls=len(rows) - len(costs),
            estimated_calls=sum(row[0] is None and row[3] is not None for row in rows),
        )
