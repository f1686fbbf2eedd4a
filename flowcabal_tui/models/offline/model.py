"""The offline model: deterministic, no network; every answer is computed from the prompt."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Answer,
    Endpoint,
    Finish,
    Finished,
    ModelEvent,
    ModelRequest,
    TextDelta,
    Usage,
)
from flowcabal_tui.locale import _
from flowcabal_tui.models.collect import collect, went_out
from flowcabal_tui.models.offline.answers import ANSWERS, COUNTER, inquiry
from flowcabal_tui.models.offline.asked import Asked
from flowcabal_tui.models.offline.talk import is_talk, talk
from flowcabal_tui.models.offline.writing import WRITERS, alike, changed_paragraphs

T = TypeVar("T", bound=BaseModel)
MODEL_NAME: Final = "offline"
_PIECE: Final = re.compile(r"[\u2e80-\uffef]{1,4}|(?:[^\s\u2e80-\uffef]+\s*){1,3}|\s+")
_MATERIAL: Final = re.compile(r"^[<#]")


class OfflineModel:
    """Implements `ModelPort`. `pace` is the time between two pieces of a stream, in seconds."""

    def __init__(self, pace: float = 0.02) -> None:
        self._pace = pace
        self._endpoint = Endpoint(provider="offline", model=MODEL_NAME)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The answer in pieces of a few words or characters."""
        answer = _answered(request)
        for piece in _PIECE.findall(answer.text):
            await asyncio.sleep(self._pace)
            yield TextDelta(piece)
        yield Finished(answer.finish, answer.usage, MODEL_NAME, answer.tool_calls)

    async def answer(self, request: ModelRequest) -> Answer:
        """The same at once; a conversation is heard while it is answered."""
        if is_talk(request):
            return await collect(self, request)
        await asyncio.sleep(0)
        return _answered(request)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """A validated `shape`: an empty one for an unknown question.

        Raises ModelError(SCHEMA) if the shape requires a statement, and for a prompt of one's own.
        """
        answer = await self.answer(request)
        if Asked.of(request).task not in ANSWERS and "." in request.purpose:
            answer = replace(answer, text=json.dumps(_nothing(shape)))
        try:
            return shape.model_validate_json(answer.text), answer
        except ValidationError as error:
            raise ModelError(
                ModelFault.SCHEMA,
                _("The offline model cannot do this."),
                _("It knows the tasks of the built-in prompts only."),
                _("Configure a model, or go back to the built-in prompt."),
                partial=answer.text,
            ) from error


def _answered(request: ModelRequest) -> Answer:
    """The whole answer. Nothing leaves the program, but what is asked can be read as it can of other models."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    went_out({"model": MODEL_NAME, "messages": messages})
    text, calls = talk(request) if is_talk(request) else (_rest(request), ())
    short = text if request.max_tokens is None else COUNTER.truncate(text, request.max_tokens)
    usage = Usage(sum(COUNTER.count(message.content) for message in request.messages), COUNTER.count(short), 0)
    finish: Finish = "tool" if calls else "stop" if short == text else "length"
    return Answer(short, finish, usage, MODEL_NAME, tool_calls=calls)


def _rest(request: ModelRequest) -> str:
    """The whole answer, or what of it follows the text of a node that is to be continued."""
    *before, _wish = request.messages
    if request.purpose.partition(":")[0] != "node" or not before or before[-1].role != "assistant":
        return compose(request)
    if Asked.of(request).feedback:
        return compose(request)
    return compose(replace(request, messages=tuple(before[:-1]))).removeprefix(before[-1].content)


def compose(request: ModelRequest) -> str:
    """The whole answer: prose for the tasks of nodes, JSON for those of agents."""
    asked = Asked.of(request)
    if asked.numbers and (mends := changed_paragraphs(asked)):
        return mends
    if asked.task in WRITERS and (text := WRITERS[asked.task](asked)).strip():
        return text
    if asked.task in ANSWERS:
        return json.dumps(ANSWERS[asked.task](asked), ensure_ascii=False)
    if asked.task == "context.inquiry":
        return inquiry(asked)
    if asked.part("candidates"):
        return alike(asked)
    words = request.messages[-1].content.splitlines() if request.messages else []
    wish = [line.strip() for line in words if line.strip() and not _MATERIAL.match(line)]
    return "\n".join([asked.words.said["offline"], *wish[:3]])


def _nothing(shape: type[BaseModel]) -> dict[str, Any]:
    """The required values of a shape, empty where they are texts and lists; null where they state anything."""
    schema = shape.model_json_schema()
    empty = {"string": "", "array": [], "object": {}}
    fields = {key: schema.get("properties", {}).get(key, {}) for key in schema.get("required", ())}
    return {key: empty.get(each.get("type", "")) for key, each in fields.items()}
