"""What a run would cost, and what a node would be given: computed without a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from flowcabal_tui.domain.binding import references
from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import ModelRequest, TokenCounter
from flowcabal_tui.domain.run import Attempt, Decision, Quote
from flowcabal_tui.domain.workflow import Blocks, PromptParams
from flowcabal_tui.nodes.base import QuestionKind
from flowcabal_tui.nodes.graph import dependencies, kind_and_params, needed_for, order
from flowcabal_tui.nodes.prompt import MODEL_ATTEMPTS
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.scope import RunScope

DRAFT_TOKENS = 2_000
"""What an output is taken to be long when nothing else tells."""


class _WouldCall(Exception):
    """The node would call a model with this many tokens."""

    def __init__(self, tokens_in: int, tokens_out: int, calls: int) -> None:
        self.tokens_in, self.tokens_out, self.calls = tokens_in, tokens_out, calls


class _WouldAsk(Exception):
    """The node would ask the human first."""


class _QuoteRun(NodeRun):
    """Follows a node until it would spend something. An upstream output that is not there counts as a draft."""

    def __init__(self, scope: RunScope, node: NodeId, count: Callable[[str], int]) -> None:
        found = scope.workflow.node(node)
        kind, _params = kind_and_params(found)
        super().__init__(scope, found, kind, NodeFold(), lambda *_: None)
        self._count = count
        self.receipt: Receipt | None = None
        self.at_most = False

    def state(self, state: object, detail: str = "") -> None:
        """Nobody is told: nothing happens."""

    def resolve(self, blocks: Blocks, answers: Sequence[tuple[str, str]] = ()) -> str:
        missing = set(references(blocks)) - set(self._scope.outputs)
        self.at_most = self.at_most or bool(missing)
        known = dict(self._scope.outputs)
        self._scope.outputs.update(dict.fromkeys(missing, ""))
        try:
            return super().resolve(blocks, answers)
        finally:
            self._scope.outputs.clear()
            self._scope.outputs.update(known)

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        injection = await super().inject(params, prompt, inquiries)
        self.receipt = injection.receipt if injection else None
        return injection

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        return None if self.at_most else await self._standing(request, params)

    async def generate(
        self, request: ModelRequest, params: PromptParams, injection: Injection | None, *, number: int, feedback: str
    ) -> Attempt:
        tokens = sum(self._count(message.content) for message in request.messages)
        tokens += DRAFT_TOKENS if self.at_most else 0
        checks = len(params.angles) if self._scope.services.monitor else 0
        calls = (MODEL_ATTEMPTS if checks else 1) * (1 + checks)
        raise _WouldCall(tokens, params.max_tokens or DRAFT_TOKENS, calls)

    async def ask(self, kind: QuestionKind, reason: str, **_asked: object) -> Decision:
        raise _WouldAsk


async def quote(scope: RunScope, counter: TokenCounter) -> Quote:
    """Walks the nodes in order: served ones give their outputs, the rest are counted."""
    graph = dependencies(scope.workflow)
    wanted = needed_for(graph, scope.request.targets)
    would_run: list[NodeId] = []
    served: list[NodeId] = []
    tokens_in = tokens_out = calls = 0
    at_most = False
    for node in (node for node in order(graph) if node in wanted):
        run = _QuoteRun(scope, node, counter.count)
        kind, params = kind_and_params(scope.workflow.node(node))
        try:
            scope.outputs[node] = (await kind.run(run, params)).text
            served.append(node)
        except _WouldCall as call:
            would_run.append(node)
            tokens_in, tokens_out, calls = tokens_in + call.tokens_in, tokens_out + call.tokens_out, calls + call.calls
            at_most = at_most or run.at_most or call.calls > 1
        except _WouldAsk:
            would_run.append(node)
            at_most = True
    return Quote(tuple(would_run), tuple(served), tokens_in, tokens_out, calls, at_most)


async def preview(scope: RunScope, node: NodeId, counter: TokenCounter) -> Receipt | None:
    """The receipt that a node would get now; None when it gets no context."""
    graph = dependencies(scope.workflow)
    above = needed_for(graph, (node,)) - {node}
    for other in (other for other in order(graph) if other in above):
        run = _QuoteRun(scope, other, counter.count)
        kind, params = kind_and_params(scope.workflow.node(other))
        try:
            scope.outputs[other] = (await kind.run(run, params)).text
        except (_WouldCall, _WouldAsk):
            continue
    target = _QuoteRun(scope, node, counter.count)
    kind, params = kind_and_params(scope.workflow.node(node))
    with suppress(_WouldCall, _WouldAsk):
        await kind.run(target, params)
    return target.receipt
