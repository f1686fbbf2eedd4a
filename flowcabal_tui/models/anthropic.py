"""Anthropic's messages."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any, Final

from flowcabal_tui.domain.endpoints import Endpoint, sent_parameters
from flowcabal_tui.domain.model_calls import Finish, Message, ModelRequest, Usage
from flowcabal_tui.models.collect import arrived_of_tool
from flowcabal_tui.models.failures import Failures
from flowcabal_tui.models.http_model import HttpModel, Sleep
from flowcabal_tui.models.reply import PartialCall, Reply, count_of, text_of
from flowcabal_tui.models.transport import Transport

VERSION: Final = "2023-06-01"
MAX_TOKENS: Final = 8192
"""The protocol requires a limit; this one is sent when neither the request nor the endpoint sets one."""
_NAMES: Final = {"stop": "stop_sequences"}
_UNKNOWN_HERE: Final = ("frequency_penalty", "presence_penalty", "seed")
"""Parameters of sampling that this form does not have; a request with one would be refused."""
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
_MOST_ENDS: Final = 3
"""The protocol allows four cache breakpoints; one of them ends the system text (its documentation, "Prompt
caching")."""
_FINISHES: Final[dict[str, Finish]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool",
    "refusal": "content_filter",
}


def base_url(endpoint: Endpoint) -> str:
    """The address up to and without `/v1/messages`."""
    url = endpoint.address.rstrip("/")
    return url.removesuffix("/messages").removesuffix("/v1")


class AnthropicModel(HttpModel):
    """A ModelPort for `POST {base_url}/v1/messages`."""

    path = "/v1/messages"

    def __init__(self, endpoint: Endpoint, key: str | None, rng: random.Random, sleep: Sleep) -> None:
        headers = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        super().__init__(endpoint, Transport(endpoint, base_url(endpoint), headers, key), rng, sleep)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        endpoint = self.endpoint
        limit = endpoint.answer_limit(request.max_tokens)
        body: dict[str, Any] = {
            _NAMES.get(name, name): value
            for name, value in sent_parameters(endpoint, request)
            if name not in _UNKNOWN_HERE
        }
        body |= {
            "model": endpoint.model,
            "messages": _turns(request.messages),
            "max_tokens": limit if limit is not None else MAX_TOKENS,
            "stream": True,
        }
        if system := "\n\n".join(each.content for each in request.messages if each.role == "system" and each.content):
            body["system"] = [{"type": "text", "text": system, **_CACHED}]
        temperature = request.temperature if request.temperature is not None else endpoint.temperature
        if temperature is not None:
            body["temperature"] = min(temperature, 1.0)
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
        if request.tool_choice:
            kinds = {"required": {"type": "any"}, "none": {"type": "none"}}
            body["tool_choice"] = kinds.get(request.tool_choice, {"type": "tool", "name": request.tool_choice})
        if request.json_schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": _supported(request.json_schema)}}
        return body

    def reader(self) -> AnthropicReader:
        return AnthropicReader(self._transport.failures)


MODEL: Final = AnthropicModel


class AnthropicReader:
    """Reads the events of one message."""

    def __init__(self, failures: Failures) -> None:
        self.reply = Reply()
        self._failures = failures
        self._usage: dict[str, Any] = {}

    def read(self, name: str, payload: str) -> tuple[str, str] | None:
        event = json.loads(payload)
        match event["type"]:
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "content_block_start" if event["content_block"]["type"] == "tool_use":
                block = event["content_block"]
                self.reply.calls[event["index"]] = PartialCall(text_of(block["id"]), text_of(block["name"]))
            case "message_start":
                self.reply.model = text_of(event["message"].get("model"))
                self._count(event["message"].get("usage"), started=True)
            case "message_delta":
                if reason := event["delta"].get("stop_reason"):
                    self.reply.finish = _FINISHES.get(reason, "stop")
                self._count(event.get("usage"), started=False)
            case "message_stop":
                self.reply.ended = True
            case "error":
                raise self._failures.from_event(event)
            case "ping":
                return None
        return "", ""

    def _delta(self, index: int, delta: dict[str, Any]) -> tuple[str, str]:
        match delta["type"]:
            case "text_delta":
                return text_of(delta["text"]), ""
            case "thinking_delta":
                return "", text_of(delta["thinking"])
            case "signature_delta":
                self.reply.signature += text_of(delta["signature"])
            case "input_json_delta":
                self.reply.calls[index].arguments.append(piece := text_of(delta["partial_json"]))
                arrived_of_tool(piece)
        return "", ""

    def _count(self, usage: dict[str, Any] | None, *, started: bool) -> None:
        """Adds the cached input, which Anthropic counts separately. The first output count is not the total."""
        for name, value in (usage or {}).items():
            if count_of(value) is not None and not (started and name == "output_tokens"):
                self._usage[name] = value
        fresh, written, read = (
            self._usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        whole = None if fresh is None else fresh + (written or 0) + (read or 0)
        self.reply.usage = Usage(whole, self._usage.get("output_tokens"), read, written)


_REFUSED: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "minItems", "maxItems", "uniqueItems"}
)
"""Keywords that the structured outputs of this provider refuse (its documentation, "JSON Schema limitations")."""


def _supported(schema: Any) -> Any:
    """The schema without keywords that are refused; properties may have such names."""
    if isinstance(schema, list):
        return [_supported(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: _supported(each) for key, each in part.items()} if name == "properties" else _supported(part)
        for name, part in schema.items()
        if name not in _REFUSED
    }


def _turns(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """User and assistant turns; answers to parallel tool calls share one turn."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if blocks := _blocks(message):
            if turns and turns[-1]["role"] == role:
                turns[-1]["content"] += blocks
            else:
                turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}]
    blocks: list[dict[str, Any]] = []
    if message.signature:
        blocks.append({"type": "thinking", "thinking": message.thinking, "signature": message.signature})
    if message.content.strip():  # the protocol refuses blank text
        blocks += _texts(message)
    for call in message.tool_calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)})
    return blocks


def _texts(message: Message) -> list[dict[str, Any]]:
    """The text in blocks: each prefix that other requests share ends a block, which is marked for the cache."""
    ends = [at for at in sorted(set(message.stable)) if 0 < at < len(message.content)][-_MOST_ENDS:]
    pieces = [message.content[start:end] for start, end in pairwise((0, *ends, len(message.content)))]
    marks = [_CACHED if number < len(ends) else {} for number in range(len(pieces))]
    blocks = zip(pieces, marks, strict=True)
    return [{"type": "text", "text": piece, **mark} for piece, mark in blocks if piece.strip()]


def _input(arguments: str) -> dict[str, Any]:
    """The arguments as the object that the protocol requires; invalid ones were already answered with an error."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
