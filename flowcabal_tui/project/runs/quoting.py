"""Computes the price of a run, and the context of a node, without a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.run import Attempt, Decision, Evaluation, IterationKind, QuestionKind, Quote, Retry
from flowcabal_tui.domain.workflow import Body, PromptParams
from flowcabal_tui.models.bounds import with_margin
from flowcabal_tui.nodes.base import Produced, Rejected
from flowcabal_tui.nodes.kinds.prompt import Prompt
from flowcabal_tui.nodes.plan import PlannedNode, plan
from flowcabal_tui.project.runs.basis import FOUND_TOKENS, MOST_TOKENS, STAND_IN, Basis, Length, NoCount
from flowcabal_tui.project.runs.node_costs import Figures, NodeCosts
from flowcabal_tui.project.runs.tally import Tally
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.node_models import JournalledModels
from flowcabal_tui.runner.node_report import NodeReport
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.scope import Frame, RunScope


class Stop(Exception):
    """Raised at an operation whose result cannot be predicted; `spent` is its cost."""

    def __init__(self, spent: Tally | None = None, inside: Mapping[NodeId, Output] | None = None) -> None:
        """`inside`: the known outputs of the graph where it stopped; None if that is not a graph."""
        self.spent, self.inside = spent or Tally(), inside


class SilentReport(NodeReport):
    """Emits no state."""

    def state(self, *_data: object, **_more: object) -> None:
        """Does nothing."""


class QuoteModels(JournalledModels):
    """Assembles the prompts and contexts of a node, and counts each call instead of making it."""

    def __init__(self, frame: Frame, step: PlannedNode, basis: Basis) -> None:
        super().__init__(frame, step, NodeFold(), SilentReport(frame, step))
        unknown = any(frame.output(source) is None for source in (*step.needs, *step.outer))
        self.figures = Figures(unknown, Length(basis.draft_tokens, MOST_TOKENS))
        self._basis, self.costs = basis, NodeCosts(basis, frame, self.report.path, self.figures)

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        injection = await super().inject(params, STAND_IN.sub("", prompt), inquiries)
        self.figures.receipt = receipt = injection.receipt if injection else None
        if receipt is not None:
            grows = self.figures.unknown or bool(receipt.pending) or self._basis.embedding is not None
            self.figures.spare = max(0, receipt.budget - receipt.used) + FOUND_TOKENS if grows else 0
            self.figures.inquiries = len(set(inquiries))
        return injection

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        return None if self.figures.unknown else await self._stored_attempt(request, params)

    async def generate(
        self,
        request: ModelRequest,
        params: PromptParams,
        injection: Injection | None,
        *,
        number: int,
        retry: Retry | None = None,
    ) -> Attempt:
        sent = self._basis.measure("\n".join(message.content for message in request.messages))
        prompt = sent.plus(Length(0, with_margin(self._basis.counter, self.figures.spare)))
        spent = self.costs.of_prompt(params, prompt, contexts=injection is not None)
        if not self._kind.bounded:
            spent.add(self.costs.uncounted(self._kind, (params,)))
        if isinstance(self._kind, Prompt) or not self._kind.bounded:
            raise Stop(spent)
        self.figures.add(spent)  # one of several side by side
        return Attempt(number, self._basis.stand_in(self.figures.length))

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        """Counts the checks instead of making them."""
        if self.costs.checker(params)[0] is not None:
            spent = Tally()
            self.costs.count_checks(spent, params, self._basis.measure(attempt.text), 1)
            self.figures.add(spent)
        return None


class QuotedRun(NodeRun):
    """Executes a node until it would spend something. A placeholder replaces a missing upstream output."""

    models: QuoteModels

    def __init__(self, quoter: Quoter, frame: Frame, step: PlannedNode, models: QuoteModels | None = None) -> None:
        super().__init__(quoter, frame, step, NodeFold())
        self.models = models or QuoteModels(frame, step, quoter.basis)
        self.report = self.models.report
        self._basis, self._quoter = quoter.basis, quoter
        self.figures = self.models.figures

    @property
    def keys(self) -> frozenset[Digest]:
        """The keys under which its output is looked up, as far as they are known."""
        own = None if self.figures.unknown or not self._kind.reusable else self.key()
        return frozenset(key for key in (own, self.models.last_outcome_key) if key)

    async def foreseen(self) -> Tally:
        """The cost of the node if its prompts cannot be made yet."""
        return await self.models.costs.foreseen(self._kind, self._step.params, self.workflow)

    def iteration(self, number: int, total: int, kind: IterationKind, candidates: int = 0) -> None:
        """Emits nothing."""

    def _text(self, node: NodeId) -> str | None:
        """A placeholder for an output that does not exist yet."""
        if (known := super()._text(node)) is not None:
            return known
        return self._basis.stand_in(self._quoter.length_of(self._frame, node))

    async def body(self, body: Body, part: str, names: Mapping[str, Any] | None = None) -> Mapping[NodeId, Output]:
        try:
            return await super().body(body, part, names)
        except Stop as stop:
            if not self._kind.unrolls(self._step.params) or stop.inside is None:
                raise
            self.figures.add(stop.spent)
            path = f"{self._path}/{part}/"
            return {
                node.id: stop.inside.get(node.id)
                or Output(self._basis.stand_in(self._quoter.lengths.get(NodeId(path + node.id), self.figures.length)))
                for node in body.nodes
            }

    async def ask(self, kind: QuestionKind, reason: str, **_details: object) -> Decision:
        raise Stop

    async def ask_once(self, about: Any, ask: Callable[[], Awaitable[Decision]]) -> Decision:
        """The decision of an earlier run, else the first choice, so that later rounds are counted."""
        try:
            return await super().ask_once(about, ask)
        except Stop:
            if not self._kind.unrolls(self._step.params):
                raise
            self.figures.whole = False
            return Decision("choose", attempt=1)

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        raise Stop

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Stop


class Quoter:
    """Walks the graphs of a run in order and provides the context of their nodes."""

    def __init__(self, scope: RunScope, basis: Basis, lengths: dict[NodeId, Length] | None = None) -> None:
        self.scope, self.basis = scope, basis
        self.tally = Tally()
        self.lengths: dict[NodeId, Length] = {} if lengths is None else lengths
        """The expected lengths of missing outputs, by the path of their nodes."""

    def length_of(self, frame: Frame, node: NodeId) -> Length:
        """The expected length of a node's output, in this graph or an outer one."""
        for around in frame.inside():
            if (known := self.lengths.get(NodeId(around.path + node))) is not None:
                return known
        return Length(self.basis.draft_tokens, MOST_TOKENS)

    def waits(self, node: NodeId) -> None:
        """Does nothing: a quote never waits."""

    def goes_on(self, node: NodeId) -> None:
        """Does nothing: a quote never waits."""

    def node(self, frame: Frame, step: PlannedNode) -> QuotedRun:
        """Makes the quoting run of one node."""
        return QuotedRun(self, frame, step)

    def inside(self) -> Quoter:
        """A quoter for the graph inside a node."""
        return Quoter(self.scope, self.basis, self.lengths)

    async def execute_inside(self, frame: Frame, node: NodeId) -> None:
        inside = self.inside()
        for step in map(frame.plan.steps.__getitem__, frame.plan.order):
            await inside.walk(frame, step)
        if inside.tally.would_run:
            raise Stop(inside.tally, frame.outputs)

    async def walk(self, frame: Frame, step: PlannedNode) -> QuotedRun:
        """Counts one node, and passes its output on if it is known."""
        path = NodeId(frame.path + step.node.id)
        run = self.node(frame, step)
        tally, times = self.tally, 1
        try:
            output = await self._output(run, frame, step, path)
        except Stop as stop:
            run.figures.whole = False
            run.figures.spent.add(stop.spent)
            times = step.kind.rounds(step.params) if stop.inside is not None or step.kind.unrolls(step.params) else 1
        except (FlowCabalError, Rejected):  # it depends on missing outputs or fails, which the run will report
            run.figures.whole = False
            if run.figures.unknown:
                run.figures.spent.add(await run.foreseen())
        else:
            if run.figures.whole:
                frame.outputs[step.node.id] = output
        if not run.figures.whole:
            self.lengths[path] = run.figures.length
            if not step.kind.bounded:
                run.figures.spent.add(run.models.costs.uncounted(step.kind, step.kind.model_calls(step.params)))
        (tally.served if run.figures.whole else tally.would_run).append(path)
        tally.add(run.figures.spent, times)
        return run

    async def _output(self, run: QuotedRun, frame: Frame, step: PlannedNode, path: NodeId) -> Output:
        if (pinned := self.scope.pins.get(path)) is not None:
            self.tally.frozen.append(path)
            return pinned
        if any(frame.output(source) is None for source in step.needs) or (stored := run.stored_result()) is None:
            result = await step.kind.run(run, step.params)
            return Output.of(result.value) if isinstance(result, Produced) else result.output
        return Output(stored.text, stored.form, stored.digest)


def frame_of(scope: RunScope, targets: Sequence[NodeId]) -> Frame:
    """The graph of the targets and everything above them."""
    whole = plan(scope.workflow.nodes, scope.workflow.edges)
    return Frame(scope, whole.part(targets), scope.workflow, scope.values, scope.state)


async def quote(scope: RunScope, basis: Basis, marks: Collection[NodeId] = ()) -> Quote:
    """The quote of a run: outputs served from earlier runs are used, other nodes are counted. `marks`: nodes marked
    stale."""
    quoter, frame = Quoter(scope, basis), frame_of(scope, scope.request.targets)
    for node in frame.plan.order:
        await quoter.walk(frame, frame.plan.steps[node])
    tally = quoter.tally
    made = tally.quote([node for node in tally.would_run if node in marks])
    return replace(made, answer=basis.answer_tokens)


async def _reach(scope: RunScope, node: NodeId, counter: TokenCounter) -> QuotedRun:
    """Walks to one node, frozen or not."""
    scope = replace(scope, pins={path: out for path, out in scope.pins.items() if path != node})
    quoter, frame = Quoter(scope, Basis(counter)), frame_of(scope, (node,))
    *above, last = frame.plan.order
    for each in above:
        await quoter.walk(frame, frame.plan.steps[each])
    return await quoter.walk(frame, frame.plan.steps[last])


async def preview(scope: RunScope, node: NodeId, counter: TokenCounter) -> Receipt | None:
    """The receipt that a node would get now; None when it gets no context."""
    return (await _reach(scope, node, counter)).figures.receipt


async def keys(scope: RunScope, node: NodeId) -> frozenset[Digest]:
    """The keys under which the output of a node would be looked up now; none when they depend on missing outputs."""
    return (await _reach(scope, node, NoCount())).keys
