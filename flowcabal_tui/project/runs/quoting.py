"""The price of a run, and the context of a node: computed without a call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from flowcabal_tui.agents.checking.checker import Checker, grouped
from flowcabal_tui.agents.checking.defence import AGREEMENTS
from flowcabal_tui.agents.context.scene_question import SceneAnswer
from flowcabal_tui.agents.shapes.claims import Readings
from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import Endpoint, ModelRequest, Role, TokenCounter
from flowcabal_tui.domain.run import Attempt, Decision, Evaluation, QuestionKind, Quote, Retry
from flowcabal_tui.domain.workflow import Body, InquiryBlock, PromptParams, TextBlock
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import output_bound, structured_extra, with_margin
from flowcabal_tui.models.structured import REPAIRS
from flowcabal_tui.nodes.base import NodeKind, Produced, Rejected
from flowcabal_tui.nodes.calls import SubflowParams
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.nodes.kinds.llm_chat import LlmChatParams
from flowcabal_tui.nodes.kinds.prompt import MODEL_ATTEMPTS, MODEL_RETRIES
from flowcabal_tui.nodes.plan import Step, plan
from flowcabal_tui.project.runs.basis import (
    AGENT_TOKENS,
    ESCAPED,
    FINDING_TOKENS,
    FLOWS_DEEP,
    INQUIRY_TOKENS,
    MOST_TOKENS,
    QUERY_TOKENS,
    RETRY_TOKENS,
    SCENE_ANSWER,
    SCENE_TOKENS,
    STAND_IN,
    Basis,
    Length,
    NoCount,
)
from flowcabal_tui.project.runs.tally import Calls, Tally
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.ports import MonitorPort
from flowcabal_tui.runner.scope import Frame, RunScope


class Stop(Exception):
    """Raised at an operation whose result cannot be foreseen; `spent` is its cost."""

    def __init__(self, spent: Tally | None = None, inside: Mapping[NodeId, Output] | None = None) -> None:
        """`inside`: the known outputs of the graph in which it stopped; None when it was no graph."""
        self.spent, self.inside = spent or Tally(), inside


class QuoteRun(NodeRun):
    """Follows a node until it would spend something. A placeholder replaces a missing upstream output."""

    def __init__(self, quoter: Quoter, frame: Frame, step: Step) -> None:
        super().__init__(quoter, frame, step, NodeFold())
        self._basis, self._quoter = quoter.basis, quoter
        self.receipt: Receipt | None = None
        self.spent = Tally()
        """What it has passed by."""
        self.whole = True
        """False when it went on past something that is not there yet."""
        self.unknown = any(frame.output(source) is None for source in (*step.needs, *step.outer))
        """True when an output that it needs is not there yet."""
        self.length = Length(self._basis.draft_tokens, MOST_TOKENS)
        """Of the output, when it is not there yet."""
        self._spare = self._inquiries = 0
        """Tokens by which its context may grow beyond what was assembled."""

    def state(self, *_told: object, **_more: object) -> None:
        """Emits nothing."""

    iteration = state

    @property
    def keys(self) -> frozenset[Digest]:
        """The keys under which its output is looked up, as far as they are known."""
        own = None if self.unknown or not self._kind.reusable else self.key()
        return frozenset(key for key in (own, self.stands_under) if key)

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        injection = await super().inject(params, STAND_IN.sub("", prompt), inquiries)
        self.receipt = receipt = injection.receipt if injection else None
        if receipt is not None:
            grows = self.unknown or bool(receipt.pending) or self._basis.embedding is not None
            self._spare = max(0, receipt.budget - receipt.used) if grows else 0
            self._inquiries = len(set(inquiries))
        return injection

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        return None if self.unknown else await self._standing(request, params)

    async def generate(
        self,
        request: ModelRequest,
        params: PromptParams,
        injection: Injection | None,
        *,
        number: int,
        retry: Retry | None = None,
    ) -> Attempt:
        told = self._basis.measure("\n".join(message.content for message in request.messages))
        asked = told.plus(Length(0, with_margin(self._basis.counter, self._spare)))
        spent = self._costs(params, asked, contexts=injection is not None)
        if isinstance(self._step.params, PromptParams):
            raise Stop(spent)
        self._pass(spent)  # one of several side by side
        text = self._basis.stand_in(self.length)
        return Attempt(number, text)

    def _costs(self, params: PromptParams, asked: Length, *, contexts: bool) -> Tally:
        """What a prompt of such a length costs, with its checks and what they may cause."""
        tally = Tally()
        endpoint = self._endpoint(params.role, params.model)
        if endpoint is None:
            return tally
        limit = output_bound(endpoint, params.max_tokens, asked.likely, self._basis.answer_tokens)
        usual = self._basis.draft_tokens if params.role == "user" else AGENT_TOKENS
        self.length = Length(min(usual, limit), limit)
        checker, groups = self._checker(params)
        tries, sent = 1 + endpoint.retries, params.max_tokens
        likely, first = Calls(1, asked.likely, self.length.likely), Calls(tries, asked.most, limit, sent)
        tally.call("writing", endpoint, likely, first)
        attempts = MODEL_ATTEMPTS if checker is not None else 1
        if checker is not None:
            found = groups * (output_bound(checker, None) + FINDING_TOKENS)
            again = with_margin(self._basis.counter, RETRY_TOKENS) + self.length.most + round(found * ESCAPED)
            tally.call(
                "writing", endpoint, Calls(0, 0, 0), Calls(MODEL_RETRIES * tries, asked.most + again, limit, sent)
            )
        self._count_checks(tally, params, self.length, attempts)
        if contexts:
            self._count_context(tally)
        return tally

    def _endpoint(self, role: Role, name: str | None = None) -> Endpoint | None:
        """None when there is no model: then nothing is spent, and the run says so."""
        try:
            return self._services.models.model(role, name).endpoint
        except FlowCabalError:
            return None

    def _pays(self, roles: Sequence[Role] = ("user", "agent"), name: str | None = None) -> bool:
        """Is a model of these roles another than the embedded one, which costs nothing?"""
        models = (self._endpoint(role, name) for role in roles)
        return any(model is not None and model.provider != "offline" for model in models)

    def _checker(self, params: PromptParams) -> tuple[Endpoint | None, int]:
        """The model that checks what the node writes, and how many questions it is asked; None: nobody checks."""
        groups = len(grouped(params.angles)) if self._services.monitor is not None else 0
        return (self._endpoint("agent"), groups) if groups else (None, 0)

    def _count_checks(self, tally: Tally, params: PromptParams, draft: Length, attempts: int) -> None:
        """Each angle asks in two rounds, each round in several tries, of every attempt."""
        endpoint, groups = self._checker(params)
        if endpoint is not None and self._services.monitor is not None:
            count_checks(tally, self._services.monitor, endpoint, self._basis.counter, groups, draft, attempts)

    def _count_context(self, tally: Tally) -> None:
        agent = self._endpoint("agent")
        if self._inquiries and agent is not None:
            usual = Calls(self._inquiries, INQUIRY_TOKENS // 4, AGENT_TOKENS)
            most = Calls(self._inquiries * (1 + agent.retries), INQUIRY_TOKENS, output_bound(agent, None))
            tally.call("inquiries", agent, usual, most)
        self._count_scene(tally)
        if (embedding := self._basis.embedding) is not None:
            tries = 1 + embedding.retries
            tally.call("embeddings", embedding, Calls(1, QUERY_TOKENS // 2, 0), Calls(tries, QUERY_TOKENS, 0))

    def _count_scene(self, tally: Tally) -> None:
        """The question about the scene, once for the same outline and wish; as one of its own where no context could
        be made."""
        if self.receipt is not None:
            intent = self.receipt.intent
            question, tokens, most = intent.question, intent.asks, with_margin(self._basis.counter, intent.asks)
        elif self._basis.asks_scene and self._scope.request.chapter is not None:
            question = Digest(f"{self._path} {len(self._basis.questions)}")
            tokens, most = SCENE_TOKENS // 8, SCENE_TOKENS
        else:
            return
        agent = self._endpoint("agent")
        if not tokens or agent is None or question in self._basis.questions:
            return
        self._basis.questions.add(question)
        longest = most + structured_extra(self._basis.counter, agent, SceneAnswer)
        tries = (1 + REPAIRS) * (1 + agent.retries)
        tally.call("scene", agent, Calls(1, tokens, SCENE_ANSWER), Calls(tries, longest, output_bound(agent, None)))

    async def foreseen(self, kind: NodeKind, params: BaseModel, depth: int = FLOWS_DEEP) -> Tally:
        """The cost of a node whose prompts cannot be made yet: the prompt is counted as its words and a draft for each
        reference."""
        found = Tally()
        if isinstance(params, PromptParams):
            found.add(self._unmade(params))
        elif isinstance(params, LlmChatParams) and self._pays((params.role,), params.model):
            said = _("{node} runs once for each item, and the number of items is not known yet.")
            found.open_ends[said.format(node=self._path)] = None
        elif isinstance(params, SubflowParams):
            found.add(await self._foreseen_flow(params, depth))
        for _name, body in kind.bodies(params):
            for node in body.nodes:
                times = max(kind.rounds(params), int(getattr(params, "depth", None) or 1))
                found.add(await self.foreseen(*kind_and_params(node), depth), times)
        return found

    def _unmade(self, params: PromptParams) -> Tally:
        blocks = (*params.system, *params.prompt)
        words = "".join(block.text for block in blocks if isinstance(block, TextBlock))
        references = sum(1 for block in blocks if not isinstance(block, TextBlock)) + words.count("{{")
        draft = Length(self._basis.draft_tokens, max(MOST_TOKENS, self._longest()))
        asked = self._basis.measure(words)
        for _reference in range(references):
            asked = asked.plus(draft)
        contexts = self._services.context is not None and params.context
        if contexts:
            budget = self._services.context_budget
            asked = asked.plus(Length(budget // 2, with_margin(self._basis.counter, budget)))
            self._inquiries = sum(isinstance(block, InquiryBlock) for block in blocks)
        return self._costs(params, asked, contexts=contexts)

    def _longest(self) -> int:
        """Of all texts that would be written before it."""
        return max((length.most for length in self._basis.lengths), default=0)

    async def _foreseen_flow(self, params: SubflowParams, depth: int) -> Tally:
        found = Tally()
        if (depth == 0 or params.depth is not None) and self._pays():
            said = _("It is not yet known how often {name} calls itself.").format(name=params.ref)
            found.open_ends[said] = None
        if depth == 0 or params.depth is not None:
            return found
        for node in (await self.workflow(params.ref)).nodes:
            found.add(await self.foreseen(*kind_and_params(node), depth - 1))
        return found

    def _text(self, node: NodeId) -> str | None:
        """A stand-in for an output that is not there."""
        if (known := super()._text(node)) is not None:
            return known
        return self._basis.stand_in(self._quoter.length_of(self._frame, node))

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        """Counts the checks and makes none."""
        if self._checker(params)[0] is not None:
            spent = Tally()
            self._count_checks(spent, params, self._basis.measure(attempt.text), 1)
            self._pass(spent)
        return None

    async def body(self, body: Body, part: str, names: Mapping[str, Any] | None = None) -> Mapping[NodeId, Output]:
        try:
            return await super().body(body, part, names)
        except Stop as stop:
            if not self._kind.unrolls(self._step.params) or stop.inside is None:
                raise
            self._pass(stop.spent)
            path = f"{self._path}/{part}/"
            return {
                node.id: stop.inside.get(node.id)
                or Output(self._basis.stand_in(self._quoter.lengths.get(NodeId(path + node.id), self.length)))
                for node in body.nodes
            }

    def _pass(self, spent: Tally | None) -> None:
        if spent is not None:
            self.whole = False
            self.spent.add(spent)

    async def ask(self, kind: QuestionKind, reason: str, **_asked: object) -> Decision:
        raise Stop

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        raise Stop

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Stop


def count_checks(
    tally: Tally,
    monitor: MonitorPort,
    endpoint: Endpoint,
    counter: TokenCounter,
    groups: int,
    draft: Length,
    attempts: int = 1,
) -> None:
    """The questions of a check of a draft, each in two rounds, each round in several tries, of every attempt.

    Then the questions about the doubts that they leave, one after the other."""
    limit = output_bound(endpoint, None)
    question = monitor.question_tokens(endpoint, draft.most, groups)
    again = structured_extra(counter, endpoint, Checker.shape) + limit + FINDING_TOKENS
    longest = with_margin(counter, question) + round(draft.most * ESCAPED) + again
    parts = monitor.parts_at_most(endpoint, draft.most)
    usual = monitor.parts_at_most(endpoint, draft.likely)
    tries = attempts * groups * Checker.rounds * (1 + REPAIRS) * (1 + endpoint.retries) * parts
    usually = monitor.question_tokens(endpoint, draft.likely, groups)
    likely = Calls(groups * usual, usually + draft.likely, AGENT_TOKENS)
    tally.call("checks", endpoint, likely, Calls(tries, longest, limit))
    doubted = with_margin(counter, monitor.defence_tokens(endpoint)) + round(draft.most * ESCAPED)
    doubted += structured_extra(counter, endpoint, Readings) + limit
    tries = attempts * (1 + AGREEMENTS) * (1 + REPAIRS) * (1 + endpoint.retries) * parts
    tally.call("checks", endpoint, Calls(0, 0, 0), Calls(tries, max(longest, doubted), limit))


class Quoter:
    """Walks the graphs of a run in order, and is the host of their nodes."""

    def __init__(self, scope: RunScope, basis: Basis, lengths: dict[NodeId, Length] | None = None) -> None:
        self.scope, self.basis = scope, basis
        self.tally = Tally()
        self.lengths: dict[NodeId, Length] = {} if lengths is None else lengths
        """Of the outputs that are not there yet, by the path of their nodes."""

    def length_of(self, frame: Frame, node: NodeId) -> Length:
        """The expected length of a node's output, in this graph or an outer one."""
        for around in frame.inside():
            if (known := self.lengths.get(NodeId(around.path + node))) is not None:
                return known
        return Length(self.basis.draft_tokens, MOST_TOKENS)

    def waits(self, node: NodeId) -> None:
        """Does nothing: a quote never waits."""

    def goes_on(self, node: NodeId) -> None:
        """Nor does anybody wait again."""

    def node(self, frame: Frame, step: Step) -> QuoteRun:
        """Makes the quoting run of one node."""
        return QuoteRun(self, frame, step)

    def inside(self) -> Quoter:
        """A quoter for the graph inside a node."""
        return Quoter(self.scope, self.basis, self.lengths)

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
        tally, times = self.tally, 1
        try:
            output = await self._output(run, frame, step, path)
        except Stop as stop:
            run.whole = False
            run.spent.add(stop.spent)
            times = step.kind.rounds(step.params) if stop.inside is not None or step.kind.unrolls(step.params) else 1
        except (FlowCabalError, Rejected):  # it depends on what is not there yet, or fails: the run will say
            run.whole = False
            if run.unknown:
                run.spent.add(await run.foreseen(step.kind, step.params))
        else:
            if run.whole:
                frame.outputs[step.node.id] = output
        if not run.whole:
            self.lengths[path] = run.length
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


async def quote(scope: RunScope, basis: Basis, marks: Collection[NodeId] = ()) -> Quote:
    """Walks the nodes in order: served ones give their outputs, the rest are counted. `marks`: nodes marked stale."""
    quoter, frame = Quoter(scope, basis), frame_of(scope, scope.request.targets)
    for node in frame.plan.order:
        await quoter.walk(frame, frame.plan.steps[node])
    tally = quoter.tally
    made = tally.quote([node for node in tally.would_run if node in marks])
    return replace(made, answer=basis.answer_tokens)


async def _reach(scope: RunScope, node: NodeId, counter: TokenCounter) -> QuoteRun:
    """Walks to one node, frozen or not."""
    scope = replace(scope, pins={path: out for path, out in scope.pins.items() if path != node})
    quoter, frame = Quoter(scope, Basis(counter)), frame_of(scope, (node,))
    *above, last = frame.plan.order
    for each in above:
        await quoter.walk(frame, frame.plan.steps[each])
    return await quoter.walk(frame, frame.plan.steps[last])


async def preview(scope: RunScope, node: NodeId, counter: TokenCounter) -> Receipt | None:
    """The receipt that a node would get now; None when it gets no context."""
    return (await _reach(scope, node, counter)).receipt


async def keys(scope: RunScope, node: NodeId) -> frozenset[Digest]:
    """The keys under which the output of a node would be looked up now; none when they depend on missing outputs."""
    return (await _reach(scope, node, NoCount())).keys
