"""What a run would cost, and what a node would be given: computed without a call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel

from flowcabal_tui.agents.checking.checker import grouped
from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import ModelRequest, TokenCounter, Usage
from flowcabal_tui.domain.run import Attempt, Decision, Evaluation, QuestionKind, Quote
from flowcabal_tui.domain.workflow import Body, PromptParams
from flowcabal_tui.models.registry import cost
from flowcabal_tui.nodes.base import NodeKind, Produced, Rejected
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.nodes.kinds.prompt import MODEL_ATTEMPTS
from flowcabal_tui.nodes.plan import Step, plan
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.ports import ModelsPort
from flowcabal_tui.runner.scope import Frame, RunScope

DRAFT_TOKENS: Final = 2_000
"""What an output is taken to be long when nothing else tells."""
_DRAFT: Final = Output("draft " * DRAFT_TOKENS)
"""Stands in for a text that is not there yet, where a quote goes on behind it."""


@dataclass(slots=True)
class _Tally:
    """What would be spent. `calls` and tokens are those of nodes that would run."""

    would_run: list[NodeId] = field(default_factory=list)
    served: list[NodeId] = field(default_factory=list)
    frozen: list[NodeId] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    at_most: bool = False
    cost: Decimal | None = Decimal(0)
    currencies: set[str] = field(default_factory=set)

    def add(self, other: _Tally, times: int) -> None:
        """The sum, with what the other would spend taken `times`."""
        self.tokens_in += other.tokens_in * times
        self.tokens_out += other.tokens_out * times
        self.calls += other.calls * times
        self.at_most = self.at_most or other.at_most or times > 1
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost * times
        self.currencies |= other.currencies

    def price(self, models: ModelsPort, params: PromptParams) -> _Tally:
        """With what its tokens cost; unknown where there is no model or no price. The offline model costs nothing."""
        try:
            endpoint = models.model(params.role, params.model).endpoint
        except FlowCabalError:
            self.cost = None
            return self
        if endpoint.provider != "offline":
            self.cost = cost(endpoint, Usage(self.tokens_in, self.tokens_out))
            self.currencies = {endpoint.currency}
        return self


class Stop(Exception):
    """The node would do something that cannot be foreseen without doing it; `spent` is what that costs."""

    def __init__(self, spent: _Tally | None = None, inside: Mapping[NodeId, Output] | None = None) -> None:
        """`inside`: what is known of the graph in which it stopped; None when it was no graph."""
        self.spent, self.inside = spent or _Tally(at_most=True), inside


class QuoteRun(NodeRun):
    """Follows a node until it would spend something. An upstream output that is not there counts as a draft."""

    def __init__(self, quoter: Quoter, frame: Frame, step: Step) -> None:
        super().__init__(quoter, frame, step, NodeFold())
        self._count = quoter.count
        self.receipt: Receipt | None = None
        self.spent = _Tally()
        """What it has passed by."""
        self.whole = True
        """False when it went on past something that is not there yet."""
        self.unknown = any(frame.output(source) is None for source in (*step.needs, *step.outer))
        """True when an output that it needs is not there yet."""

    def state(self, state: object, detail: str = "") -> None:
        """Nobody is told: nothing happens."""

    @property
    def keys(self) -> frozenset[Digest]:
        """Under which keys its output is looked for, as far as it can be told."""
        own = None if self.unknown or not self._kind.reusable else self.key()
        return frozenset(key for key in (own, self.stands_under) if key)

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        injection = await super().inject(params, prompt, inquiries)
        self.receipt = injection.receipt if injection else None
        return injection

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        return None if self.unknown else await self._standing(request, params)

    async def generate(
        self, request: ModelRequest, params: PromptParams, injection: Injection | None, *, number: int, feedback: str
    ) -> Attempt:
        tokens = sum(self._count(message.content) for message in request.messages)
        raise Stop(self._costs(params, tokens + (DRAFT_TOKENS if self.unknown else 0)))

    def _costs(self, params: PromptParams, tokens: int) -> _Tally:
        """What a prompt of so many tokens costs, with its checks and what they may cause."""
        checks = len(grouped(params.angles)) if self._scope.services.monitor else 0
        calls = (MODEL_ATTEMPTS if checks else 1) * (1 + checks)
        spent = _Tally(
            tokens_in=tokens,
            tokens_out=params.max_tokens or DRAFT_TOKENS,
            calls=calls,
            at_most=self.unknown or calls > 1,
        )
        return spent.price(self._services.models, params)

    def foreseen(self, kind: NodeKind, params: BaseModel) -> _Tally:
        """What the node costs when its prompts cannot be made yet: each counts as a draft."""
        found = _Tally(at_most=True)
        if isinstance(params, PromptParams):
            found.add(self._costs(params, DRAFT_TOKENS), 1)
        for _field, body in kind.bodies(params):
            for node in body.nodes:
                found.add(self.foreseen(*kind_and_params(node)), kind.rounds(params))
        return found

    def _text(self, node: NodeId) -> str | None:
        """Nothing for an output that is not there: what it may hold is counted beside the prompt."""
        return super()._text(node) or ""

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        """Counts the checks and makes none."""
        checks = len(grouped(params.angles)) if self._scope.services.monitor else 0
        if checks:
            spent = _Tally(tokens_in=self._count(attempt.text) * checks, calls=checks)
            self._pass(spent.price(self._services.models, PromptParams(role="agent")))
        return None

    async def body(self, body: Body, part: str, names: Mapping[str, Any] | None = None) -> Mapping[NodeId, Output]:
        try:
            return await super().body(body, part, names)
        except Stop as stop:
            if not self._kind.unrolls(self._step.params) or stop.inside is None:
                raise
            self._pass(stop.spent)
            return {node.id: stop.inside.get(node.id, _DRAFT) for node in body.nodes}

    def _pass(self, spent: _Tally | None) -> None:
        if spent is not None:
            self.whole = False
            self.spent.add(spent, 1)
            self.spent.at_most = True

    async def ask(self, kind: QuestionKind, reason: str, **_asked: object) -> Decision:
        raise Stop

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        raise Stop

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Stop


class Quoter:
    """Walks the graphs of a run in order, and is the host of their nodes."""

    def __init__(self, scope: RunScope, count: Callable[[str], int]) -> None:
        self.scope, self.count = scope, count
        self.tally = _Tally()

    def waits(self, node: NodeId) -> None:
        """Nobody waits: nothing is asked."""

    def node(self, frame: Frame, step: Step) -> QuoteRun:
        """What follows one node."""
        return QuoteRun(self, frame, step)

    def inside(self) -> Quoter:
        """Who walks a graph inside a node."""
        return Quoter(self.scope, self.count)

    async def execute_inside(self, frame: Frame, node: NodeId) -> None:
        inside = self.inside()
        for step in map(frame.plan.steps.__getitem__, frame.plan.order):
            await inside.walk(frame, step)
        if inside.tally.would_run:
            raise Stop(inside.tally, frame.outputs)

    async def walk(self, frame: Frame, step: Step) -> QuoteRun:
        """Counts one node, and gives its output to those behind it when it is known."""
        path = NodeId(frame.path + step.node.id)
        run = self.node(frame, step)
        tally = self.tally
        times = 1
        try:
            output = await self._output(run, frame, step, path)
        except Stop as stop:
            run.whole = False
            run.spent.add(stop.spent, 1)
            times = step.kind.rounds(step.params) if stop.inside is not None or step.kind.unrolls(step.params) else 1
        except (FlowCabalError, Rejected):  # it depends on what is not there yet, or fails: the run will say
            run.whole, run.spent.at_most = False, True
            if run.unknown:
                run.spent.add(run.foreseen(step.kind, step.params), 1)
        else:
            if run.whole:
                frame.outputs[step.node.id] = output
        (tally.served if run.whole else tally.would_run).append(path)
        tally.add(run.spent, times)
        return run

    async def _output(self, run: QuoteRun, frame: Frame, step: Step, path: NodeId) -> Output:
        if (pinned := self.scope.pins.get(path)) is not None:
            self.tally.frozen.append(path)
            return pinned
        if any(frame.output(source) is None for source in step.needs) or (stored := run.standing()) is None:
            result = await step.kind.run(run, step.params)
            return Output.of(result.value) if isinstance(result, Produced) else result.output
        return Output(stored.text, stored.form, stored.digest)


def frame_of(scope: RunScope, targets: Sequence[NodeId]) -> Frame:
    """The graph of the targets and all above them."""
    whole = plan(scope.workflow.nodes, scope.workflow.edges)
    return Frame(scope, whole.part(targets), scope.workflow, scope.values, scope.state)


async def quote(scope: RunScope, counter: TokenCounter, marks: Collection[NodeId] = ()) -> Quote:
    """Walks the nodes in order: served ones give their outputs, the rest are counted. `marks`: nodes marked stale."""
    quoter, frame = Quoter(scope, counter.count), frame_of(scope, scope.request.targets)
    for node in frame.plan.order:
        await quoter.walk(frame, frame.plan.steps[node])
    tally = quoter.tally
    return Quote(
        would_run=tuple(tally.would_run),
        served=tuple(tally.served),
        input_tokens=tally.tokens_in,
        output_tokens=tally.tokens_out,
        calls_at_most=tally.calls,
        at_most=tally.at_most,
        frozen=tuple(tally.frozen),
        stale=tuple(node for node in tally.would_run if node in marks),
        cost=tally.cost if len(tally.currencies) < 2 else None,
        currency=min(tally.currencies) if len(tally.currencies) == 1 else "",
    )


async def _reach(scope: RunScope, node: NodeId, count: Callable[[str], int]) -> QuoteRun:
    """Walks to one node, frozen or not."""
    scope = replace(scope, pins={path: out for path, out in scope.pins.items() if path != node})
    quoter, frame = Quoter(scope, count), frame_of(scope, (node,))
    *above, last = frame.plan.order
    for each in above:
        await quoter.walk(frame, frame.plan.steps[each])
    return await quoter.walk(frame, frame.plan.steps[last])


async def preview(scope: RunScope, node: NodeId, counter: TokenCounter) -> Receipt | None:
    """The receipt that a node would get now; None when it gets no context."""
    return (await _reach(scope, node, counter.count)).receipt


async def keys(scope: RunScope, node: NodeId) -> frozenset[Digest]:
    """Under which keys the output of a node would be looked for now; none when that depends on what is not there."""
    return (await _reach(scope, node, len)).keys
