"""The cost of one node of a quoted run, with its checks and the questions for its context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from flowcabal_tui.agents.checking.checker import Checker, grouped
from flowcabal_tui.agents.checking.defence import AGREEMENTS
from flowcabal_tui.agents.context.scene_question import SceneAnswer
from flowcabal_tui.agents.shapes.claims import Readings
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.workflow import InquiryBlock, ModelCall, PromptParams, TextBlock, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import output_bound, structured_extra, with_margin
from flowcabal_tui.models.structured import REPAIRS
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.calls import SubflowParams
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.nodes.kinds.item_kinds import ItemKind
from flowcabal_tui.nodes.kinds.prompt import MODEL_ATTEMPTS, MODEL_RETRIES, Prompt
from flowcabal_tui.project.runs.basis import (
    AGENT_TOKENS,
    ESCAPED,
    FINDING_TOKENS,
    FLOWS_DEEP,
    FOUND_TOKENS,
    INQUIRY_TOKENS,
    MOST_TOKENS,
    QUERY_TOKENS,
    RETRY_TOKENS,
    SCENE_ANSWER,
    SCENE_TOKENS,
    Basis,
    Length,
)
from flowcabal_tui.project.runs.tally import Calls, Tally
from flowcabal_tui.runner.ports import MonitorPort
from flowcabal_tui.runner.scope import Frame

FlowOf = Callable[[str], Awaitable[Workflow]]
"""Finds a workflow by its reference."""


@dataclass
class Figures:
    """The figures known so far about a node, for a quote."""

    unknown: bool
    """True when an output that it needs does not exist yet."""
    length: Length
    """The length of its output, when that does not exist yet."""
    receipt: Receipt | None = None
    spent: Tally = field(default_factory=Tally)
    """The cost of the nodes passed so far."""
    whole: bool = True
    """False when it continued past something that does not exist yet."""
    spare: int = 0
    """Tokens by which its context may grow beyond what was assembled, with what rules may find."""
    inquiries: int = 0

    def add(self, spent: Tally) -> None:
        """Adds the cost of a text that does not exist yet."""
        self.whole = False
        self.spent.add(spent)


class NodeCosts:
    """Counts the cost of a node, as far as `figures` are known."""

    def __init__(self, basis: Basis, frame: Frame, path: NodeId, figures: Figures) -> None:
        self._basis, self._figures, self._path = basis, figures, path
        self._ports, self._chapter = frame.scope.ports, frame.scope.request.chapter

    def of_prompt(self, params: PromptParams, prompt: Length, *, contexts: bool) -> Tally:
        """The cost of a prompt of the given length, with its checks and their possible consequences."""
        tally = Tally()
        endpoint = self.endpoint(params.role, params.model)
        if endpoint is None:
            return tally
        limit = output_bound(endpoint, params.max_tokens, prompt.likely, self._basis.answer_tokens)
        usual = self._basis.draft_tokens if params.role == "user" else AGENT_TOKENS
        self._figures.length = Length(min(usual, limit), limit)
        checker, groups = self.checker(params)
        tries, sent = 1 + endpoint.retries, params.max_tokens
        likely, first = Calls(1, prompt.likely, self._figures.length.likely), Calls(tries, prompt.most, limit, sent)
        tally.call("writing", endpoint, likely, first)
        attempts = MODEL_ATTEMPTS if checker is not None else 1
        if checker is not None:
            found = groups * (output_bound(checker, None) + FINDING_TOKENS)
            again = with_margin(self._basis.counter, RETRY_TOKENS) + self._figures.length.most + round(found * ESCAPED)
            tally.call(
                "writing", endpoint, Calls(0, 0, 0), Calls(MODEL_RETRIES * tries, prompt.most + again, limit, sent)
            )
        self.count_checks(tally, params, self._figures.length, attempts)
        if contexts:
            self._count_context(tally)
        return tally

    def endpoint(self, role: Role, name: str | None = None) -> Endpoint | None:
        """The endpoint; None when there is no model, so that nothing is spent and the run reports it."""
        try:
            return self._ports.models.model(role, name).endpoint
        except FlowCabalError:
            return None

    def pays(self, roles: Sequence[Role] = ("user", "agent"), name: str | None = None) -> bool:
        """True when a model of these roles is not free."""
        models = (self.endpoint(role, name) for role in roles)
        return any(model is not None and not model.is_free for model in models)

    def checker(self, params: PromptParams) -> tuple[Endpoint | None, int]:
        """The model that checks the node's output, and its number of questions; None: there are no checks."""
        groups = len(grouped(params.angles)) if self._ports.monitor is not None else 0
        return (self.endpoint("agent"), groups) if groups else (None, 0)

    def count_checks(self, tally: Tally, params: PromptParams, draft: Length, attempts: int) -> None:
        """Counts the questions of all attempts at a draft."""
        endpoint, groups = self.checker(params)
        if endpoint is not None and self._ports.monitor is not None:
            count_questions(tally, self._ports.monitor, endpoint, self._basis.counter, groups, draft, attempts)

    def _count_context(self, tally: Tally) -> None:
        agent = self.endpoint("agent")
        if self._figures.inquiries and agent is not None:
            usual = Calls(self._figures.inquiries, INQUIRY_TOKENS // 4, AGENT_TOKENS)
            most = Calls(self._figures.inquiries * (1 + agent.retries), INQUIRY_TOKENS, output_bound(agent, None))
            tally.call("inquiries", agent, usual, most)
        self._count_scene(tally)
        if (embedding := self._basis.embedding) is not None:
            tries = 1 + embedding.retries
            tally.call("embeddings", embedding, Calls(1, QUERY_TOKENS // 2, 0), Calls(tries, QUERY_TOKENS, 0))

    def _count_scene(self, tally: Tally) -> None:
        """The question about the scene, once for the same outline and instruction; as one of its own where no context
        could be made."""
        if self._figures.receipt is not None:
            intent = self._figures.receipt.intent
            question, tokens, most = intent.question, intent.asks, with_margin(self._basis.counter, intent.asks)
        elif self._basis.asks_scene and self._chapter is not None:
            question = Digest(f"{self._path} {len(self._basis.questions)}")
            tokens, most = SCENE_TOKENS // 8, SCENE_TOKENS
        else:
            return
        agent = self.endpoint("agent")
        if not tokens or agent is None or question in self._basis.questions:
            return
        self._basis.questions.add(question)
        longest = most + structured_extra(self._basis.counter, agent, SceneAnswer)
        tries = (1 + REPAIRS) * (1 + agent.retries)
        tally.call("scene", agent, Calls(1, tokens, SCENE_ANSWER), Calls(tries, longest, output_bound(agent, None)))

    def _unmade(self, params: PromptParams) -> Tally:
        blocks = (*params.system, *params.prompt)
        words = "".join(block.text for block in blocks if isinstance(block, TextBlock))
        references = sum(1 for block in blocks if not isinstance(block, TextBlock)) + words.count("{{")
        draft = Length(self._basis.draft_tokens, max(MOST_TOKENS, self._longest()))
        prompt = self._basis.measure(words)
        for _reference in range(references):
            prompt = prompt.plus(draft)
        contexts = self._ports.context is not None and params.context
        if contexts:
            budget = self._ports.context_budget
            prompt = prompt.plus(Length(budget // 2, with_margin(self._basis.counter, budget + FOUND_TOKENS)))
            self._figures.inquiries = sum(isinstance(block, InquiryBlock) for block in blocks)
        return self.of_prompt(params, prompt, contexts=contexts)

    def _longest(self) -> int:
        """The longest of all texts that would be written before this node."""
        return max((length.most for length in self._basis.lengths), default=0)

    async def foreseen(self, kind: NodeKind, params: BaseModel, flow: FlowOf, depth: int = FLOWS_DEEP) -> Tally:
        """The cost of a node whose prompts cannot be made yet: its words, and a draft for each reference, are
        counted."""
        found = Tally()
        if isinstance(kind, Prompt) and isinstance(params, PromptParams):
            found.add(self._unmade(params))
        elif isinstance(params, SubflowParams):
            found.add(await self._foreseen_flow(params, flow, depth))
        else:
            found.add(self.uncounted(kind, kind.model_calls(params)))
        for _name, body in kind.bodies(params):
            for node in body.nodes:
                times = max(kind.rounds(params), int(getattr(params, "depth", None) or 1))
                found.add(await self.foreseen(*kind_and_params(node), flow, depth), times)
        return found

    def uncounted(self, kind: NodeKind, calls: Sequence[ModelCall]) -> Tally:
        """The reason why no bound is known for a node with calls that cannot be counted; nothing if none is paid."""
        found = Tally()
        if any(self.pays((call.role,), call.model) for call in calls):
            message = _("It is not yet known how often {node} calls a model.")
            if isinstance(kind, ItemKind):
                message = _("{node} runs once for each item, and the number of items is not known yet.")
            found.open_ends[message.format(node=self._path)] = None
        return found

    async def _foreseen_flow(self, params: SubflowParams, flow: FlowOf, depth: int) -> Tally:
        found = Tally()
        if (depth == 0 or params.depth is not None) and self.pays():
            message = _("It is not yet known how often {name} calls itself.").format(name=params.ref)
            found.open_ends[message] = None
        if depth == 0 or params.depth is not None:
            return found
        for node in (await flow(params.ref)).nodes:
            found.add(await self.foreseen(*kind_and_params(node), flow, depth - 1))
        return found


def count_questions(
    tally: Tally,
    monitor: MonitorPort,
    endpoint: Endpoint,
    counter: TokenCounter,
    groups: int,
    draft: Length,
    attempts: int = 1,
) -> None:
    """Adds the questions of a check of a draft for every attempt: each in two rounds, each round in several tries.

    Then the questions about the remaining doubts, one after the other.
    """
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
