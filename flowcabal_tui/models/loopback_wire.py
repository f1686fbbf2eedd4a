"""Reads and writes OpenAI's JSON for the loopback endpoint."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any, Final, Literal

from flowcabal_tui.domain.model_calls import Answer, Finished, Message, ModelEvent, ModelRequest, TextDelta, Usage

INPUT_LIMIT: Final = 2048
_ROLES: Final[dict[str, Literal["system", "user", "assistant"]]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_FINISHES: Final = {"tool": "tool_calls"}


class BadRequest(Exception):
    """An error of the client; the client receives the text."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def error_body(words: str, kind: str) -> bytes:
    return _json({"error": {"message": words, "type": kind, "param": None, "code": kind}})


def embedding_texts(body: dict[str, Any], dimensions: int) -> list[str]:
    """The texts of an embeddings request. Raises BadRequest."""
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadRequest(400, "input must be a text or a list of texts")
    if len(texts) > INPUT_LIMIT:
        raise BadRequest(400, f"at most {INPUT_LIMIT} texts a request")
    if body.get("dimensions") not in (None, dimensions):
        raise BadRequest(400, f"this embedder has {dimensions} dimensions")
    if body.get("encoding_format") not in (None, "float", "base64"):
        raise BadRequest(400, "encoding_format must be float or base64")
    return texts


def embedding_answer(vectors: list[list[float]], model: str, *, base64: bool) -> bytes:
    rows = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if base64 else vector}
        for index, vector in enumerate(vectors)
    ]
    return _json({"object": "list", "model": model, "data": rows, "usage": {"prompt_tokens": 0, "total_tokens": 0}})


def chat_request(body: dict[str, Any]) -> ModelRequest:
    """The request in a chat completion body. Raises BadRequest."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest(400, "messages must be a list")
    if body.get("tools"):
        raise BadRequest(400, "tools are not supported")
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise BadRequest(400, "max_tokens must be a positive number")
    temperature = body.get("temperature")
    if temperature is not None and not isinstance(temperature, int | float):
        raise BadRequest(400, "temperature must be a number")
    return ModelRequest(
        tuple(_message(message) for message in messages),
        purpose="knowledge",
        max_tokens=limit,
        temperature=temperature,
        json_schema=_schema(body.get("response_format")),
    )


def chat_answer(answer: Answer, model: str) -> bytes:
    message = {"role": "assistant", "content": answer.text}
    choice = {"index": 0, "message": message, "finish_reason": _FINISHES.get(answer.finish, answer.finish)}
    return _json({**_frame("chat.completion", answer.model or model), "choices": [choice], **_usage(answer.usage)})


def chat_event(event: ModelEvent, model: str) -> bytes:
    """One event of a streamed answer; an event without text becomes a comment, as a sign of life."""
    frame = _frame("chat.completion.chunk", model)
    match event:
        case TextDelta(text):
            choice: dict[str, Any] = {"index": 0, "delta": {"content": text}, "finish_reason": None}
            return b"data: " + _json({**frame, "choices": [choice]}) + b"\n\n"
        case Finished(finish=finish, usage=usage):
            choice = {"index": 0, "delta": {}, "finish_reason": _FINISHES.get(finish, finish)}
            return b"data: " + _json({**frame, "choices": [choice], **_usage(usage)}) + b"\n\n"
    return b": waiting\n\n"


def _message(message: Any) -> Message:
    role = _ROLES.get(str(message.get("role"))) if isinstance(message, dict) else None
    if role is None:
        raise BadRequest(400, "a message needs a role: system, user or assistant")
    content = message.get("content") or ""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        raise BadRequest(400, "content must be text")
    return Message(role, content)


def _schema(form: Any) -> dict[str, Any] | None:
    if not isinstance(form, dict) or not isinstance(form.get("json_schema"), dict):
        return None
    schema = form["json_schema"].get("schema")
    return schema if isinstance(schema, dict) else None


def _frame(kind: str, model: str) -> dict[str, Any]:
    return {"id": "flowcabal", "object": kind, "created": 0, "model": model}


def _usage(usage: Usage) -> dict[str, Any]:
    if usage.input_tokens is None or usage.output_tokens is None:
        return {}
    total = usage.input_tokens + usage.output_tokens
    counts = {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}
    return {"usage": counts}


def _packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
