"""Tokens and money spent, call by call."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import UsageRecord
from flowcabal_tui.store.file.connection import Clock, Database
from flowcabal_tui.store.file.reading import read_json

if TYPE_CHECKING:
    from flowcabal_tui.domain.endpoints import OpenCall

_OPEN: Final = """INSERT OR REPLACE INTO open_call (number, role, purpose, endpoint, estimated, run, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


class UsageLog:
    """Paid calls; money is added exactly."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    async def open(self, number: int, call: OpenCall) -> None:
        """Records a call before it is sent, under a number with which `add` or `close` ends it."""
        row = self._row(number, call)
        await self._database.do(lambda connection: connection.execute(_OPEN, row).close())

    def open_again(self, number: int, call: OpenCall) -> None:
        """Records that the same call is sent again, after the earlier try was booked. Does not wait."""
        row = self._row(number, call)
        self._database.writer.post(lambda connection: connection.execute(_OPEN, row).close())

    def _row(self, number: int, call: OpenCall) -> tuple[object, ...]:
        body = to_json(call)
        return number, call.role, call.purpose, body, call.estimated, call.run, self._clock().isoformat()

    def close(self, number: int) -> None:
        """Ends a call that cost nothing, or is booked. Does not wait."""
        sql = "DELETE FROM open_call WHERE number=?"
        self._database.writer.post(lambda connection: connection.execute(sql, (number,)).close())

    async def left_open(self) -> tuple[tuple[int, OpenCall], ...]:
        """Calls that were under way when the program was killed, with their numbers."""
        from flowcabal_tui.domain.endpoints import OpenCall  # prices: to open a book needs none

        rows = await self._database.rows("SELECT number, endpoint FROM open_call ORDER BY number", ())
        return tuple((number, read_json(OpenCall, body)) for number, body in rows)

    async def add(self, record: UsageRecord, ends: int | None = None) -> None:
        """Books one call, and ends its open record in the same transaction."""
        usage = record.usage
        row = (
            *(record.role, record.model, record.purpose, usage.input_tokens, usage.output_tokens),
            *(usage.cached_tokens, usage.written_tokens, record.estimated_input),
            *(None if record.cost is None else str(record.cost), record.currency, record.run, record.node),
            self._clock().isoformat(),
        )
        columns = "role, model, purpose, input, output, cached, written, estimated, cost, currency, run, node, at"
        sql = f"INSERT INTO usage ({columns}) VALUES ({', '.join('?' * len(row))})"

        def book(connection: sqlite3.Connection) -> None:
            connection.execute(sql, row).close()
            connection.execute("DELETE FROM open_call WHERE number=?", (ends,)).close()

        await self._database.do(book)

    async def totals(self, run: RunId | None = None) -> Totals:
        """The totals of one run or of all. Tokens that a provider did not report count as estimated (in) and 0 (out).

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
