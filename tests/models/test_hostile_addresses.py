"""An address that a project's file chose does not weaken or redirect the connection."""

from __future__ import annotations

import ssl

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.models.registry import make_embedder, make_model
from flowcabal_tui.models.transport import Transport
from tests.faultserver import FaultServer
from tests.models.calls import events_of
from tests.models.conftest import MakeModel


@pytest.mark.parametrize("url", ["https://api.example.net/v1", "HTTPS://api.example.net/v1", "hTTps://127.0.0.1:8443"])
def test_the_certificate_is_checked_however_the_address_is_written(url: str) -> None:
    client = Transport(Endpoint(model="m", base_url=url), url, {}, "sk-1")._make_client()
    context = client._transport._pool._ssl_context  # type: ignore[attr-defined]  # nothing public says it
    assert context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname


@pytest.mark.parametrize("url", ["https://[@evil.com", "https://good.com\\@evil.com", "https://good.com%40evil.com"])
def test_an_address_that_can_be_read_in_two_ways_is_refused(url: str) -> None:
    for make in (make_model, make_embedder):
        with pytest.raises(ModelError) as refused:
            make(Endpoint(model="m", base_url=url), "sk-1")
        assert refused.value.fault is ModelFault.NOT_CONFIGURED


async def test_a_host_that_is_called_like_a_path_does_not_become_another_host(make: MakeModel) -> None:
    for provider, url in (("openai", "http://embeddings"), ("anthropic", "http://messages")):
        with pytest.raises(ModelError) as refused:
            await events_of(make(provider, base_url=url, retries=0))
        assert refused.value.fault is ModelFault.NOT_CONFIGURED


async def test_a_redirect_is_not_followed_with_the_key(make: MakeModel, server: FaultServer) -> None:
    server.push({"status": 307, "headers": {"location": f"{server.url}/elsewhere"}})
    with pytest.raises(ModelError):
        await events_of(make("openai", retries=0))
    assert [entry["path"] for entry in server.log] == ["/v1/chat/completions"]
