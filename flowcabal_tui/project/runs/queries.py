"""Nodes, attempts and requests of past runs, read from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.ids import Digest, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import UNDER_WAY, Attempt, Evaluation, Retry, node_state_in
from flowcabal_tui.domain.versions import NodeVersion, SentLayer, VersionTrace
from flowcabal_tui.domain.workflow import PromptParams, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies
from flowcabal_tui.nodes.plan import PlannedNode
from flowcabal_tui.project.runs.basis import Basis, NoCount
from flowcabal_tui.project.runs.layers import kept_trace, layers_of
from flowcabal_tui.project.runs.quoting import QuotedRun, QuoteModels, Quoter, Stop, frame_of
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.project.words import inner_title
from flowcabal_tui.project.workflows.overrides import no_node
from flowcabal_tui.runner.fold import AttemptFold, NodeFold, fold
from flowcabal_tui.runner.keys import request_key, sample_key, with_feedback
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.retries import mended_key, retried
from flowcabal_tui.runner.scope import Frame, RunScope
from flowcabal_tui.store import Store

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

    def with_retry(self, request: ModelRequest) -> ModelRequest:
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
        sent = self._sought.with_retry(request)
        self._sought.found = sent, request_key(self._kind, sent, self._model(params).endpoint, params.sample)
        self._sought.layers = layers_of(request, sent, params, injection)
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


class RunQueries:
    """Reads only; lives on the engine's loop."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        """A node with the texts of all its attempts."""
        workflow = await self._store.runs.workflow_of(run)
        found, made = await self._made(workflow, run, node)
        attempts = [await self._attempt(run, node, each) for each in made]
        chosen, item_errors = found.chosen, tuple[str, ...]()
        if not made and found.state == "done":  # a node that makes no attempts of its own: its output is the only one
            output = Output(await self._store.journal.text(found.digest), found.form)
            item_errors = output.errors
            attempts, chosen = [Attempt(1, output.text, digest=found.digest)], 1
        state = found.state
        if state in UNDER_WAY and await self._store.runs.is_interrupted(run):
            state = node_state_in("interrupted", state)
        return NodeView(
            run=run,
            node=node,
            title=_title(workflow, node),
            kind=next((one.kind for one in workflow.nodes if one.id == node), ""),
            state=state,
            attempts=tuple(attempts),
            chosen=chosen,
            partial=attempts[-1].text if attempts and not attempts[-1].complete else "",
            question=await self._store.runs.question(found.question) if state == "waiting" and found.question else None,
            error=found.error,
            item_errors=item_errors,
            begins=tuple(_title(workflow, one) for one, needed in dependencies(workflow).items() if node in needed),
        )

    async def _made(self, workflow: Workflow, run: RunId, node: NodeId) -> tuple[NodeFold, list[AttemptFold]]:
        """A node, or one inside another, as recorded in the log, with its attempts."""
        nodes = fold(await self._store.journal.node_history(run, node)).nodes
        if node not in nodes and node.partition("/")[0] not in {one.id for one in workflow.nodes}:
            raise no_node(workflow, node)  # a node inside of another may have begun without a line in the log
        found = nodes.get(node) or NodeFold()
        return found, [each for _number, each in sorted(found.attempts.items()) if each.started or each.done]

    async def trace(self, scope: RunScope, node: NodeId, number: int) -> VersionTrace:
        """The request of an attempt of a run (0: the chosen one). `scope` is the run's. Raises RunError."""
        run = scope.id
        nodes = fold(await self._store.journal.history(run)).nodes
        found, made = await self._made(scope.workflow, run, node)
        wanted = next((each for each in made if each.number == (number or found.chosen)), None)
        if wanted is None:
            raise RunError(_("There is no attempt {n} to choose.").format(n=number or found.chosen))
        done = {path: known for path, known in nodes.items() if known.state == "done" and known.digest}
        texts = await self._store.journal.texts(tuple({known.digest for known in done.values()}))
        kept = await self._store.sent.of(run, f"node:{node}", wanted.number)
        try:
            made_again = await trace(
                scope,
                node,
                wanted,
                [await self._attempt(run, node, each) for each in made],
                {path: Output(texts[known.digest], known.form, known.digest) for path, known in done.items()},
            )
        except FlowCabalError:
            if kept is None:
                raise
            return kept_trace(kept, None)
        return made_again if made_again.exact or kept is None else kept_trace(kept, made_again)

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        """The texts of these versions, in this order and in readable form."""
        found = await self._store.journal.texts(tuple({version.digest for version in versions}))
        return tuple(Output(found[version.digest], version.form).text for version in versions)

    async def _attempt(self, run: RunId, node: NodeId, found: AttemptFold) -> Attempt:
        if found.done:
            attempt = found.attempt(await self._store.journal.text(Digest(found.done["digest"])))
            if not attempt.cached or attempt.receipt is not None:
                return attempt
            chapter = (await self._store.runs.run_request(run)).chapter
            return replace(attempt, receipt=await self._store.versions.receipt_of(node, chapter, attempt.key))
        return found.attempt(await self._store.journal.partial_text(run, node, found.number))


def _title(workflow: Workflow, node: NodeId) -> str:
    return next((one.title for one in workflow.nodes if one.id == node), inner_title(node))
