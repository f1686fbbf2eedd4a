"""A model on this machine without a price is free everywhere: in quotes, in sums, and in what is asked."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Quote, RunRequest
from flowcabal_tui.models.registry import cost
from flowcabal_tui.project.models.trying import most_cost
from flowcabal_tui.project.words import paid_models, spend_lines
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, make_one, opened

LOCAL = {"model": "m", "base_url": "http://localhost:11434/v1"}
PRICES = {"price_in": Decimal(2), "price_out": Decimal(10)}


async def quoted(case: Case) -> Quote:
    return await case.project.runs.quote(RunRequest("chapter", await case.chapter(1)))


async def test_a_run_on_it_is_quoted_as_free_and_booked_at_no_cost(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        quote = await quoted(case)
        assert (quote.is_free, quote.likely.cost, quote.open_ends, quote.keeping) == (True, Decimal(0), (), None)
        assert spend_lines(quote) == ["It is free."]
        assert paid_models(case.project.info.models, "user", "agent") == ""
        await case.run("quick-draft", 1)
        totals = await case.project.runs.totals()
        assert calls(server) > 0
        assert (totals.cost, totals.paid_calls, totals.unknown_calls) == (Decimal(0), 0, 0)
        assert totals.calls == calls(server)
        price = await case.project.builds.build_price("Write a chapter.")
        assert price is not None and price.is_free


async def test_prices_that_the_user_sets_on_it_count(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, **PRICES)))
    async with opened(folder) as case:
        quote = await quoted(case)
        assert not quote.is_free and quote.likely.cost
        assert paid_models(case.project.info.models, "user", "agent") == "mock"


async def test_beside_a_paid_model_only_the_paid_one_is_named_and_priced(folder: Path, server: FaultServer) -> None:
    paid = endpoint(server, currency="CNY", **PRICES)
    models = both(endpoint(server)).model_copy(update={"user": paid.model_copy(update={"model": "writer"})})
    await make_one(folder, models)
    async with opened(folder) as case:
        quote = await quoted(case)
        assert (quote.is_free, quote.currency, quote.open_ends[1:]) == (False, "CNY", ())
        assert quote.likely.cost
        assert paid_models(case.project.info.models, "user", "agent") == "writer"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (LOCAL, Decimal(0)),
        (LOCAL | PRICES, Decimal(12)),
        ({"model": "m", "base_url": "https://models.example/v1"}, None),
        (LOCAL | {"price_in": Decimal(2)}, None),
    ],
)
def test_the_cost_of_a_call(fields: dict[str, object], expected: Decimal | None) -> None:
    assert cost(Endpoint.model_validate(fields), Usage(1_000_000, 1_000_000)) == expected


def test_a_first_call_to_it_costs_nothing_also_for_vectors() -> None:
    local = Endpoint.model_validate(LOCAL)
    assert most_cost(local) == most_cost(local, embeds=True) == 0
    assert most_cost(Endpoint.model_validate({"model": "m"}), embeds=True) is None
