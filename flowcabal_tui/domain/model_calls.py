"""Requests to models and their answers, for all providers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from flowcabal_tui.domain.addresses import is_loopback
from flowcabal_tui.domain.providers import DIALECTS, Provider
from flowcabal_tui.domain.sampling import FrequencyPenalty, PresencePenalty, Sampled, Seed, Stop, TopP
from flowcabal_tui.domain.text import without_login
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _

Role = Literal["user", "agent", "embedding"]
ROLES: tuple[Role, ...] = ("user", "agent", "embedding")
Finish = Literal["stop", "length", "tool", "content_filter"]
StructuredMode = Literal["tool", "native", "prompted"]
T = TypeVar("T", bound=BaseModel)


class Pace(NamedTuple):
    """Concurrent calls of an endpoint, and its time-outs in seconds."""

    concurrency: int
    first_token_timeout: float
    idle_timeout: float


_PACE: Final = Pace(4, 120.0, 60.0)
_LOCAL_PACE: Final = Pace(1, 1_800.0, 300.0)
"""A local server handles one request at a time, and may first have to load the model and read a long prompt."""


class Endpoint(Sampled):
    """The endpoint of a role's model, as in a settings file. It holds the name of the key, never the key.

    Prices are per million tokens; None means unknown, never 0, but input that was read from or written into the
    provider's cache then costs what other input costs (`write_price`). Times in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    provider: Provider = Field("openai", description="What the endpoint speaks; openai: any that is compatible.")
    model: str = Field(min_length=1, description="Name of the model, as its provider writes it.")
    base_url: str = Field("", description="Address of the endpoint, with /v1 where it has one; empty: the provider's.")
    api_key_env: str = Field("", description="Name of the environment variable that holds the key.")
    secret: str = Field("", description="Name of the entry in the secrets file that holds the key.")
    context_window: int | None = Field(None, ge=1, description="Tokens that a prompt and its answer may have.")
    max_output: int | None = Field(None, ge=1, description="Tokens that one answer may have.")
    temperature: float | None = Field(None, ge=0, le=2, description="For nodes that set none; unset: the provider's.")
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
    structured: StructuredMode | None = Field(None, description="How answers in a fixed shape are asked for.")
    first_token_timeout: float | None = Field(
        None, gt=0, description="Seconds until the first sign of an answer; unset: 120, on this machine 1800."
    )
    idle_timeout: float | None = Field(
        None, gt=0, description="Seconds of silence within an answer; unset: 60, on this machine 300."
    )
    max_wait: float = Field(60, ge=0, description="Seconds that a busy endpoint may ask us to wait.")
    retries: int = Field(3, ge=0, le=10, description="Tries after a failed one, while no text has arrived.")
    dimensions: int = Field(1024, ge=8, le=8192, description="Numbers in a vector, of an embedding model.")

    @model_validator(mode="before")
    @classmethod
    def _no_key(cls, values: object) -> object:
        if isinstance(values, dict) and (found := {"api_key", "key", "token", "password"} & set(values)):
            words = _(
                "{keys}: a key does not belong in the project's file; name an environment variable with "
                "api_key_env, or an entry of the user's secrets file with secret"
            )
            raise ValueError(words.format(keys=", ".join(sorted(found))))
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


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the model requests; `arguments` is its raw JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `signature` is Anthropic's thinking signature, which tool turns must send back.

    `stable` are offsets in `content` where a prefix ends that other requests share, for prompt caches.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    thinking: str = ""
    signature: str = ""
    stable: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function offered to the model; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `purpose` is for accounting ("node", "monitor.check", "curator.l0", ...).

    `parameters` are provider parameters that change the text (top_p, seed, ...).
    """

    messages: tuple[Message, ...]
    purpose: str = "node"
    max_tokens: int | None = None
    temperature: float | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: str = ""
    json_schema: dict[str, Any] | None = None


def sent_parameters(endpoint: Endpoint, request: ModelRequest) -> tuple[tuple[str, Any], ...]:
    """The parameters of a request, completed by those of the endpoint."""
    given = {name for name, _value in request.parameters}
    return (*(each for each in endpoint.sampling if each[0] not in given), *request.parameters)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as counted by the provider; None where it did not report them (never 0 for unknown).

    `cached_tokens` (read from the provider's prompt cache) and `written_tokens` (written into it) are parts of
    `input_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's reasoning, shown apart and never stored as text of the book."""

    text: str


@dataclass(frozen=True, slots=True)
class RetryWait:
    """Waits `seconds` before try number `attempt` (2 = the first repetition); can be cancelled.

    `spent` is the provider's count for the failed try, to be booked in addition to the answer's usage.
    """

    seconds: float
    reason: str
    attempt: int
    spent: Usage | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """The provider sent a sign of life before the first token."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The whole answer has arrived and was not cut off by the transport."""

    finish: Finish
    usage: Usage
    model: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    signature: str = ""


ModelEvent = TextDelta | ThinkingDelta | RetryWait | Queued | Finished


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer.

    `cached`: it was paid for earlier. `summed`: `usage` covers several tries or a repair, so it cannot calibrate
    estimates. `whole` is False for a structured answer with unreadable parts: it is not stored, so that a later
    question asks again.
    """

    text: str
    finish: Finish
    usage: Usage
    model: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    signature: str = ""
    cached: bool = False
    summed: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """One paid call, for the totals. `cost` is None when the price is unknown."""

    role: Role
    model: str
    purpose: str
    usage: Usage
    estimated_input: int
    cost: Decimal | None = None
    currency: str = "USD"
    run: str = ""
    node: str = ""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A paid call that is not booked yet. `endpoint` holds the prices; `estimated` are the tokens sent.

    `attempt` is that of a node, which continues a text of `before` characters; 0: no node streams it.
    """

    role: Role
    purpose: str
    endpoint: Endpoint
    estimated: int
    run: str = ""
    attempt: int = 0
    before: int = 0


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as sent: `body` is its JSON, without key and headers. `attempt` is that of a node, or 0."""

    role: Role
    model: str
    purpose: str
    run: str
    attempt: int
    body: str
    at: datetime


class StructuredAnswer(BaseModel):
    """A structured answer that may be partly unreadable.

    `unread` names the unreadable parts: a field, or an item such as `findings[2]`. It is not part of the schema.
    """

    unread: SkipJsonSchema[tuple[str, ...]] = ()


class ModelPort(Protocol):
    """A model of one role, as the runner and the agents see it."""

    @property
    def endpoint(self) -> Endpoint: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Streams one call; always used under `contextlib.aclosing`. Raises ModelError."""
        ...

    async def answer(self, request: ModelRequest) -> Answer:
        """Collects the answer of one call. Raises ModelError (with `partial`)."""
        ...

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """A validated instance of `shape`, with up to two repairs. Raises ModelError(SCHEMA, partial=raw text).

        A `StructuredAnswer` may come with `unread` parts.
        """
        ...


class EmbeddingPort(Protocol):
    """Turns texts into vectors; `identity` changes when vectors are no longer comparable."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]: ...


class TokenCounter(Protocol):
    """Estimates tokens, calibrated by what providers report."""

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The result of `doctor` for one role, from one small call."""

    role: Role
    ok: bool
    message: str
    seconds: float = 0.0
    details: tuple[tuple[str, str], ...] = field(default=())
