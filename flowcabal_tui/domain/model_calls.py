"""Requests to models and their answers, for all providers."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal

from flowcabal_tui.domain.value_class import dataclass

Role = Literal["user", "agent", "embedding"]
ROLES: tuple[Role, ...] = ("user", "agent", "embedding")
Finish = Literal["stop", "length", "time", "tool", "content_filter"]
"""The reason for the end of an answer. `time`: this program stopped it at the endpoint's `answer_timeout`."""
CUT: Final[frozenset[Finish]] = frozenset({"length", "time"})
"""The ends after which a text may be incomplete."""
StructuredMode = Literal["tool", "native", "prompted"]


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

    `parameters` are provider parameters that change the text (top_p, seed, ...). `earlier` is an answer in a fixed
    shape, with the names of its unread parts, of which only these are asked for again.
    """

    messages: tuple[Message, ...]
    purpose: str = "node"
    max_tokens: int | None = None
    temperature: float | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: str = ""
    json_schema: dict[str, Any] | None = None
    earlier: str = ""


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
class SentRequest:
    """A request as sent: `body` is its JSON, without key and headers. `attempt` is that of a node, or 0."""

    role: Role
    model: str
    purpose: str
    run: str
    attempt: int
    body: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The result of `doctor` for one role, from one small call."""

    role: Role
    ok: bool
    message: str
    seconds: float = 0.0
    details: tuple[tuple[str, str], ...] = field(default=())
    advice: str = ""
    """The remedy for a call that was not made because the user has not confirmed it."""
