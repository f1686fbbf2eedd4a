"""What is written down of an address names the model, and nobody's key."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.model_calls import Endpoint
from flowcabal_tui.domain.text import without_login


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
    one, other = (Endpoint("openai", model, "https://me:hunter2@host/v1?key=hunter3") for model in ("one", "other"))
    assert one.identity == "openai:https://host/v1:one" != other.identity
