"""Proposes models when nothing is configured: keys in the environment, models on this machine.

Calls no endpoint that costs money. The user confirms a proposal.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.text import clean
from flowcabal_tui.models.presets import KNOWN, LOCAL, Preset

PROBE_SECONDS: Final = 0.3
PROBE_LIMIT: Final = 2**20


@dataclass(frozen=True, slots=True)
class DiscoveredModels:
    """Available models. `models` are the names to choose from (only one if the server was not queried).

    `local`: they run on this machine, cost nothing and send nothing away.
    """

    name: str
    endpoint: Endpoint
    models: tuple[str, ...]
    local: bool = False


async def discover(environ: Mapping[str, str], local: Mapping[str, str] = LOCAL) -> tuple[DiscoveredModels, ...]:
    """Models on this machine first, then providers whose key is in `environ`; `local` maps names to base URLs."""
    found = await asyncio.gather(*(_on_this_machine(name, url) for name, url in local.items()))
    return (*(each for each in found if each), *in_environment(environ))


def in_environment(environ: Mapping[str, str]) -> tuple[DiscoveredModels, ...]:
    """A proposal for each provider whose key is set; the key itself is not used."""
    return tuple(_proposal(known, environ) for known in KNOWN if environ.get(known.key_env, "").strip())


def _proposal(known: Preset, environ: Mapping[str, str]) -> DiscoveredModels:
    url = environ.get(known.base_env, "").strip() or known.base_url
    endpoint = Endpoint(provider=known.provider, model=known.model, base_url=url, api_key_env=known.key_env)
    return DiscoveredModels(known.name, endpoint, (known.model,))


async def _on_this_machine(name: str, url: str) -> DiscoveredModels | None:
    names = await _models(url)
    writers = tuple(each for each in names if "embed" not in each.lower() and "bge" not in each.lower())
    if not writers:
        return None
    return DiscoveredModels(name, Endpoint(model=writers[0], base_url=url), writers, local=True)


async def _models(url: str) -> tuple[str, ...]:
    """The models that a server lists; () if there is none or it is not quick."""
    await asyncio.to_thread(importlib.import_module, "httpx")  # it takes 0.2 s, which the loop should not wait for
    import httpx

    try:
        async with (
            httpx.AsyncClient(verify=False, trust_env=False) as client,
            asyncio.timeout(PROBE_SECONDS),
            client.stream("GET", f"{url}/models") as response,
        ):
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > PROBE_LIMIT:
                    return ()
        rows = json.loads(body)["data"]
        return tuple(clean(row["id"]) for row in rows if isinstance(row["id"], str))
    except (httpx.HTTPError, TimeoutError, ValueError, TypeError, KeyError, RecursionError):
        return ()
