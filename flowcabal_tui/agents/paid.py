"""Stores paid answers, so that the same request is never sent twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from flowcabal_tui.domain.answer_schema import answer_schema
from flowcabal_tui.domain.codec import from_json, to_json
from flowcabal_tui.domain.endpoints import Endpoint, sent_parameters
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Answer, ModelRequest, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.value_class import dataclass

T = TypeVar("T", bound=BaseModel)


class AnswerStore(Protocol):
    """Stores paid answers. `text` is opaque to the store: an `Answer` as JSON."""

    async def get(self, key: Digest) -> str | None: ...

    async def put(self, key: Digest, text: str, model: str, usage: Usage) -> None: ...


@dataclass(frozen=True, slots=True)
class Only(Generic[T]):
    """The only answer to a question; `value` is None where it cannot be read."""

    value: T | None


@dataclass
class _Call:
    """A call in progress and the number of callers that wait for it."""

    task: asyncio.Task[Answer]
    waiting: int = 0


class PaidOnce:
    """A model whose answers are stored under the digest of endpoint, parameters, messages and shape.

    An answer that is only partly readable is used, and the next time only its unread parts are asked for. Equal
    requests at the same time share one call; it is cancelled when nobody waits for it any more.
    """

    def __init__(self, model: ModelPort, answers: AnswerStore) -> None:
        self._model, self._answers = model, answers
        self._under_way: dict[Digest, _Call] = {}

    @property
    def endpoint(self) -> Endpoint:
        return self._model.endpoint

    async def answer(self, request: ModelRequest) -> Answer:
        """The whole answer; `cached` is True if it was stored. Raises ModelError."""
        key = self._key(request, None)
        return await self._stored(key) or await self._shared(key, lambda: self._model.answer(request))

    async def stored_answer(self, request: ModelRequest) -> Answer | None:
        """The stored answer; None if it was not paid for. Spends nothing."""
        return await self._stored(self._key(request, None))

    async def structured(self, request: ModelRequest, shape: type[T], sample: int = 0) -> T:
        """A validated instance of `shape`; `sample` is the number of the further answer. Raises ModelError."""

        key = self._key(request, shape, sample)

        async def ask() -> Answer:
            *_earlier, in_part = "", *[answer.text async for answer in self._in_part(key)]
            value, answer = await self._model.structured(replace(request, earlier=in_part), shape)
            return replace(answer, text=value.model_dump_json())  # with the names of unread parts

        if (stored := await self.stored(request, shape, sample)) is not None:
            return stored
        return shape.model_validate_json((await self._shared(key, ask)).text)

    async def stored(self, request: ModelRequest, shape: type[T], sample: int = 0) -> T | None:
        """Like `structured`, but only from stored answers; None if it was not paid for. Spends nothing."""
        if answer := await self._stored(self._key(request, shape, sample)):
            with contextlib.suppress(ValidationError):  # the shape was changed without a change of its schema
                return shape.model_validate_json(answer.text)
        return None

    async def once(
        self, request: ModelRequest, shape: type[T], about: Sequence[str], *, spend: bool = True
    ) -> Only[T] | None:
        """Asks a question once for the same texts (`about`), even if the rest of the request changes.

        An answer that cannot be read, or only in part, is stored too. Returns None when there is no stored answer and
        `spend` is False. Raises ModelError when there was no answer.
        """
        schema = answer_schema(shape)
        key = digest_of({"endpoint": self.endpoint.identity, "only": request.purpose, "about": about, "shape": schema})

        async def ask() -> Answer:
            try:
                value, answer = await self._model.structured(request, shape)
            except ModelError as error:
                if error.fault is not ModelFault.SCHEMA:
                    raise
                return Answer("", "stop", error.usage or Usage(), self.endpoint.model)
            return replace(answer, text=value.model_dump_json(), whole=True)

        answer = await self._stored(key)
        if answer is None and not spend:
            return None
        text = (answer or await self._shared(key, ask)).text
        try:
            return Only(shape.model_validate_json(text))
        except ValidationError:
            return Only(None)

    def _key(self, request: ModelRequest, shape: type[BaseModel] | None, sample: int = 0) -> Digest:
        calls = [[call.name, call.arguments] for message in request.messages for call in message.tool_calls]
        tools = [tool.name for tool in request.tools] if shape is None else []
        return digest_of(
            ({"sample": sample} if sample else {})
            | ({"tools": tools, "calls": calls} if tools or calls else {})
            | {
                "endpoint": self.endpoint.identity,
                "temperature": request.temperature if request.temperature is not None else self.endpoint.temperature,
                "max_tokens": request.max_tokens if request.max_tokens is not None else self.endpoint.max_output,
                "parameters": [[name, value] for name, value in sent_parameters(self.endpoint, request)],
                "messages": [[message.role, message.content] for message in request.messages],
                "shape": answer_schema(shape) if shape else request.json_schema,
            }
        )

    async def _stored(self, key: Digest) -> Answer | None:
        text = await self._answers.get(key)
        return replace(from_json(Answer, text), cached=True) if text is not None else None

    async def _in_part(self, key: Digest) -> AsyncIterator[Answer]:
        """The answers to a question that was only partly readable; each completes the one before."""
        number = 0
        while (answer := await self._stored(digest_of([key, "in part", number]))) is not None:
            yield answer
            number += 1

    async def _shared(self, key: Digest, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        call = self._under_way.get(key)
        if call is None:
            call = self._under_way[key] = _Call(asyncio.create_task(self._pay(key, ask)))
            call.task.add_done_callback(partial(self._ended, key))
        call.waiting += 1
        try:
            return await asyncio.shield(call.task)
        except asyncio.CancelledError:
            if call.waiting == 1 and not call.task.done():
                self._ended(key, call.task)
                call.task.cancel()
                await asyncio.wait([call.task])
            raise
        finally:
            call.waiting -= 1

    def _ended(self, key: Digest, task: asyncio.Task[Answer]) -> None:
        """Removes a call that has ended, unless another call has replaced it."""
        if (known := self._under_way.get(key)) is not None and known.task is task:
            del self._under_way[key]

    async def _pay(self, key: Digest, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        answer = await ask()
        text = to_json(replace(answer, thinking="", signature=""))
        if not answer.whole:
            key = digest_of([key, "in part", len([each async for each in self._in_part(key)])])
        await asyncio.shield(self._answers.put(key, text, answer.model, answer.usage))  # a paid answer is stored
        return answer
