"""Tokens and money spent, call by call."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import UsageRecord
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.file.reading import decodes, read_json, readable

if TYPE_CHECKING:
    from flowcabal_tui.domain.endpoints import OpenCall

_SEARCHED: Final = 40
"""Number of recent runs searched for comparable ones."""
_OPEN: Final = """INSERT OR REPLACE INTO open_call (number, role, purpose, endpoint, estimated, run, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


class UsageLog(StorePart):
    """Paid calls; money is added exactly."""

    async def open(self, number: int, call: OpenCall) -> None:
        """Records a call before it is sent, under a number with which `add` or `close` ends it."""
        row = self._row(number, call)
        await self._database.execute(_OPEN, row)

    def open_again(self, number: int, call: OpenCall) -> None:
        """Records that the same call is sent again, after the earlier try was booked. Does not wait."""
        row = self._row(number, call)
        self._database.writer.post(lambda connection: connection.execute(_OPEN, row).close())

    def _row(self, number: int, call: OpenCall) -> tuple[object, ...]:
        body = to_json(call)
        return number, call.role, call.purpose, body, call.estimated, call.run, self._now()

    def close(self, number: int) -> None:
        """Ends a call that cost nothing, or is booked. Does not wait."""
        sql = "DELETE FROM open_call WHERE number=?"
        self._database.writer.post(lambda connection: connection.execute(sql, (number,)).close())

    async def left_open(self) -> tuple[tuple[int, OpenCall], ...]:
        """Calls that were under way when the program was killed, with their numbers."""
        from flowcabal_tui.domain.endpoints import OpenCall  # has the prices, which opening a book does not need

        rows = await self._database.rows("SELECT number, endpoint FROM open_call ORDER BY number", ())
        return tuple((number, read_json(OpenCall, body)) for number, body in rows)

    @transaction
    def add(self, connection: Connection, record: UsageRecord, ends: int | None = None) -> None:
        """Books one call, and ends its open record in the same transaction."""
        usage = record.usage
        row = (
            *(record.role, record.model, record.purpose, usage.input_tokens, usage.output_tokens),
            *(usage.cached_tokens, usage.written_tokens, record.estimated_input),
            *(None if record.cost is None else str(record.cost), record.currency, record.run, record.node),
            self._now(),
        )
        columns = "role, model, purpose, input, output, cached, written, estimated, cost, currency, run, node, at"
        sql = f"INSERT INTO usage ({columns}) VALUES ({', '.join('?' * len(row))})"
        connection.execute(sql, row).close()
        connection.execute("DELETE FROM open_call WHERE number=?", (ends,)).close()

    async def totals(self, run: RunId | None = None) -> Totals:
        """The totals of one run or of all. Tokens that a provider did not report count as estimated (in) and 0 (out).

        The cost is None when any price is unknown, or when paid calls have two currencies.
        """
        rows = await self._database.rows(
            "SELECT input, output, estimated, cost, currency FROM usage WHERE ? IS NULL OR run=?", (run, run)
        )
        costs = [cost for *_tokens, text, _currency in rows if (cost := _cost(text)) is not None]
        free_calls = costs.count(Decimal(0))
        currencies = {currency for *_tokens, text, currency in rows if _cost(text) != 0}
        currencies = currencies or {currency for *_others, currency in rows[:1]}
        known = len(costs) == len(rows) and len(currencies) <= 1
        return Totals(
            calls=len(rows),
            input_tokens=sum(_tokens(row[2] if row[0] is None else row[0]) for row in rows),
            output_tokens=sum(_tokens(row[1]) for row in rows),
            cost=sum(costs, Decimal(0)) if known else None,
            currency=currencies.pop() if len(currencies) == 1 else "",
            unknown_calls=len(rows) - len(costs),
            estimated_calls=sum(row[0] is None and bool(_cost(row[3])) for row in rows),
            free_calls=free_calls,
        )

    async def costs_of_runs(
        self, workflow: str, currency: str, fits: Callable[[RunRequest], bool], limit: int
    ) -> tuple[Decimal, ...]:
        """The costs of the newest completed runs of a workflow (by its reference), at most `limit`, newest first.

        Only runs that took no output from an earlier run, whose request fits, and whose every call has a price in this
        currency.
        """
        rows = await self._database.rows(
            "SELECT run.id, request, payload FROM run JOIN event ON seq=(SELECT max(seq) FROM event WHERE run=run.id"
            " AND node='' AND kind='run-ended') WHERE workflow=? AND NOT EXISTS"
            " (SELECT 1 FROM event WHERE run=run.id AND node='' AND kind='nodes-served')"
            " ORDER BY run.number DESC LIMIT ?",
            (workflow, _SEARCHED),
        )
        found: list[Decimal] = []
        for run, request, state in readable(_ended, rows):
            if len(found) < limit and state == "done" and fits(request):
                spent = await self.totals(run)
                if spent.calls and spent.cost is not None and spent.currency == currency:
                    found.append(spent.cost)
        return tuple(found)


@decodes
def _ended(row: Row) -> tuple[RunId, RunRequest, str]:
    run, request, payload = row
    return RunId(run), read_json(RunRequest, request), json.loads(unpack(payload))["state"]


def _cost(text: str | None) -> Decimal | None:
    """The money of a call; None: unknown, also where a damaged row holds no number."""
    try:
        cost = Decimal(text or "")
    except (InvalidOperation, TypeError, ValueError):
        return None
    return cost if cost.is_finite() else None


def _tokens(count: int | None) -> int:
    return count if isinstance(count, int) else 0
