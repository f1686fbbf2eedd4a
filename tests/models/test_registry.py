"""From an endpoint to a model, a check and a price."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Message,
    ModelRequest,
    Usage,
)
from flowcabal_tui.models.bounds import bound_of
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.registry import check, check_embedder, check_structured, cost, make_embedder, make_model
from tests.faultserver import FaultServer
from tests.models.conftest import KEY, MakeModel, Waits


@pytest.mark.parametrize("build", [make_model, make_embedder])
def test_a_provider_without_an_address_is_not_configured(build: Any) -> None:
    with pytest.raises(ModelError) as caught:
        build(Endpoint(provider="offline", model="sample"), None)
    assert caught.value.fault is ModelFault.NOT_CONFIGURED


def test_what_an_embedder_is_called_in_files_holds_no_login() -> None:
    endpoint = Endpoint(
        provider="openai", model="m", base_url="https://me:hunter2@example.com/v1?key=hunter3", dimensions=32
    )
    assert make_embedder(endpoint, None).identity == "openai:https://example.com/v1:m:32"


@pytest.mark.parametrize("key", ["sk-“quoted”", "sk-two\nlines", "钥匙"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ModelError) as caught:
        make_model(Endpoint(model="m"), key)
    assert caught.value.fault is ModelFault.AUTH
    assert key not in str(caught.value)


async def test_blanks_around_a_pasted_key_do_no_harm(server: FaultServer, make: MakeModel) -> None:
    await check(make("openai", key=f" {KEY}\n"), "user")
    assert server.log[0]["headers"]["authorization"] == f"Bearer {KEY}"


async def test_a_local_model_needs_no_key(server: FaultServer, make: MakeModel) -> None:
    assert (await check(make("openai", key=None), "user")).ok
    assert "authorization" not in server.log[0]["headers"]


async def test_a_check_is_one_tiny_call(server: FaultServer, model: HttpModel) -> None:
    found = await check(model, "user", clock=iter([1.0, 3.5]).__next__)
    assert found.ok and found.seconds == 2.5
    assert ("model", "mock") in found.details
    (entry,) = server.log
    assert entry["body"]["max_tokens"] <= 16


async def test_a_model_that_only_thinks_within_the_tiny_limit_answers(server: FaultServer, model: HttpModel) -> None:
    server.push({"content": "", "reasoning": "hm", "finish": "length"})
    assert (await check(model, "user")).ok


async def test_a_check_that_fails_says_what_to_do(server: FaultServer, model: HttpModel) -> None:
    server.push({"status": 401})
    found = await check(model, "agent")
    assert not found.ok and found.role == "agent"
    assert "key" in found.message and KEY not in found.message


async def test_parameters_reach_the_provider_but_cannot_turn_off_streaming(
    server: FaultServer, make: MakeModel
) -> None:
    request = ModelRequest((Message("user", "x"),), parameters=(("top_p", 0.5), ("stream", False)), temperature=0.2)
    await make("openai", max_output=99).answer(request)
    body = server.log[0]["body"]
    assert (body["top_p"], body["stream"], body["temperature"], body["max_tokens"]) == (0.5, True, 0.2, 99)


@pytest.mark.parametrize("tail", ["", "/", "/chat/completions"])
async def test_an_address_may_be_written_in_several_ways(server: FaultServer, make: MakeModel, tail: str) -> None:
    assert (await check(make("openai", base_url=f"{server.url}/v1{tail}"), "user")).ok


@pytest.mark.parametrize("tail", ["", "/v1", "/v1/messages"])
async def test_anthropic_addresses_with_any_tail_are_accepted(server: FaultServer, make: MakeModel, tail: str) -> None:
    assert (await check(make("anthropic", base_url=f"{server.url}{tail}"), "user")).ok


def test_an_unknown_price_or_count_is_an_unknown_cost() -> None:
    priced = Endpoint(model="m", price_in=Decimal("2"), price_out=Decimal("8"))
    assert cost(priced, Usage(500_000, 250_000)) == Decimal("3")
    assert cost(priced, Usage(500_000, None)) is None
    assert cost(Endpoint(model="m", price_in=Decimal("2")), Usage(1, 1)) is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(1_000_000, 0, 600_000), "1.04"),
        (Usage(1_000_000, 0, 600_000, 200_000), "1.14"),
        (Usage(1_000_000, 0), "2"),
    ],
    ids=["reads", "reads and writes", "no cache"],
)
def test_cached_input_is_paid_at_its_own_prices(usage: Usage, expected: str) -> None:
    prices = {"price_in": "2", "price_out": "8", "price_cached": "0.4", "price_cache_write": "2.5"}
    priced = Endpoint(model="m", **{name: Decimal(price) for name, price in prices.items()})
    assert cost(priced, usage) == Decimal(expected)


def test_cached_input_without_a_price_of_its_own_costs_what_other_input_costs() -> None:
    priced = Endpoint(model="m", price_in=Decimal("2"), price_out=Decimal("8"))
    assert cost(priced, Usage(1_000_000, 0, 600_000, 200_000)) == Decimal("2")


def test_what_anthropic_writes_into_its_cache_costs_a_quarter_more_and_a_quote_says_so() -> None:
    priced = Endpoint(provider="anthropic", model="m", price_in=Decimal("2"), price_out=Decimal("8"))
    assert cost(priced, Usage(1_000_000, 0, 0, 1_000_000)) == Decimal("2.5")
    assert bound_of(priced, 1_000_000, 0).cost == Decimal("2.5")


def test_a_provider_that_reports_more_cached_tokens_than_tokens_is_not_paid_less_than_nothing() -> None:
    priced = Endpoint(
        provider="openai", model="m", price_in=Decimal("2"), price_out=Decimal("0"), price_cached=Decimal("1")
    )
    assert cost(priced, Usage(100, 0, 500)) == Decimal("0.0001")


class TestEmbedder:
    async def test_a_check_embeds_one_word(self, server: FaultServer) -> None:
        server.push({}, {"status": 401})
        embedder = make_embedder(Endpoint(model="mock", base_url=server.url + "/v1"), KEY)
        good, bad = await check_embedder(embedder), await check_embedder(embedder)
        assert good.ok and "1024" in good.message
        assert not bad.ok and "key" in bad.message
        await embedder.aclose()

    async def test_texts_come_back_as_vectors_in_order(self, server: FaultServer, waits: Waits) -> None:
        embedder = make_embedder(Endpoint(model="mock", base_url=server.url + "/v1", dimensions=32), KEY)
        vectors = await embedder.embed([f"夜色 {n}" for n in range(25)])
        assert len(vectors) == 25 and all(len(vector) == 32 for vector in vectors)
        assert vectors[7] == (await embedder.embed(["夜色 7"]))[0]
        assert len(server.log) == 4
        assert server.log[0]["body"]["encoding_format"] == "float"
        await embedder.aclose()

    async def test_a_server_that_knows_no_dimensions_is_asked_without(self, server: FaultServer, waits: Waits) -> None:
        server.push({"status": 400})
        embedder = make_embedder(Endpoint(model="mock", base_url=server.url + "/v1", dimensions=64), KEY)
        assert len((await embedder.embed(["夜色", ""]))[0]) == 64
        assert "dimensions" not in server.log[1]["body"]
        await embedder.aclose()

    @pytest.mark.parametrize(
        ("fault", "kind", "calls"),
        [
            ({"status": 401}, ModelFault.AUTH, 1),
            ({"status": 500}, ModelFault.SERVER, 4),
            ({"body": {"data": []}}, ModelFault.PROTOCOL, 1),
            ({"body": {"data": [{"index": 0, "embedding": ["x"]}]}}, ModelFault.PROTOCOL, 1),
            ({"body": {"data": [{"index": 0, "embedding": [1, 2]}]}}, ModelFault.REFUSED, 1),
            ({"body": "<html>"}, ModelFault.PROTOCOL, 1),
            ({"reset_after": -1}, ModelFault.NETWORK, 4),
        ],
        ids=str,
    )
    async def test_failures_are_told_apart(
        self, server: FaultServer, waits: Waits, fault: dict[str, Any], kind: ModelFault, calls: int
    ) -> None:
        server.push(fault | {"times": -1})
        endpoint = Endpoint(model="mock", base_url=server.url + "/v1")
        embedder = make_embedder(endpoint, KEY, rng=random.Random(7), sleep=waits)
        with pytest.raises(ModelError) as caught:
            await embedder.embed(["夜色"])
        assert caught.value.fault is kind
        assert len(server.log) == calls
        await embedder.aclose()


async def test_the_agents_model_is_also_asked_for_a_structured_answer(server: FaultServer, make: MakeModel) -> None:
    server.push({"content": "ok"}, {"content": '{"ok": true}'})
    model = make("openai")
    found = await check_structured(model, await check(model, "agent"))
    assert found.ok and "schema" in found.message
    server.push({"content": "ok"}, {"content": "no", "times": 3})
    assert not (await check_structured(model, await check(model, "agent"))).ok
