"""The steps of a node that call a model: looked up in the journal before they are done."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.journal import EventKind, RunEvent, StoredResult
from flowcabal_tui.domain.model_calls import (
    Finished,
    ModelPort,
    ModelRequest,
    Queued,
    RetryWait,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from flowcabal_tui.domain.run import Attempt, Evaluation, NodeState
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.plan import Step
from flowcabal_tui.protocol import NodeRetrying, NodeStarted, NodeStateChanged, NodeThinking
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.keys import outcome_key, request_key, sample_key, with_feedback
from flowcabal_tui.runner.scope import Frame
from flowcabal_tui.runner.streaming import StreamedText


class ModelSteps:
    """What a node does with models. `past` is what the log already says of this node."""

    def __init__(self, frame: Frame, step: Step, past: NodeFold) -> None:
        self._frame, self._step, self._past = frame, step, past
        self._scope, self._services = frame.scope, frame.scope.services
        self._node, self._kind = step.node, step.kind
        self._path = NodeId(frame.path + step.node.id)
        self._requests: list[Digest] = []
        self.stands_under: Digest | None = None
        """The key under which the last outcome was looked for or remembered."""

    @property
    def _rank(self) -> float:
        return self._frame.rank + self._frame.plan.ranks[self._node.id]

    @property
    def _wanted_again(self) -> bool:
        """A new sample is wanted of this node, or of one that it stands in."""
        again = self._scope.request.again
        return bool(again) and any(self._path == node or self._path.startswith(f"{node}/") for node in again)

    def state(self, state: NodeState, detail: str = "") -> None:
        """Tells the guests in which state the node is."""
        self._services.emit(NodeStateChanged(self._scope.id, self._path, state, detail))

    def event(self, kind: EventKind, attempt: int = 0, **payload: object) -> RunEvent:
        """A line of the log about this node."""
        return RunEvent(self._scope.id, kind, self._path, attempt, payload, at=self._services.now())

    def _paused(self, seconds: float) -> None:
        reason = _("the provider fails again and again: no new calls for a while")
        self._services.emit(NodeRetrying(self._scope.id, self._path, seconds, reason, 0))
        self.state("retrying", reason)

    def identity(self, params: PromptParams) -> Any:
        if self._services.context is not None and params.context:
            return None
        endpoint = self._model(params).endpoint
        return [endpoint.identity, endpoint.temperature, endpoint.max_output]

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        if self._services.context is None or not params.context:
            return None
        return await self._services.context.assemble(
            self._frame.workflow,
            self._node,
            params,
            prompt,
            self._scope.request.chapter,
            self._scope.generation,
            inquiries,
        )

    def _model(self, params: PromptParams) -> ModelPort:
        return self._services.models.model(params.role, params.model)

    async def _standing(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        """What stands for the request, unless a new sample is wanted or attempts of this run's own have begun."""
        begun = any(not attempt.done.get("stands") for attempt in self._past.attempts.values())
        if begun or self._wanted_again:
            return None
        self.stands_under = self._outcome_key(request, params)
        stored = await self._services.journal.outcome(self.stands_under)
        return served_attempt(1, stored) if stored else None

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        attempt = await self._standing(request, params)
        if attempt is not None:
            await self._services.journal.record(
                self.event("attempt-started", 1, key=attempt.key),
                self.event("attempt-done", 1, stands=True, **done_payload(attempt)),
            )
        return attempt

    async def settle(self, request: ModelRequest, params: PromptParams, attempt: Attempt) -> Attempt:
        self.stands_under = self._outcome_key(request, params)
        await self._services.journal.remember_outcome(self.stands_under, stored_result(attempt.key, attempt))
        return attempt

    def _outcome_key(self, request: ModelRequest, params: PromptParams) -> Digest:
        return outcome_key(request_key(self._kind, request, self._model(params).endpoint, params.sample), params)

    def feedback(self, evaluation: Evaluation | None, note: str) -> str:
        found = self._services.feedback(evaluation) if evaluation else ""
        return "\n\n".join(part for part in (found, note.strip()) if part)

    async def generate(
        self, request: ModelRequest, params: PromptParams, injection: Injection | None, *, number: int, feedback: str
    ) -> Attempt:
        asked = with_feedback(request, feedback)
        model = self._model(params)
        base = request_key(self._kind, asked, model.endpoint, params.sample)
        given = _given(injection, feedback)
        async with self._services.limits.turn(base):
            key = await self._key(base, number)
            stored = await self._services.journal.result(key)
            if stored is not None:
                attempt = await self._served(stored, number, given)
            else:
                self._services.spend.require_budget()
                await self._restart(model, params, asked, number)
                await self._services.journal.record(self.event("attempt-started", number, key=key, **given))
                attempt = await self._call(model, params, asked, number, key)
        return replace(attempt, feedback=feedback, receipt=injection.receipt if injection else None)

    async def _served(self, stored: StoredResult, number: int, given: Mapping[str, object]) -> Attempt:
        attempt = served_attempt(number, stored)
        past = self._past.attempts.get(number)
        if past is None or not past.done:
            await self._services.journal.record(
                self.event("attempt-started", number, key=stored.key, **given),
                self.event("attempt-done", number, **done_payload(attempt)),
            )
        return attempt

    async def _key(self, request: Digest, number: int) -> Digest:
        """The key that the log gives this attempt if it ended, else that of the next sample that this run wants."""
        sample = self._requests.count(request)
        self._requests.append(request)
        past = self._past.attempts.get(number)
        if past is not None and past.done and past.key:
            return past.key
        if self._wanted_again:
            while await self._services.journal.result(sample_key(request, sample)) is not None:
                sample += 1
        return sample_key(request, sample)

    async def _restart(self, model: ModelPort, params: PromptParams, request: ModelRequest, number: int) -> None:
        """Puts aside what an interrupted try of the same attempt had streamed: it stays in the log.

        If the process died while it streamed, what it cost is booked by an estimate now.
        """
        partial = await self._services.journal.partial_text(self._scope.id, self._path, number)
        if partial:
            kept = await self._services.journal.put_text(partial)
            await self._services.journal.record(self.event("attempt-reset", number, partial=kept))
            past = self._past.attempts.get(number)
            if past is not None and not past.booked:
                await self._services.spend.cut(params.role, f"node:{self._path}", model.endpoint, request, partial)

    async def _call(
        self, model: ModelPort, params: PromptParams, request: ModelRequest, number: int, key: Digest
    ) -> Attempt:
        self.state("ready")
        async with self._services.limits.slot(model.endpoint, self._rank, self._paused):
            self._services.spend.require_budget()  # others may have spent it meanwhile
            self.state("running")
            self._services.emit(NodeStarted(self._scope.id, self._path, self._node.title, number))
            begun = asyncio.get_running_loop().time()
            arrived: list[str] = []
            try:
                text, finished = await self._stream(model, params, request, number, arrived)
            except (ModelError, asyncio.CancelledError) as error:
                self._services.journal.post(self.event("attempt-cut", number))
                await self._lost(model, params, request, getattr(error, "usage", None), arrived)
                raise
            attempt = Attempt(
                number=number,
                text=text,
                digest=digest(text),
                key=key,
                model=finished.model or model.endpoint.model,
                finish=finished.finish,
                usage=finished.usage,
                seconds=round(asyncio.get_running_loop().time() - begun, 3),
            )
            await _to_the_end(self._paid(model, params, request, attempt))  # before the place is given to another
        return attempt

    async def _paid(self, model: ModelPort, params: PromptParams, request: ModelRequest, attempt: Attempt) -> None:
        """Keeps and books what was paid for; what could not be kept was paid for too."""
        done = self.event("attempt-done", attempt.number, **done_payload(attempt))
        try:
            await self._services.journal.keep_result(stored_result(attempt.key, attempt), done)
        finally:
            await self._services.spend.spent(params.role, f"node:{self._path}", model.endpoint, request, attempt.usage)

    async def _lost(
        self, model: ModelPort, params: PromptParams, request: ModelRequest, usage: Usage | None, arrived: list[str]
    ) -> None:
        """Books what the provider counted of a try without an answer, or an estimate of what arrived."""
        spend, purpose = self._services.spend, f"node:{self._path}"
        if usage is not None:
            await _to_the_end(spend.book(params.role, purpose, model.endpoint, request, usage))
        elif arrived:
            await _to_the_end(spend.cut(params.role, purpose, model.endpoint, request, "".join(arrived)))
        arrived.clear()

    async def _stream(
        self, model: ModelPort, params: PromptParams, request: ModelRequest, number: int, arrived: list[str]
    ) -> tuple[str, Finished]:
        """`arrived` holds what came of the try that is under way, thoughts too."""
        streamed = StreamedText(self._scope, self._path, number)
        finished: Finished | None = None
        waited = False
        try:
            async with aclosing(model.stream(request)) as events:
                async for event in events:
                    if waited and not isinstance(event, RetryWait):
                        self.state("running")
                    waited = isinstance(event, RetryWait)
                    match event:
                        case TextDelta(text=text):
                            arrived.append(text)
                            streamed.append(text)
                        case ThinkingDelta(text=text):
                            arrived.append(text)
                            self._services.emit(NodeThinking(self._scope.id, self._path, number, text))
                        case RetryWait(seconds=seconds, reason=reason, attempt=attempt, spent=usage):
                            await self._lost(model, params, request, usage, arrived)
                            self._services.spend.require_budget()
                            self._services.emit(NodeRetrying(self._scope.id, self._path, seconds, reason, attempt))
                            self.state("retrying", reason)
                        case Queued():
                            self.state("running", _("queued by the provider"))
                        case Finished():
                            finished = event
        finally:
            streamed.end()
        if finished is None or not streamed.text.strip():
            raise ModelError(
                ModelFault.EMPTY,
                _("The model answered without text."),
                _("Nothing was kept from this attempt."),
                _("Run the node again, or choose another model."),
                usage=finished.usage if finished else None,
            )
        return streamed.text, finished

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        if self._services.monitor is None or not params.angles:
            return None
        if (past := self._past.attempts.get(attempt.number)) and (known := past.evaluated()):
            return known
        self.state("running", _("checking facts"))
        evaluation = await self._services.monitor.evaluate(
            self._node,
            params,
            attempt.text,
            self._scope.request.chapter,
            self._scope.generation,
            attempt.number,
        )
        await self._services.journal.record(self.event("evaluated", attempt.number, evaluation=to_plain(evaluation)))
        self._past.attempt(attempt.number).evaluation = to_plain(evaluation)
        return evaluation


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Awaits work that a cancel must not cut in two; the cancel goes on after it."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _given(injection: Injection | None, feedback: str) -> dict[str, object]:
    given: dict[str, object] = {"feedback": feedback} if feedback else {}
    return given | ({"receipt": to_plain(injection.receipt)} if injection else {})


def done_payload(attempt: Attempt) -> dict[str, Any]:
    """What the log says of an attempt that ended."""
    return _made(attempt) | {"usage": to_plain(attempt.usage), "cached": attempt.cached}


def served_payload(attempt: Attempt) -> dict[str, Any]:
    """What the log says of an output that was taken from an earlier run: its usage was booked there."""
    return _made(attempt) | {"cached": True, "stands": True}


def _made(attempt: Attempt) -> dict[str, Any]:
    return {
        "digest": attempt.digest,
        "key": attempt.key,
        "author": attempt.author,
        "model": attempt.model,
        "finish": attempt.finish,
        "seconds": attempt.seconds,
        "form": attempt.form,
    }


def stored_result(key: Digest, attempt: Attempt) -> StoredResult:
    """The attempt as the store keeps it under a key."""
    return StoredResult(
        key=key,
        text=attempt.text,
        digest=attempt.digest,
        model=attempt.model,
        author=attempt.author,
        finish=attempt.finish,
        usage=attempt.usage,
        seconds=attempt.seconds,
        form=attempt.form,
    )


def served_attempt(number: int, stored: StoredResult) -> Attempt:
    """A result that was paid for earlier: its usage is booked already."""
    return Attempt(
        number=number,
        text=stored.text,
        digest=stored.digest,
        key=stored.key,
        author=stored.author,
        model=stored.model,
        finish=stored.finish,
        seconds=stored.seconds,
        cached=True,
        form=stored.form,
    )
