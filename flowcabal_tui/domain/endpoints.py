"""The endpoints of models, as settings files describe them, and calls to them that are not booked yet."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, NamedTuple

from pydantic import Field, model_validator

from flowcabal_tui.domain.addresses import is_loopback
from flowcabal_tui.domain.model_calls import ModelRequest, Role, StructuredMode
from flowcabal_tui.domain.providers import DIALECTS, Provider
from flowcabal_tui.domain.sampling import FrequencyPenalty, PresencePenalty, Sampled, Seed, Stop, TopP
from flowcabal_tui.domain.text import without_login
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _


class Pace(NamedTuple):
    """Concurrent calls of an endpoint, and its time-outs in seconds."""

    concurrency: int
    first_token_timeout: float
    idle_timeout: float
    answer_timeout: float


_PACE: Final = Pace(4, 120.0, 60.0, 1_200.0)
_LOCAL_PACE: Final = Pace(1, 1_800.0, 300.0, 1_800.0)
"""A local server handles one request at a time, and may first have to load the model and read a long prompt."""


class Endpoint(Sampled, extra="forbid", frozen=True, defer_build=True):
    """The endpoint of a role's model, as in a settings file. It holds the name of the key, never the key.

    Prices are per million tokens; None means unknown, never 0. Without a cache price, input read from or written into
    the provider's cache costs as much as other input (see `write_price`). Times are in seconds.
    """

    provider: Provider = Field("openai", description="Protocol of the endpoint; openai: any compatible server.")
    model: str = Field(min_length=1, description="Name of the model, as its provider writes it.")
    base_url: str = Field("", description="Address of the endpoint, with /v1 where it has one; empty: the provider's.")
    api_key_env: str = Field("", description="Name of the environment variable with the key.")
    secret: str = Field("", description="Name of the entry with the key in the secrets file.")
    context_window: int | None = Field(None, ge=1, description="Maximum tokens of a prompt and its answer together.")
    max_output: int | None = Field(None, ge=1, description="Maximum tokens of one answer.")
    temperature: float | None = Field(
        None, ge=0, le=2, description="Temperature of nodes that set none; unset: the provider's."
    )
    top_p: TopP = None
    frequency_penalty: FrequencyPenalty = None
    presence_penalty: PresencePenalty = None
    stop: Stop = ()
    seed: Seed = None
    price_in: Decimal | None = Field(None, ge=0, description="Price of a million tokens sent; unset: unknown.")
    price_out: Decimal | None = Field(None, ge=0, description="Price of a million tokens received; unset: unknown.")
    price_cached: Decimal | None = Field(
        None, ge=0, description="Price of a million tokens read from the provider's cache; unset: as `price_in`."
    )
    price_cache_write: Decimal | None = Field(
        None,
        ge=0,
        description="Price of a million tokens written into that cache; unset: `price_in`, at Anthropic 1.25 of it.",
    )
    currency: str = Field("USD", description="Currency of the prices.")
    concurrency: int | None = Field(
        None, ge=1, le=256, description="Calls to this endpoint at the same time; unset: 4, on this machine 1."
    )
    structured: StructuredMode | None = Field(None, description="How structured answers are requested.")
    first_token_timeout: float | None = Field(
        None, gt=0, description="Seconds until the first sign of an answer; unset: 120, on this machine 1800."
    )
    idle_timeout: float | None = Field(
        None, gt=0, description="Seconds of silence within an answer; unset: 60, on this machine 300."
    )
    answer_timeout: float | None = Field(
        None,
        gt=0,
        description="Seconds from the first sign of an answer to its end; unset: 1200, on this machine 1800.",
    )
    max_wait: float = Field(60, ge=0, description="Maximum seconds to wait when a busy endpoint asks for it.")
    retries: int = Field(3, ge=0, le=10, description="Further tries after a failed one, if no text has arrived.")
    dimensions: int = Field(1024, ge=8, le=8192, description="Length of the vectors of an embedding model.")

    @model_validator(mode="before")
    @classmethod
    def _no_key(cls, values: object) -> object:
        if isinstance(values, dict) and (found := {"api_key", "key", "token", "password"} & set(values)):
            words = _(
                "{keys}: a key does not belong in the project's file; name an environment variable with "
                "api_key_env, or an entry of the user's secrets file with secret"
            )
            raise ValueError(words.format(keys=_(", ").join(sorted(found))))
        return values

    def answer_limit(self, wanted: int | None) -> int | None:
        """The limit of an answer in tokens: `wanted`, but never more than the endpoint's own; None: no limit."""
        return min((each for each in (wanted, self.max_output) if each is not None), default=None)

    @property
    def pace(self) -> Pace:
        """The pace in the settings, or the default for the address."""
        usual = _LOCAL_PACE if self.is_local else _PACE
        return Pace(
            self.concurrency or usual.concurrency,
            self.first_token_timeout or usual.first_token_timeout,
            self.idle_timeout or usual.idle_timeout,
            self.answer_timeout or usual.answer_timeout,
        )

    @property
    def identity(self) -> str:
        """The part of the endpoint that results depend on: provider, address (without a login) and model, not time-outs
        or price."""
        return f"{self.provider}:{without_login(self.base_url)}:{self.model}"

    @property
    def is_local(self) -> bool:
        """True for a server on this machine, by the host of its address."""
        return is_loopback(self.base_url)

    @property
    def is_free(self) -> bool:
        """True for the embedded model, for prices of 0, and for a server on this machine without a price."""
        prices = self.price_in, self.price_out, self.price_cached, self.price_cache_write
        known = self.price_in is not None and self.price_out is not None
        return self.provider == "offline" or ((known or self.is_local) and not any(prices))

    @property
    def embeds_free(self) -> bool:
        """Like `is_free`, for vectors: they have a price of input only."""
        return self.provider == "offline" or (self.is_local if self.price_in is None else not self.price_in)

    def free_as(self, role: Role) -> bool:
        """True when the calls of this role cost nothing."""
        return self.embeds_free if role == "embedding" else self.is_free

    @property
    def address(self) -> str:
        """The address of calls: that of the settings, or the provider's default."""
        return self.base_url.strip() or DIALECTS[self.provider].address

    @property
    def write_price(self) -> Decimal | None:
        """The price of a million tokens written into the cache: as set, else a multiple of the price of input."""
        if self.price_cache_write is not None or self.price_in is None:
            return self.price_cache_write
        return self.price_in * DIALECTS[self.provider].cache_write

    @property
    def limiter(self) -> str:
        """The key of the concurrency limit, which calls to the same provider share."""
        return f"{self.provider}:{self.base_url}"


def sent_parameters(endpoint: Endpoint, request: ModelRequest) -> tuple[tuple[str, Any], ...]:
    """The parameters of a request, completed by those of the endpoint."""
    given = {name for name, _value in request.parameters}
    return (*(each for each in endpoint.sampling if each[0] not in given), *request.parameters)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A paid call that is not booked yet. `endpoint` holds the prices; `estimated` are the tokens sent.

    `attempt` is the attempt of a node, whose text had `before` characters when the call began; 0: the call does not
    stream into a node.
    """

    role: Role
    purpose: str
    endpoint: Endpoint
    estimated: int
    run: str = ""
    attempt: int = 0
    before: int = 0
