"""A passage is proposed whole or not at all; what was spent adds up without reading it all again."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import Usage, UsageRecord
from flowcabal_tui.protocol import RewriteProposed, RewriteSelection
from flowcabal_tui.store import Store
from tests.faultserver import FaultServer
from tests.project.desk import both, endpoint, make_one, opened
from tests.runner.fakes import NOON


async def test_a_rewriting_that_was_cut_off_is_not_proposed(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as desk:
        asked = RewriteSelection(await desk.chapter(1), 0, 9, "It rained.", "Shorter.")
        server.push({"content": "It", "finish": "length"})
        with pytest.raises(ModelError, match="length limit"):
            await desk.project.carry_out(asked)
        assert desk.told(RewriteProposed) == []
        server.push({"content": "Rain."})
        await desk.project.carry_out(asked)
        assert [proposed.after for proposed in desk.told(RewriteProposed)] == ["Rain."]


CALLS = (
    UsageRecord("user", "m", "node:a", Usage(100, 20), 90, Decimal("0.10"), "USD"),
    UsageRecord("user", "m", "node:a", Usage(None, None), 90, Decimal("0.20"), "USD"),
    UsageRecord("agent", "n", "curator.l1", Usage(1, 1), 1, Decimal("3"), "CNY"),
    UsageRecord("agent", "n", "curator.l1", Usage(1, 1), 1, Decimal("3"), "CNY"),
    UsageRecord("user", "m", "node:a", Usage(1, 1), 1, None, "USD"),
)


@pytest.mark.parametrize("order", [CALLS, CALLS[::-1], CALLS[:2], CALLS[4:], CALLS[2:4]])
async def test_totals_added_call_by_call_are_those_of_the_store(tmp_path: Path, order: tuple[UsageRecord, ...]) -> None:
    store = await Store.open(tmp_path, clock=lambda: NOON, language="en")
    totals = Totals()
    for call in order:
        await store.usage.add(call)
        totals = totals.plus(call)
        assert totals == await store.usage.totals()
    await store.close()
