"""Makes one small call to a model that is not part of a project yet, after computing its highest price."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.model_calls import EndpointCheck, Role, Usage
from flowcabal_tui.locale import _
from flowcabal_tui.models.embeddings import HttpEmbedder
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.registry import CHECK_TOKENS, check, check_embedder, cost, make_embedder, make_model
from flowcabal_tui.project.trust.service import require_transport
from flowcabal_tui.settings.secrets import find_key

SENT_TOKENS: Final = 20
"""Upper bound for a request of two words in any provider's counting."""
PATIENCE: Final = 60.0
"""Maximum seconds until the first token, even if the settings allow more."""


def most_cost(endpoint: Endpoint, *, embeds: bool = False) -> Decimal | None:
    """The highest price of the call, in the endpoint's currency; None: its prices are unknown."""
    if embeds and endpoint.embeds_free:
        return Decimal(0)
    if embeds:
        return None if endpoint.price_in is None else endpoint.price_in * SENT_TOKENS / 1_000_000
    return cost(endpoint, Usage(SENT_TOKENS, CHECK_TOKENS))


async def try_model(endpoint: Endpoint, typed: str | None, *, embeds: bool = False) -> EndpointCheck:
    """Makes the call, once, with the typed key or the stored one. The caller has asked the user, who saw its name and
    the host. An error is part of the result; the key is not."""
    key = typed or find_key(endpoint)
    patient = min(endpoint.pace.first_token_timeout, PATIENCE)
    once = endpoint.model_copy(update={"retries": 0, "first_token_timeout": patient})
    await asyncio.to_thread(importlib.import_module, "httpx")  # it takes 0.2 s, which the screen should not wait for
    role: Role = "embedding" if embeds else "user"
    try:
        if key is not None:
            require_transport(endpoint.address)
        async with _closed(make_embedder(once, key) if embeds else make_model(once, key)) as model:
            if isinstance(model, HttpEmbedder):
                return await check_embedder(model)
            checked = await check(model, "user")
            window = await model.window() if checked.ok and endpoint.context_window is None else None
    except ModelError as error:
        return EndpointCheck(role, False, str(error))
    if window is None:
        return checked
    words = _("Its window: {n} tokens.").format(n=f"{window:,}")
    return EndpointCheck("user", True, f"{checked.message} {words}", checked.seconds)


@asynccontextmanager
async def _closed(model: HttpModel | HttpEmbedder) -> AsyncIterator[HttpModel | HttpEmbedder]:
    try:
        yield model
    finally:
        await model.aclose()
