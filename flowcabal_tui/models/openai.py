"""OpenAI-compatible chat: OpenAI, DeepSeek, Qwen, Kimi, GLM, OpenRouter, Ollama, LM Studio and others."""

from __future__ import annotations

import json
import random
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from flowcabal_tui.domain.endpoints import Endpoint, sent_parameters
from flowcabal_tui.domain.model_calls import Finish, Message, ModelRequest, Usage
from flowcabal_tui.models.collect import arrived_of_tool
from flowcabal_tui.models.failures import Failures
from flowcabal_tui.models.http_model import HttpModel, Sleep
from flowcabal_tui.models.reply import PartialCall, Reply, count_of, text_of
from flowcabal_tui.models.transport import Transport
from flowcabal_tui.models.windows import LOCAL_PATHS, listed_window

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_FINISHES: Final[dict[str, Finish]] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool",
    "function_call": "tool",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
}
WINDOW_SECONDS: Final = 3.0
_BROKEN_OFF: Final = frozenset({"insufficient_system_resource", "network_error", "error"})


class InlineThoughts:
    """Parts `<think>...</think>` at the very beginning of a streamed answer from its text.

    Local servers without a parser for the model's thinking leave it there. Elsewhere the words stay as they are.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._part: Literal["before", "thinking", "gap", "text"] = "before"

    def feed(self, piece: str) -> tuple[str, str]:
        """The (text, thinking) that is certain after `piece`."""
        thought = ""
        if self._part == "before":
            piece = self._begin(piece)
        if self._part == "thinking":
            thought, closed, rest = (self._pending + piece).partition(_CLOSE)
            if not closed:
                return "", self._without_tail(thought)
            self._part, piece = "gap", rest
        if self._part == "gap" and (piece := piece.lstrip("\n")):
            self._part = "text"
        return piece, thought

    def _begin(self, piece: str) -> str:
        """Decides whether the answer begins with thoughts. Returns the text that is left to read."""
        piece, self._pending = self._pending + piece, ""
        begun = piece.lstrip()
        if begun.startswith(_OPEN):
            self._part = "thinking"
            return begun.removeprefix(_OPEN)
        if _OPEN.startswith(begun):  # too short to decide; also "" before the first letter
            self._pending = piece
            return ""
        self._part = "text"
        return piece

    def _without_tail(self, thought: str) -> str:
        """Holds back a possible beginning of the closing mark."""
        size = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:size])), 0)
        self._pending = thought[len(thought) - size :]
        return thought[: len(thought) - size]


def base_url(endpoint: Endpoint) -> str:
    """The address up to and without the path of a call."""
    url = endpoint.address.rstrip("/")
    return url.removesuffix("/chat/completions").removesuffix("/embeddings")


def headers(key: str | None) -> dict[str, str]:
    """The headers of a call; local servers need no key."""
    return {"authorization": f"Bearer {key}"} if key else {}


class OpenAIModel(HttpModel):
    """A ModelPort for `POST {base_url}/chat/completions`."""

    path = "/chat/completions"

    def __init__(self, endpoint: Endpoint, key: str | None, rng: random.Random, sleep: Sleep) -> None:
        super().__init__(endpoint, Transport(endpoint, base_url(endpoint), headers(key), key), rng, sleep)
        # OpenAI's newer models refuse max_tokens; most others know nothing else.
        self._limit_name = (
            "max_completion_tokens" if urlsplit(base_url(endpoint)).hostname == "api.openai.com" else "max_tokens"
        )

    def body(self, request: ModelRequest) -> dict[str, Any]:
        endpoint = self.endpoint
        body: dict[str, Any] = dict(sent_parameters(endpoint, request))
        body |= {
            "model": endpoint.model,
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        limit = endpoint.answer_limit(request.max_tokens)
        if limit is not None:
            body[self._limit_name] = limit
        temperature = request.temperature if request.temperature is not None else endpoint.temperature
        if temperature is not None:
            body["temperature"] = temperature
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
                }
                for tool in request.tools
            ]
        if request.tool_choice in ("required", "none"):
            body["tool_choice"] = request.tool_choice
        elif request.tool_choice:
            body["tool_choice"] = {"type": "function", "function": {"name": request.tool_choice}}
        if request.json_schema is not None:
            schema = {"name": "answer", "schema": request.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def reader(self) -> OpenAIReader:
        return OpenAIReader(self._transport.failures)

    async def window(self) -> int | None:
        """The window in tokens that the server reports; None if it reports none. Sends at most four requests."""
        name = self.endpoint.model
        found = listed_window(await self._transport.get("/models", WINDOW_SECONDS), name)
        if found is None and self.endpoint.is_local:
            for path in LOCAL_PATHS:
                found = found or listed_window(await self._transport.get(path, WINDOW_SECONDS, root=True), name)
        return found


MODEL: Final = OpenAIModel


class OpenAIReader:
    """Reads chat.completion chunks, or one whole chat.completion of a server that does not stream."""

    def __init__(self, failures: Failures) -> None:
        self.reply = Reply()
        self._failures = failures
        self._thoughts = InlineThoughts()

    def read(self, name: str, payload: str) -> tuple[str, str] | None:
        if payload.strip() == "[DONE]":
            self.reply.ended = True
            return "", ""
        chunk = json.loads(payload)
        if name == "error" or chunk.get("error"):
            raise self._failures.from_event(chunk)
        if not self.reply.model:
            self.reply.model = text_of(chunk.get("model"))
        if chunk.get("usage"):
            self.reply.usage = _usage(chunk["usage"])
        choices = chunk.get("choices")
        if not choices:
            return "", ""
        return self._choice(choices[0])

    def _choice(self, choice: dict[str, Any]) -> tuple[str, str]:
        delta = choice.get("delta") or choice.get("message") or {}
        if choice.get("usage"):  # Kimi puts it here
            self.reply.usage = _usage(choice["usage"])
        for call in delta.get("tool_calls") or ():
            self._call(call)
        finish = choice.get("finish_reason")
        if finish in _BROKEN_OFF:
            raise self._failures.from_event({"error": {"type": "overloaded", "message": finish}})
        if finish:
            self.reply.finish = _FINISHES.get(finish, "stop")
        text, thought = self._thoughts.feed(text_of(delta.get("content")))
        return text, thought + text_of(delta.get("reasoning_content") or delta.get("reasoning"))

    def _call(self, call: dict[str, Any]) -> None:
        index = call.get("index")
        known = self.reply.calls.setdefault(index if isinstance(index, int) else len(self.reply.calls), PartialCall())
        known.id = known.id or text_of(call.get("id"))
        function = call.get("function") or {}
        known.name = known.name or text_of(function.get("name"))
        known.arguments.append(piece := text_of(function.get("arguments")))
        arrived_of_tool(piece)


def _message(message: Message) -> dict[str, Any]:
    match message.role:
        case "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
        case "assistant" if message.tool_calls:
            turn: dict[str, Any] = {
                "role": "assistant",
                "content": message.content or None,
                "tool_calls": [
                    {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                    for call in message.tool_calls
                ],
            }
            if message.thinking:  # DeepSeek and Kimi want it back within a tool turn
                turn["reasoning_content"] = message.thinking
            return turn
        case role:
            return {"role": role, "content": message.content}


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    cached = count_of(details.get("cached_tokens"))
    if cached is None:
        cached = count_of(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    return Usage(count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens")), cached)
