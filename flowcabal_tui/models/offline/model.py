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
    Message,
    ModelEvent,
    ModelRequest,
    TextDelta,
    Usage,
)
from flowcabal_tui.locale import _
from flowcabal_tui.models.collect import collect, went_out
from flowcabal_tui.models.offline.answers import ANSWERS, COUNTER, inquiry
from flowcabal_tui.models.offline.asked import Asked
from flowcabal_tui.models.offline.reading import lines
from flowcabal_tui.models.offline.talk import is_talk, talk
from flowcabal_tui.models.offline.writing import WRITERS, alike, changed_paragraphs

T = TypeVar("T", bound=BaseModel)
MODEL_NAME: Final = "offline"
_PIECE: Final = re.compile(r"[\u2e80-\uffef]{1,4}|(?:[^\s\u2e80-\uffef]+\s*){1,3}|\s+")


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
        _went_out(request)
        whole, calls = talk(request) if is_talk(request) else (_rest(request), ())
        text, finish = _limited(whole, request.max_tokens)
        for piece in _PIECE.findall(text):
            await asyncio.sleep(self._pace)
            yield TextDelta(piece)
        yield Finished("tool" if calls else finish, _usage(request, text), MODEL_NAME, calls)

    async def answer(self, request: ModelRequest) -> Answer:
        """The same at once; a conversation is heard while it is answered."""
        if is_talk(request):
            return await collect(self, request)
        _went_out(request)
        text, finish = _limited(_rest(request), request.max_tokens)
        await asyncio.sleep(0)
        return Answer(text, finish, _usage(request, text), MODEL_NAME)

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


def _went_out(request: ModelRequest) -> None:
    """Nothing leaves the program, but what is asked can be read as it can of other models."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    went_out({"model": MODEL_NAME, "messages": messages})


def _rest(request: ModelRequest) -> str:
    """The whole answer, or what of it follows the text of a node that is to be continued."""
    *before, said, _wish = (Message("user", ""), *request.messages)
    if request.purpose.partition(":")[0] != "node" or said.role != "assistant" or Asked.of(request).is_retry:
        return compose(request)
    whole = compose(replace(request, messages=tuple(before[1:])))
    return whole[len(said.content) :] if whole.startswith(said.content) else whole


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
    return alike(asked) if asked.part("candidates") else _plainly(asked)


def _plainly(asked: Asked) -> str:
    """For a prompt of the writer's own: says what it is, and what it was asked."""
    words = asked.request.messages[-1].content if asked.request.messages else ""
    wish = [line.text for line in lines(words, (), asked.chinese) if not line.text.startswith(("<", "#"))]
    return asked.words.said["offline"] + "\n" + "\n".join(wish[:3])


def _nothing(shape: type[BaseModel]) -> dict[str, Any]:
    """The required values of a shape, empty where they are texts and lists; null where they state anything."""
    schema = shape.model_json_schema()
    empty = {"string": "", "array": [], "object": {}}
    fields = {key: schema.get("properties", {}).get(key, {}) for key in schema.get("required", ())}
    return {key: empty.get(each.get("type", "")) for key, each in fields.items()}


def _limited(text: str, max_tokens: int | None) -> tuple[str, Finish]:
    if max_tokens is None or COUNTER.count(text) <= max_tokens:
        return text, "stop"
    return COUNTER.truncate(text, max_tokens), "length"


def _usage(request: ModelRequest, text: str) -> Usage:
    asked = sum(COUNTER.count(message.content) for message in request.messages)
    return Usage(input_tokens=asked, output_tokens=COUNTER.count(text), cached_tokens=0)
