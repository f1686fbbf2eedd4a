"""Makes models for endpoints. A provider's module is loaded on first use, so that a book opens faster."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault, RunError
from flowcabal_tui.domain.model_calls import EndpointCheck, Message, ModelRequest, Role, StructuredMode, Usage
from flowcabal_tui.domain.model_ports import EmbeddingPort, ModelPort
from flowcabal_tui.domain.providers import SPOKEN, Provider
from flowcabal_tui.locale import _, mark
from flowcabal_tui.models.failures import require_address

if TYPE_CHECKING:
    from flowcabal_tui.models.embeddings import HttpEmbedder, Paid
    from flowcabal_tui.models.http_model import HttpModel, Sleep
    from flowcabal_tui.models.ladder import Ladder

CHECK_TOKENS: Final = 16
STRUCTURED_TOKENS: Final = 64
_MILLION: Final = Decimal(1_000_000)
Clock = Callable[[], float]


def make_model(
    endpoint: Endpoint, key: str | None, *, rng: random.Random | None = None, sleep: Sleep = asyncio.sleep
) -> HttpModel:
    """A ModelPort with its own connections; call `aclose` when done. Raises ModelError (NOT_CONFIGURED, AUTH)."""
    if endpoint.provider not in SPOKEN:
        raise _not_configured(endpoint)
    _require_address(endpoint)
    made: HttpModel = _module(endpoint).MODEL(endpoint, usable_key(key), rng or random.Random(), sleep)
    return made


def sent_address(endpoint: Endpoint) -> str:
    """The address that receives the book's text, also when the settings leave it to the provider."""
    address: str = _module(endpoint).base_url(endpoint)
    return address


def sent_messages(body: str) -> tuple[Message, ...]:
    """The turns of a request's JSON body, read by the first dialect that can. Raises RunError for an invalid body."""
    from flowcabal_tui.models.http_model import MALFORMED

    reason = ""
    for dialect in SPOKEN:
        model: type[HttpModel] = _dialect(dialect).MODEL
        try:
            return model.sent_messages(json.loads(body))
        except MALFORMED as error:
            reason = str(error)
    raise RunError(_("The kept part of this request cannot be read."), reason)


def _module(endpoint: Endpoint) -> Any:
    """The module of a dialect; the embedded model has no address of its own."""
    return _dialect(endpoint.provider if endpoint.provider in SPOKEN else SPOKEN[0])


def _dialect(name: Provider) -> Any:
    return import_module(f"flowcabal_tui.models.{name}")


def make_embedder(
    endpoint: Endpoint,
    key: str | None,
    *,
    rng: random.Random | None = None,
    sleep: Sleep = asyncio.sleep,
    paid: Paid | None = None,
) -> HttpEmbedder:
    """An EmbeddingPort with its own connections; call `aclose` when done. Raises ModelError (NOT_CONFIGURED, AUTH).

    `paid` is called for each request that was answered.
    """
    if endpoint.provider != "openai":
        raise _not_configured(endpoint)
    _require_address(endpoint)
    from flowcabal_tui.models.embeddings import HttpEmbedder

    return HttpEmbedder(endpoint, usable_key(key), rng or random.Random(), sleep, paid)


def usable_key(key: str | None) -> str | None:
    """The key without the blanks of a careless paste. Raises ModelError(AUTH) if a header cannot carry it."""
    key = (key or "").strip()
    if not key:
        return None
    if not all("!" <= character <= "~" for character in key):
        raise ModelError(
            ModelFault.AUTH,
            _("The key contains invalid characters"),
            _("Nothing was sent."),
            _("Copy the key again, without quotation marks or spaces."),
        )
    return key


async def check(model: ModelPort, role: Role, clock: Clock = time.monotonic) -> EndpointCheck:
    """Tests the endpoint with one tiny call. An empty answer counts as an answer."""
    endpoint, started = model.endpoint, clock()
    request = ModelRequest((Message("user", "Say: ok"),), purpose="doctor", max_tokens=CHECK_TOKENS)
    details = [("endpoint", endpoint.identity)]
    try:
        answer = await model.answer(request)
        details += [("model", answer.model)] if answer.model else []
        usage = answer.usage
        details += [("usage", _("reported") if usage.input_tokens is not None else _("not reported"))]
    except ModelError as error:
        if error.fault is not ModelFault.EMPTY:
            return EndpointCheck(role, False, str(error), clock() - started, tuple(details))
    message = _("{model} answers.").format(model=endpoint.model)
    return EndpointCheck(role, True, message, clock() - started, tuple(details))


async def check_structured(model: ModelPort, plain: EndpointCheck, clock: Clock = time.monotonic) -> EndpointCheck:
    """The result of `check` for the agents' model, with the mode of its structured answers."""
    if not plain.ok:
        return replace(plain, role="agent")
    name, started = model.endpoint.model, clock()
    try:
        how = _HOW[await _structured_mode(model)]
        message, ok = _("{model} answers; structured answers are requested {how}.").format(model=name, how=_(how)), True
    except ModelError as error:
        why = _("{model} answers, but not in structured form: {why}")
        message, ok = why.format(model=name, why=error.title), False
    return EndpointCheck("agent", ok, message, plain.seconds + clock() - started, plain.details)


_HOW: Final[dict[StructuredMode, str]] = {
    "tool": mark("by a tool call"),
    "native": mark("by a schema that the server enforces"),
    "prompted": mark("by an instruction in the prompt (least reliable)"),
}


class _Probe(BaseModel):
    """The smallest structured answer."""

    ok: bool


async def _structured_mode(model: ModelPort) -> StructuredMode:
    """The mode in which the endpoint gave a structured answer. Raises ModelError."""
    words = 'Answer with the JSON object {"ok": true}.'
    request = ModelRequest((Message("user", words),), purpose="doctor", max_tokens=STRUCTURED_TOKENS)
    await model.structured(request, _Probe)
    ladder: Ladder | None = getattr(model, "ladder", None)
    return ladder.mode if ladder else "prompted"


async def check_embedder(embedder: EmbeddingPort, clock: Clock = time.monotonic) -> EndpointCheck:
    """Tests the embedder with one word."""
    started = clock()
    details = (("endpoint", embedder.identity),)
    try:
        await embedder.embed(["ok"])
    except ModelError as error:
        return EndpointCheck("embedding", False, str(error), clock() - started, details)
    message = _("Vectors of {n} numbers.").format(n=embedder.dimensions)
    return EndpointCheck("embedding", True, message, clock() - started, details)


def cost(endpoint: Endpoint, usage: Usage) -> Decimal | None:
    """The cost of a call, in the endpoint's currency; None when a price or a count is unknown.

    0 for a model that is free (`Endpoint.is_free`), whatever it counts.
    """
    if endpoint.is_free:
        return Decimal(0)
    prices, counts = (endpoint.price_in, endpoint.price_out), (usage.input_tokens, usage.output_tokens)
    if prices[0] is None or prices[1] is None or counts[0] is None or counts[1] is None:
        return None
    read = min(counts[0], usage.cached_tokens or 0)
    written = min(counts[0] - read, usage.written_tokens or 0)
    price_read = prices[0] if endpoint.price_cached is None else endpoint.price_cached
    sent = prices[0] * (counts[0] - read - written) + price_read * read + (endpoint.write_price or 0) * written
    return (sent + prices[1] * counts[1]) / _MILLION


def _require_address(endpoint: Endpoint) -> None:
    if endpoint.base_url.strip():  # empty: the provider's own
        require_address(endpoint.base_url.strip())


def _not_configured(endpoint: Endpoint) -> ModelError:
    return ModelError(
        ModelFault.NOT_CONFIGURED,
        _("No model is configured"),
        _("There is no HTTP provider named {name}.").format(name=endpoint.provider),
        _("Choose one of: {names}. openai means every compatible server.").format(names=_(", ").join(SPOKEN)),
    )
