"""The offline model: deterministic, no network; every answer is computed from the prompt."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Answer, Finish, Finished, ModelEvent, ModelRequest, TextDelta, Usage
from flowcabal_tui.locale import _
from flowcabal_tui.models.collect import collect, went_out
from flowcabal_tui.models.offline import answers, writing
from flowcabal_tui.models.offline.answers import COUNTER
from flowcabal_tui.models.offline.parsed_request import LabelledRequest
from flowcabal_tui.models.offline.talk import is_talk, talk

T = TypeVar("T", bound=BaseModel)
MODEL_NAME: Final = "offline"
_PIECE: Final = re.compile(r"[\u2e80-\uffef]{1,4}|(?:[^\s\u2e80-\uffef]+\s*){1,3}|\s+")
_WISH: Final = re.compile(r"^[^\S\n]*([^<#\s].*)", re.M)
_TASKS: Final = {**writing.TASKS, "context.inquiry": answers.inquiry}


class OfflineModel:
    """Implements `ModelPort`. `pace` is the time between two pieces of a stream, in seconds."""

    def __init__(self, pace: float = 0.02) -> None:
        self._pace = pace
        self.endpoint: Final = Endpoint(provider="offline", model=MODEL_NAME)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Streams the answer in pieces of a few words or characters."""
        answer = _answered(request)
        for piece in _PIECE.findall(answer.text):
            await asyncio.sleep(self._pace)
            yield TextDelta(piece)
        yield Finished(answer.finish, answer.usage, MODEL_NAME, answer.tool_calls)

    async def answer(self, request: ModelRequest) -> Answer:
        """The whole answer at once; the answer of a conversation is streamed to its listener."""
        if is_talk(request):
            return await collect(self, request)
        await asyncio.sleep(0)
        return _answered(request)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """A validated `shape`.

        Raises ModelError(SCHEMA) if the shape requires a statement that this model cannot compute, and for a prompt of
        the user's own.
        """
        await asyncio.sleep(0)
        answer = _answered(request, shape if "." in request.purpose else None)
        try:
            return shape.model_validate_json(answer.text), answer
        except ValidationError as error:
            what = _("The offline model cannot do this."), _("It knows the tasks of the built-in prompts only.")
            then = _("Configure a model, or go back to the built-in prompt.")
            raise ModelError(ModelFault.SCHEMA, *what, then, partial=answer.text) from error


def _answered(request: ModelRequest, shape: type[BaseModel] | None = None) -> Answer:
    """The whole answer. Nothing leaves the program, but the request is recorded as for other models."""
    went_out({"model": MODEL_NAME, "messages": [{"role": m.role, "content": m.content} for m in request.messages]})
    text, calls = talk(request) if is_talk(request) else (compose(request, shape), ())
    short = text if request.max_tokens is None else COUNTER.truncate(text, request.max_tokens)
    usage = Usage(sum(COUNTER.count(message.content) for message in request.messages), COUNTER.count(short), 0)
    finish: Finish = "tool" if calls else "stop" if short == text else "length"
    return Answer(short, finish, usage, MODEL_NAME, tool_calls=calls)


def compose(request: ModelRequest, shape: type[BaseModel] | None = None) -> str:
    """Prose for the tasks of nodes, JSON for a shape; for a text to continue, only the continuation."""
    parsed = LabelledRequest(request)
    if shape is not None:
        return json.dumps(answers.filled(shape, parsed), ensure_ascii=False)
    before = request.messages[:-1]
    if request.purpose.startswith("node") and before and before[-1].role == "assistant" and not parsed.feedback:
        return compose(replace(request, messages=before[:-1])).removeprefix(before[-1].content)
    if parsed.numbers and (mends := writing.changed_paragraphs(parsed)):
        return mends
    if parsed.task in _TASKS and (text := _TASKS[parsed.task](parsed)).strip():
        return text
    return "\n".join([parsed.words.phrases["offline"], *_WISH.findall(request.messages[-1].content)[:3]])
