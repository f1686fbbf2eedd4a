"""The two protocols and a server that fails as told."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.providers import DIALECTS, SPOKEN, Provider
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.registry import make_model
from tests.faultserver import FaultServer

KEY = "sk-a-secret-of-the-writer-0123456789"


@dataclass
class Waits:
    """Waits that take no time, and how long they would have been."""

    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server


@pytest.fixture
def waits() -> Waits:
    return Waits()


MakeModel = Callable[..., HttpModel]


@pytest_asyncio.fixture
async def make(server: FaultServer, waits: Waits) -> AsyncIterator[MakeModel]:
    made: list[HttpModel] = []

    def of(provider: Provider, key: str | None = KEY, **fields: Any) -> HttpModel:
        url = server.url + urlsplit(DIALECTS[provider].address).path
        endpoint = Endpoint(provider=provider, model="mock", **({"base_url": url} | fields))
        made.append(make_model(endpoint, key, rng=random.Random(7), sleep=waits))
        return made[-1]

    yield of
    for model in made:
        await model.aclose()


@pytest.fixture(params=SPOKEN)
def provider(request: pytest.FixtureRequest) -> Provider:
    chosen: Provider = request.param
    return chosen


@pytest.fixture
def model(provider: Provider, make: MakeModel) -> HttpModel:
    return make(provider)
