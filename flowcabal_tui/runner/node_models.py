"""The model calls of a node, looked up in the journal before they are made."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.errors import BudgetExceeded, LimitReached, ModelError, ModelFault
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.model_calls import Finished, ModelRequest, Queued, RetryWait, TextDelta, ThinkingDelta, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.run import Attempt, Evaluation, Retry
from flowcabal_tui.domain.workflow import PromptParams, TextBlock
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.plan import PlannedNode
from flowcabal_tui.protocol.runs import NodeEvaluated, NodeStarted, NodeThinking
from flowcabal_tui.runner.attempts import done_payload, served_attempt, stored_result
from flowcabal_tui.runner.calls import NodeCall
from flowcabal_tui.runner.continuing import ContinuationSeam
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.keys import outcome_key, request_key, sample_key
from flowcabal_tui.runner.node_report import NodeReport
from flowcabal_tui.runner.ports import CALLER
from flowcabal_tui.runner.retries import mended_key, retry_of
from flowcabal_tui.runner.scope import Frame
from flowcabal_tui.runner.streaming import StreamedText


class JournalledModels:
    """Implements `NodeModels`. `past` is the fold of the node's log."""

    def __init__(self, frame: Frame, step: PlannedNode, past: NodeFold, report: NodeReport) -> None:
        self._frame, self._past, self.report = frame, past, report
        self._scope, self._ports = frame.scope, frame.scope.ports
        self._node, self._kind = step.node, step.kind
        self._path = report.path
        self._purpose = f"node:{self._path}"
        self._requests: list[Digest] = []
        self.last_outcome_key: Digest | None = None
        """The key under which the last outcome was looked up or stored."""

    def identity(self, params: PromptParams) -> Any:
        if self._ports.context is not None and params.context:
            return None
        endpoint = self._model(params).endpoint
        own = [list(each) for each in endpoint.sampling]
        return [endpoint.identity, endpoint.temperature, endpoint.max_output, *own]

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        if self._ports.context is None or not params.context:
            return None
        return await self._ports.context.assemble(
            self._frame.workflow,
            self._node,
            params,
            prompt,
            self._scope.request.chapter,
            self._scope.generation,
            inquiries,
            self._scope.about,
        )

    def _model(self, params: PromptParams) -> ModelPort:
        return self._ports.models.model(params.role, params.model)

    async def _stored_attempt(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        """The current result of the request, unless a new sample was requested or attempts of this run have begun."""
        begun = any(not attempt.done.get("stands") for attempt in self._past.attempts.values())
        if begun or self.report.wanted_again:
            return None
        self.last_outcome_key = self._outcome_key(request, params)
        stored = await self._ports.journal.outcome(self.last_outcome_key)
        return served_attempt(1, stored) if stored else None

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        attempt = await self._stored_attempt(request, params)
        if attempt is not None:
            await self._ports.journal.record(
                self.report.event("attempt-started", 1, key=attempt.key),
                self.report.event("attempt-done", 1, stands=True, **done_payload(attempt)),
            )
        return attempt

    async def settle(self, request: ModelRequest, params: PromptParams, attempt: Attempt) -> Attempt:
        self.last_outcome_key = self._outcome_key(request, params)
        await self._ports.journal.remember_outcome(self.last_outcome_key, stored_result(attempt.key, attempt))
        return attempt

    def _outcome_key(self, request: ModelRequest, params: PromptParams) -> Digest:
        return outcome_key(request_key(self._kind, request, self._model(params).endpoint, params.sample), params)

    def retry(
        self, attempt: Attempt, evaluation: Evaluation | None, note: str = "", *, mend: bool = False
    ) -> Retry | None:
        found = self._ports.feedback(evaluation) if evaluation else ""
        return retry_of(attempt, evaluation, found, note, mend=mend)

    async def generate(
        self,
        request: ModelRequest,
        params: PromptParams,
        injection: Injection | None,
        *,
        number: int,
        retry: Retry | None = None,
    ) -> Attempt:
        receipt = injection.receipt if injection else None
        call = NodeCall(self._model(params), params, request, number, retry, receipt)
        if call.mends:
            if (mended := await self._patched(call)) is not None:
                return call.completed(mended)
            call = call.of_whole()
        base = request_key(self._kind, call.retried_request, call.model.endpoint, params.sample)
        async with self._ports.limits.turn(base):
            call = replace(call, key=await self._key(base, number), so_far=await self._so_far(number))
            stored = await self._ports.journal.result(call.full_key)
            if stored is not None:
                attempt = await self._served(stored, call)
            else:
                self._ports.spend.require_budget()
                attempt = await self._begun(call)
        return call.completed(attempt)

    async def _patched(self, call: NodeCall) -> Attempt | None:
        """The previous attempt with the paragraphs of an answer inserted; None when these could not be placed."""
        journal, past = self._ports.journal, self._past.attempts.get(call.number)
        base = request_key(self._kind, call.retried_request, call.model.endpoint, call.params.sample)
        async with self._ports.limits.turn(base):
            call = replace(call, key=await self._sample(base))
            key = past.key if past and past.done and past.started.get("paragraphs") else mended_key(call.key)
            if past and (past.unplaced or (past.done and past.key != key)):
                return None
            if key is not None and (stored := await journal.result(key)) is not None:
                return await self._served(stored, call)
            if await journal.result(call.key) is not None:
                return None
            self._ports.spend.require_budget()
            attempt = await self._begun(call)
        return attempt if attempt.key != call.key else None

    async def _begun(self, call: NodeCall) -> Attempt:
        """Makes the call, from the start or from the text so far.

        If it could take the run past its limit, a person decides first, and no slot is taken meanwhile. An answer that
        was stopped at the limit is continued, unless it consists of single paragraphs.
        """
        while True:
            await self._restart(call)
            try:
                return await self._call(call)
            except LimitReached as reached:
                if (caller := CALLER.get()) is None:
                    raise
                await caller.ask_at_limit(reached)
                if reached.cut and not call.mends:
                    call = replace(call, so_far=await self._arrived(call.number))

    async def _so_far(self, number: int) -> str:
        """The text so far of the attempt to continue; "" when it must be written from the start."""
        past = self._past.attempts.get(number)
        stopped = past is not None and past.stopped and not past.done
        return await self._arrived(number) if stopped or self._scope.continues else ""

    async def _arrived(self, number: int) -> str:
        text = await self._ports.journal.partial_text(self._scope.id, self._path, number)
        return text if text.strip() else ""

    async def _served(self, stored: StoredResult, call: NodeCall) -> Attempt:
        attempt = served_attempt(call.number, stored)
        past = self._past.attempts.get(call.number)
        if past is None or not past.done:
            await self._ports.journal.record(
                self.report.event("attempt-started", call.number, key=stored.key, **call.given),
                self.report.event("attempt-done", call.number, **done_payload(attempt)),
            )
        return attempt

    async def _key(self, request: Digest, number: int) -> Digest:
        """The key in the log if this attempt has ended, else that of the next sample of this run."""
        key = await self._sample(request)
        past = self._past.attempts.get(number)
        return past.key if past is not None and past.done and past.key else key

    async def _sample(self, request: Digest) -> Digest:
        """The key of the next sample of a request in this run."""
        sample = self._requests.count(request)
        self._requests.append(request)
        journal = self._ports.journal
        while self.report.wanted_again and (
            await journal.result(key := sample_key(request, sample)) or await journal.result(mended_key(key))
        ):
            sample += 1
        return sample_key(request, sample)

    async def _restart(self, call: NodeCall) -> None:
        """Discards the text streamed by an interrupted try of the same attempt, unless it is continued.

        If the process died while streaming, an estimate of the cost is booked here.
        """
        partial = await self._ports.journal.partial_text(self._scope.id, self._path, call.number)
        if partial:
            if not call.so_far:
                kept = await self._ports.journal.put_text(partial)
                await self._ports.journal.record(self.report.event("attempt-reset", call.number, partial=kept))
            past = self._past.attempts.get(call.number)
            if past is not None and not past.booked:
                past.booked = True
                role, endpoint = call.params.role, call.model.endpoint
                await self._ports.spend.book_estimate(role, self._purpose, endpoint, call.retried_request, partial)

    async def _call(self, call: NodeCall) -> Attempt:
        self.report.state("ready")
        model, number, request = call.model, call.number, call.sent
        async with (
            self._ports.limits.slot(model.endpoint, self.report.rank, self.report.paused),
            self._ports.spend.reserved(
                model.endpoint, request, call.params.role, self._purpose, attempt=number, before=call.so_far
            ) as reservation,
        ):
            await self._ports.journal.record(
                self.report.event(
                    "attempt-started", number, key=call.full_key, model=model.endpoint.model, **call.given
                )
            )
            self.report.state("running", _("single paragraphs are being corrected") if call.mends else "")
            self._ports.emit(NodeStarted(self._scope.id, self._path, self._node.title, number))
            begun = asyncio.get_running_loop().time()
            arrived: list[str] = []
            try:
                text, finished = await self._stream(call, request, arrived, reservation)
            except (ModelError, BudgetExceeded, asyncio.CancelledError) as error:
                stopped = isinstance(error, LimitReached) and error.cut
                self._ports.journal.post(
                    self.report.event("attempt-cut", number, **({"stopped": True} if stopped else {}))
                )
                await self._lost(call, request, getattr(error, "usage", None), arrived)
                raise
            seconds = round(asyncio.get_running_loop().time() - begun, 3)
            attempt = call.ended(text, finished, seconds)
            await _to_the_end(self._paid(call, request, attempt, arrived))  # before the slot is released
        return attempt

    async def _paid(self, call: NodeCall, request: ModelRequest, attempt: Attempt, arrived: list[str]) -> None:
        """Stores and books a paid answer; one that cannot be stored is booked too."""
        events = [self.report.event("attempt-done", attempt.number, **done_payload(attempt))]
        if call.mends and attempt.key == call.key:
            events = [
                self.report.event("attempt-reset", attempt.number, partial=attempt.digest),
                self.report.event("attempt-cut", attempt.number, unplaced=True),
            ]
        try:
            await self._ports.journal.keep_result(stored_result(attempt.key, attempt), *events)
        finally:
            spend, role, endpoint = self._ports.spend, call.params.role, call.model.endpoint
            if attempt.finish == "time" and attempt.usage.output_tokens is None:
                await self._lost(call, request, None, arrived)
            else:
                await spend.spent(role, self._purpose, endpoint, request, attempt.usage)

    async def _lost(self, call: NodeCall, request: ModelRequest, usage: Usage | None, arrived: list[str]) -> None:
        """Books the provider's count for a try without an answer, or an estimate from the text that arrived."""
        spend, role, endpoint = self._ports.spend, call.params.role, call.model.endpoint
        if usage is not None:
            await _to_the_end(spend.book(role, self._purpose, endpoint, request, usage))
        elif arrived:
            await _to_the_end(spend.book_estimate(role, self._purpose, endpoint, request, "".join(arrived)))
        arrived.clear()

    async def _stream(
        self, call: NodeCall, request: ModelRequest, arrived: list[str], reservation: object
    ) -> tuple[str, Finished]:
        """Streams one try. `arrived` collects its text, thoughts included."""
        number, so_far = call.number, call.so_far
        streamed, seam = StreamedText(self._scope, self._path, number, so_far), ContinuationSeam(so_far)
        finished: Finished | None = None
        waited = False
        try:
            async with aclosing(call.model.stream(request)) as events:
                async for event in events:
                    if waited and not isinstance(event, RetryWait):
                        self.report.state("running")
                    waited = isinstance(event, RetryWait)
                    match event:
                        case TextDelta(text=text):
                            arrived.append(text)
                            streamed.append(seam.take(text))
                            self._ports.spend.count_piece(reservation, text)
                        case ThinkingDelta(text=text):
                            arrived.append(text)
                            self._ports.emit(NodeThinking(self._scope.id, self._path, number, text))
                            self._ports.spend.count_piece(reservation, text)
                        case RetryWait(seconds=seconds, reason=reason, attempt=attempt, spent=usage):
                            await self._lost(call, request, usage, arrived)
                            self._ports.spend.require_again(reservation)
                            self.report.call_waits(seconds, reason, attempt)
                        case Queued():
                            self.report.state("running", _("queued by the provider"))
                        case Finished():
                            finished = event
        except ModelError as error:
            if error.fault is not ModelFault.TIME_LIMIT or not error.partial.strip():
                raise error.with_partial_kept() from error.__cause__
            finished = Finished("time", error.usage or Usage())
        finally:
            streamed.append(seam.end())
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
        if self._ports.monitor is None or not params.angles:
            return None
        if (past := self._past.attempts.get(attempt.number)) and (known := past.evaluated()):
            return known
        self.report.state("running", _("checking facts"))
        evaluation = await self._ports.monitor.evaluate(
            self._node,
            params,
            attempt.text,
            self._scope.request.chapter,
            self._scope.generation,
            attempt.number,
        )
        await self._ports.journal.record(
            self.report.event("evaluated", attempt.number, evaluation=to_plain(evaluation))
        )
        self._past.attempt(attempt.number).evaluation = to_plain(evaluation)
        self._ports.emit(NodeEvaluated(self._scope.id, self._path, attempt.number, evaluation))
        return evaluation

    async def doubt(self, params: PromptParams, injection: Injection | None, attempt: Attempt) -> str:
        if self._ports.doubts is None:
            return ""
        given = [block.text for block in (*params.system, *params.prompt) if isinstance(block, TextBlock)]
        if injection:
            given += [
                injection.system_prefix,
                injection.user_suffix,
                *(answer for _question, answer in injection.inquiries),
            ]
        if self._model(params).endpoint.provider == "offline":  # its texts consist of sentences of the prompt
            given = []
        workflow = None if "/" in self._path else self._frame.workflow
        return await self._ports.doubts.doubt(
            workflow, self._node.id, params, given, attempt.text, self._scope.request.chapter, self._scope.generation
        )


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Awaits work that a cancel must not interrupt; the cancel takes effect afterwards."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
