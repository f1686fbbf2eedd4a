"""What is written down of an address names the model, and nobody's key."""

from __future__ import annotations

import random

import httpx
import pytest

from flowcabal_tui.domain.addresses import host_of, is_encrypted, is_loopback
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.text import without_login

PARTS = (
    *("evil.com", "good.com", "127.0.0.1", "localhost", "[::1]", "user", "x", "443", "8080", "https:", "//", "/"),
    *("\\", "@", "#", "?", ":", "[", "]", "%40", "%2f", "%2e", "%00", ".", "\u3002", "\uff0e", "\uff0f", "\uff20"),
    *(
        " ",
        "\t",
        "\n",
        "\0",
        ";",
        "\u200b",
        "\u00ad",
        "\u00e1",
        "\u0430",
        "\u00df",
        "\u212a",
        "\ufb00",
        "\u2100",
        "\uff10",
    ),
)


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("https://me:pw@host/v1", "https://host/v1"),
        ("https://me:p@w@host:8080/v1?key=k", "https://host:8080/v1"),
        ("https://host/v1#k", "https://host/v1"),
        ("http://host/@team/v1", "http://host/@team/v1"),
        ("", ""),
    ],
)
def test_an_address_is_written_without_login_and_query(address: str, written: str) -> None:
    assert without_login(address) == written


def test_the_identity_of_an_endpoint_tells_models_apart_and_holds_no_login() -> None:
    one, other = (
        Endpoint(model=model, base_url="https://me:hunter2@host/v1?key=hunter3") for model in ("one", "other")
    )
    assert one.identity == "openai:https://host/v1:one" != other.identity


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://\u0430pi.openai.com/v1", "xn--pi-6kc.openai.com"),
        ("https://api.openai.com\u2215v1.evil.com", "api.openai.xn--comv1-4d6b.evil.com"),
        ("https://api.openai.com\uff0eevil.com", "api.openai.com.evil.com"),
        ("https://good.com\\@evil.com", ""),
        ("https://[@evil.com", ""),
        ("https://\u2100127.0.0.1@evil.com", ""),
        ("https://good.com%40evil.com", ""),
        ("https://good.com evil.com", ""),
        ("http://[::1]0", ""),
        ("https://good\u200b.com", ""),
    ],
)
def test_a_host_that_looks_like_another_is_shown_by_its_ascii_form_or_not_used(address: str, host: str) -> None:
    assert host_of(address) == host


def test_an_address_is_read_as_what_sends_reads_it() -> None:
    chance, compared = random.Random(1), 0
    for _number in range(30_000):
        scheme = chance.choice(("https://", "http://", "HTTPS://", "https:"))
        url = scheme + "".join(chance.choice(PARTS) for _part in range(chance.randint(1, 5)))
        host = host_of(url)
        try:
            sent = httpx.URL(url.strip() + "/chat/completions")
        except httpx.InvalidURL:
            continue
        if not host or not sent.host:
            continue
        compared += 1
        name = sent.raw_host.decode().rstrip(".")
        port = sent.port if sent.port not in (None, {"https": 443, "http": 80}[sent.scheme]) else None
        name = f"[{name}]" if ":" in name else name
        assert host == (name if port is None else f"{name}:{port}"), url
        assert is_loopback(url) == is_loopback(f"{sent.scheme}://{name}"), url
        assert is_encrypted(url) == (sent.scheme == "https"), url
    assert compared > 1_000
