"""Reconstructs the request of a past attempt from the run's own outputs and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import Attempt, Evaluation, Retry
from flowcabal_tui.domain.versions import SentLayer, VersionTrace
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.plan import PlannedNode
from flowcabal_tui.project.runs.basis import Basis, NoCount
from flowcabal_tui.project.runs.layers import layers_of
from flowcabal_tui.project.runs.quoting import QuotedRun, QuoteModels, Quoter, Stop, frame_of
from flowcabal_tui.runner.fold import AttemptFold
from flowcabal_tui.runner.keys import request_key, sample_key, with_feedback
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.retries import mended_key, retried
from flowcabal_tui.runner.scope import Frame, RunScope

SAMPLES: Final = 100
"""Number of samples of one request that are searched for the paid one."""


@dataclass(slots=True)
class _Sought:
    """The attempt whose request is sought, those of its node, and what was found so far."""

    path: NodeId
    number: int
    attempts: Mapping[int, Attempt]
    found: tuple[ModelRequest, Digest] | None = None
    layers: tuple[SentLayer, ...] = ()

    def asked(self, request: ModelRequest) -> ModelRequest:
        """The request of the attempt. Before retries contained the draft, they contained only the feedback on it."""
        attempt = self.attempts.get(self.number)
        if attempt is None or (attempt.of and attempt.of not in self.attempts):
            return request
        if not attempt.of:
            return with_feedback(request, attempt.feedback)
        return retried(request, Retry(self.attempts[attempt.of], attempt.feedback, attempt.paragraphs))


class _TraceModels(QuoteModels):
    """Gives the node its earlier attempts, until it asks for the one that is sought."""

    def __init__(self, quoter: Quoter, frame: Frame, step: PlannedNode, sought: _Sought) -> None:
        super().__init__(frame, step, quoter.basis)
        self._sought = sought

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        return None

    async def generate(
        self,
        request: ModelRequest,
        params: PromptParams,
        injection: Injection | None,
        *,
        number: int,
        retry: Retry | None = None,
    ) -> Attempt:
        asked = self._sought.asked(request)
        self._sought.found = asked, request_key(self._kind, asked, self._model(params).endpoint, params.sample)
        self._sought.layers = layers_of(request, asked, params, injection)
        if number >= self._sought.number or number not in self._sought.attempts:
            raise Stop
        return self._sought.attempts[number]

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        return attempt.evaluation


class _TraceRun(QuotedRun):
    """Follows a node to the attempt that is sought, without stored or placeholder outputs."""

    def stored_result(self) -> StoredResult | None:
        """None: no stored output replaces the call, whose request is wanted."""
        return None

    def _text(self, node: NodeId) -> str | None:
        """Nothing for an output that is not there."""
        return NodeRun._text(self, node) or ""


class _Tracer(Quoter):
    def __init__(self, scope: RunScope, sought: _Sought) -> None:
        super().__init__(scope, Basis(NoCount()))
        self._sought = sought

    def node(self, frame: Frame, step: PlannedNode) -> QuotedRun:
        if frame.path + step.node.id == self._sought.path:
            return _TraceRun(self, frame, step, _TraceModels(self, frame, step, self._sought))
        return super().node(frame, step)

    def inside(self) -> Quoter:
        return _Tracer(self.scope, self._sought)


async def trace(
    scope: RunScope, path: NodeId, wanted: AttemptFold, attempts: Sequence[Attempt], outputs: Mapping[NodeId, Output]
) -> VersionTrace:
    """The trace of an attempt. `scope` is that of the run, without permission to spend; `outputs` are those of its
    other nodes.

    Raises RunError when the request cannot be reconstructed.
    """
    top = NodeId(path.split("/")[0])
    pins = {node: output for node, output in outputs.items() if node != path and not path.startswith(f"{node}/")}
    sought = _Sought(path, wanted.number, {attempt.number: attempt for attempt in attempts})
    frame = frame_of(replace(scope, pins=pins, request=replace(scope.request, again=())), (top,))
    tracer = _Tracer(frame.scope, sought)
    for node in frame.plan.order:
        await tracer.walk(frame, frame.plan.steps[node])
    if sought.found is None:
        raise RunError(
            _("The request for {node} cannot be reconstructed.").format(node=path),
            _("It made no call, or the sources of its prompt no longer exist."),
        )
    request, key = sought.found
    keys = [sample_key(key, number) for number in range(SAMPLES)]
    sample = next((n for n, each in enumerate(keys) if wanted.key in (each, mended_key(each))), None)
    made = sought.attempts.get(wanted.number)
    return VersionTrace(
        request.messages,
        sample is not None,
        sample or 0,
        made.feedback if made else "",
        made.receipt if made else None,
        sought.layers,
    )
