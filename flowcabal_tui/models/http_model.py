"""The common part of all models over HTTP: streaming, waits, partial text."""

from __future__ import annotations

import itertools
import json
import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Answer,
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    Queued,
    RetryWait,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from flowcabal_tui.domain.model_ports import T
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.models.backoff import Backoff
from flowcabal_tui.models.cleaning import StreamCleaner
from flowcabal_tui.models.collect import collect, went_out
from flowcabal_tui.models.ladder import Ladder
from flowcabal_tui.models.reply import ReplyReader
from flowcabal_tui.models.structured import structured
from flowcabal_tui.models.transport import Transport

END_SECONDS: Final = 0.5
"""Seconds for reading the connection after the end mark, so that it can be reused."""

Sleep = Callable[[float], Awaitable[None]]
Monotonic = Callable[[], float]
"""A clock that gives seconds, such as `time.monotonic`."""
MALFORMED: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class _Arrival:
    """One try: its cleaned text so far, and the time limits of the next byte and of the whole answer."""

    def __init__(self, endpoint: Endpoint, reader: ReplyReader, clock: Monotonic) -> None:
        self._pace, self._reader, self._clock = endpoint.pace, reader, clock
        self._text, self._thinking = StreamCleaner(), StreamCleaner()
        self.pieces: list[str] = []
        self.started = False
        self._since: float | None = None
        """The time at which the first bytes arrived, which may be only a sign of life."""
        self.at_limit = False
        """True when the time limit of the answer is reached before that of its next byte."""

    def patience(self) -> float:
        if self._reader.reply.ended:
            return END_SECONDS
        usual = self._pace.idle_timeout if self.started else self._pace.first_token_timeout
        left = self.seconds_left()
        self.at_limit = left < usual
        return max(0.0, min(usual, left))

    def seconds_left(self) -> float:
        """The seconds left for the answer; infinite until its first bytes arrive."""
        if self._since is None:
            return math.inf
        return self._pace.answer_timeout - (self._clock() - self._since)

    def sign(self) -> None:
        """Records the time of the first bytes; called whenever bytes arrive."""
        if self._since is None:
            self._since = self._clock()

    def take(self, text: str, thought: str) -> list[ModelEvent]:
        events = self._events(text and self._text.feed(text), thought and self._thinking.feed(thought))
        self.started = self.started or bool(events)
        return events

    def end(self) -> list[ModelEvent]:
        """The events for the text that the cleaners held back."""
        return self._events(self._text.end(), self._thinking.end())

    def _events(self, text: str, thought: str) -> list[ModelEvent]:
        events: list[ModelEvent] = [ThinkingDelta(thought)] if thought else []
        if text:
            self.pieces.append(text)
            events.append(TextDelta(text))
        return events

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def arguments(self) -> str:
        """The arguments of the first tool call so far; "" for none."""
        return next(("".join(call.arguments) for call in self._reader.reply.calls.values()), "")

    @property
    def spent(self) -> Usage | None:
        return self._reader.reply.spent


class HttpModel(ABC):
    """A ModelPort over HTTP. One client for all calls; `aclose` it when the model is no longer needed."""

    path: str

    def __init__(self, endpoint: Endpoint, transport: Transport, rng: random.Random, sleep: Sleep) -> None:
        self._endpoint, self._transport = endpoint, transport
        self.clock: Monotonic = time.monotonic
        """Measures the time of an answer."""
        self.on_learned: Callable[[], Awaitable[None]] | None = None
        """Called when a structured answer has changed what `ladder` knows."""
        self.on_refused: Callable[[int], Awaitable[None]] | None = None
        """Called with the window, in tokens, that the error of a prompt that is too long names."""
        self._backoff, self._sleep = Backoff(endpoint, rng), sleep
        self.ladder = Ladder(endpoint)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    @abstractmethod
    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body that asks for a stream."""

    @classmethod
    def sent_messages(cls, body: Mapping[str, Any]) -> tuple[Message, ...]:
        """The turns of a body that `body` made. Raises one of MALFORMED for a body of another dialect."""
        system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
        return tuple(Message(turn["role"], _words(turn.get("content"))) for turn in (*system, *body["messages"]))

    @abstractmethod
    def reader(self) -> ReplyReader:
        """A reader for one answer."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Streams one call; repeats it, with a `RetryWait`, as long as no text was shown. Raises ModelError."""
        for attempt in itertools.count(1):
            try:
                async with aclosing(self._once(request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                if error.window is not None and self.on_refused is not None:
                    await self.on_refused(error.window)
                seconds = self._backoff.seconds(error, attempt)
                if seconds is None:
                    if attempt > 1:
                        error.detail = sentences(error.detail, _("Tried {n} times.").format(n=attempt))
                    raise
                wait = RetryWait(seconds, error.title, attempt + 1, error.usage)
            yield wait
            await self._sleep(seconds)

    async def answer(self, request: ModelRequest) -> Answer:
        """Like `stream`, collected into an answer. Raises ModelError (with `partial`)."""
        return await collect(self, request)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """A validated instance of `shape`; the usage is that of all tries. Raises ModelError."""
        known = dict(self.ladder.known)
        try:
            return await structured(self, request, shape, self.ladder, self._transport.failures)
        finally:
            if self.on_learned is not None and self.ladder.known != known:
                await self.on_learned()

    async def window(self) -> int | None:
        """The window in tokens that the server reports; None if it reports none. Costs nothing."""
        return None

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def _once(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        reader = self.reader()
        arrival = _Arrival(self._endpoint, reader, self.clock)
        body = self.body(request)
        went_out(body)
        try:
            async with aclosing(self._transport.events(self.path, body, arrival.patience)) as batches:
                async for batch in batches:
                    arrival.sign()
                    events, failure = self._read(reader, arrival, batch)
                    for event in events:
                        yield event
                    if failure is not None:
                        raise failure
                    if arrival.seconds_left() <= 0 and not reader.reply.whole:
                        raise self._transport.late()
        except ModelError as error:
            if error.fault is ModelFault.STALLED and arrival.at_limit:
                error = self._transport.late()
            if not reader.reply.whole:
                raise self._keeping(error, arrival) from None
        for event in arrival.end():
            yield event
        yield self._finished(reader, arrival)

    def _read(
        self, reader: ReplyReader, arrival: _Arrival, batch: Sequence[tuple[str, str | None]]
    ) -> tuple[list[ModelEvent], ModelError | None]:
        """The events of a batch, its pieces of text joined, up to its end or to the failure in it."""
        texts: list[str] = []
        thought: list[str] = []
        alive, failure = False, None
        for name, payload in batch:
            try:
                pair = None if payload is None else reader.read(name, payload)
            except ModelError as error:
                failure = error
                break
            except MALFORMED as error:
                failure = self._transport.failures.error(ModelFault.PROTOCOL, f"{error}: {payload}")
                break
            if pair is None:
                alive = True
            else:
                texts.append(pair[0])
                thought.append(pair[1])
        waiting = not arrival.started
        events = arrival.take("".join(texts), "".join(thought))
        return ([Queued()] if alive and waiting and not events else events), failure

    def _finished(self, reader: ReplyReader, arrival: _Arrival) -> Finished:
        """The last event, or the reason why there is none."""
        reply, failures = reader.reply, self._transport.failures
        if not reply.whole:
            raise self._keeping(failures.error(ModelFault.TRUNCATED), arrival)
        if reply.finish == "content_filter":
            raise self._keeping(failures.error(ModelFault.CONTENT_FILTER), arrival)
        finished = reply.finished()
        if not finished.tool_calls and not arrival.text.strip():
            reason = _("It stopped at the max_tokens limit.") if reply.finish == "length" else ""
            failure = failures.error(ModelFault.EMPTY, reason)
            failure.usage = arrival.spent
            raise failure
        return finished

    @staticmethod
    def _keeping(error: ModelError, arrival: _Arrival) -> ModelError:
        error.partial, error.usage = arrival.text, arrival.spent
        if error.fault is ModelFault.TIME_LIMIT:
            error.partial = error.partial or arrival.arguments
        if error.partial:
            arrived = _("{n} characters had arrived.").format(n=len(error.partial))
            error.detail = sentences(error.detail, arrived)
        return error


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text") or json.dumps(part, ensure_ascii=False) for part in content)
    return str(content or "")
