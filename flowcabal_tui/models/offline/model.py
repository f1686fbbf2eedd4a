"""The offline model: deterministic, no network; every answer is computed from the prompt."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Final, TypeVar

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
from flowcabal_tui.models.collect import went_out
from flowcabal_tui.models.offline.agent_answers import ANSWERS, inquiry
from flowcabal_tui.models.offline.reading import sentences, token_estimate
from flowcabal_tui.models.offline.retries import changed, is_retry, told
from flowcabal_tui.models.offline.story_answers import story
from flowcabal_tui.models.offline.task import Task
from flowcabal_tui.models.offline.writing import WRITERS, mended

T = TypeVar("T", bound=BaseModel)
MODEL_NAME: Final = "offline"
_ANSWERS: Final = {**ANSWERS, "curator.story": story}
_PIECE: Final = re.compile(r"[\u2e80-\uffef]{1,4}|(?:[^\s\u2e80-\uffef]+\s*){1,3}|\s+")


class OfflineModel:
    """Implements `ModelPort`. `pace` is the time between two pieces of a stream, in seconds."""

    def __init__(self, pace: float = 0.02) -> None:
        self._pace = pace
        self._endpoint = Endpoint("offline", MODEL_NAME)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The answer in pieces of a few words or characters."""
        _went_out(request)
        text, finish = _limited(_rest(request), request.max_tokens)
        for piece in _PIECE.findall(text):
            await asyncio.sleep(self._pace)
            yield TextDelta(piece)
        yield Finished(finish, _usage(request, text), MODEL_NAME)

    async def answer(self, request: ModelRequest) -> Answer:
        """The same at once."""
        _went_out(request)
        text, finish = _limited(_rest(request), request.max_tokens)
        await asyncio.sleep(0)
        return Answer(text, finish, _usage(request, text), MODEL_NAME)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """A validated `shape`. Raises ModelError(SCHEMA) for a task that the offline model does not know."""
        answer = await self.answer(request)
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
    if request.purpose.partition(":")[0] != "node" or said.role != "assistant" or is_retry(request):
        return compose(request)
    whole = compose(replace(request, messages=tuple(before[1:])))
    return whole[len(said.content) :] if whole.startswith(said.content) else whole


def compose(request: ModelRequest) -> str:
    """The whole answer: prose for the tasks of nodes, JSON for those of agents."""
    retry = told(request)
    task = Task.of(retry.request)
    if retry.numbers and (mends := changed(retry.draft, mended(task, retry.draft), retry.numbers)):
        return mends
    if task.name in WRITERS and (text := WRITERS[task.name](task)).strip():
        return text
    if task.name in _ANSWERS:
        return json.dumps(_ANSWERS[task.name](task), ensure_ascii=False)
    if task.name == "context.inquiry":
        return inquiry(task)
    return _plainly(task)


def _plainly(task: Task) -> str:
    """For a prompt of the writer's own: says what it is, and what it understood."""
    found = sentences(task.wish, task.chinese)
    asked = [s.text for s in found if not s.text.startswith(("<", "#"))][:3]
    if task.chinese:
        return "这里是离线模型，没有联网，也不会写作；配置模型之后才能处理自己的提示。收到的要求是：\n" + "\n".join(
            asked
        )
    return (
        "This is the offline model: it has no network and cannot write freely. Configure a model for prompts of your "
        "own. What it was asked:\n" + "\n".join(asked)
    )


def _limited(text: str, max_tokens: int | None) -> tuple[str, Finish]:
    if max_tokens is None or token_estimate(text) <= max_tokens:
        return text, "stop"
    while token_estimate(text) > max_tokens:
        text = text[: -max(1, token_estimate(text) - max_tokens)]
    return text, "length"


def _usage(request: ModelRequest, text: str) -> Usage:
    asked = sum(token_estimate(message.content) for message in request.messages)
    return Usage(input_tokens=asked, output_tokens=token_estimate(text), cached_tokens=0)
