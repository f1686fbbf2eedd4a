"""One node of one run: the context in which its kind runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, Protocol

from flowcabal_tui.domain.bindings import resolve
from flowcabal_tui.domain.codec import from_json, to_json, to_plain
from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.errors import BudgetExceeded, LimitReached, ModelError, RunError
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.model_calls import Message
from flowcabal_tui.domain.prompt_parts import labelled
from flowcabal_tui.domain.prompt_text import fill
from flowcabal_tui.domain.run import Attempt, Choice, Decision, DecisionKind, IterationKind, Question, QuestionKind
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.text import digest, digest_of
from flowcabal_tui.domain.workflow import Blocks, Body, InquiryBlock, Node, TextBlock, Workflow
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.nodes.plan import PlannedNode, plan
from flowcabal_tui.protocol.runs import NodeIteration, NodeNeedsHuman
from flowcabal_tui.runner.attempts import done_payload, stored_result
from flowcabal_tui.runner.effects import again
from flowcabal_tui.runner.fold import NodeFold
from flowcabal_tui.runner.keys import node_key
from flowcabal_tui.runner.node_models import JournalledModels
from flowcabal_tui.runner.node_report import NodeReport
from flowcabal_tui.runner.ports import ActionsPort
from flowcabal_tui.runner.scope import Frame, NamesAtMoment
from flowcabal_tui.runner.streaming import StreamedText

OPTIONS: Final[Mapping[QuestionKind, tuple[DecisionKind, ...]]] = {
    "review": ("approve", "retry", "mend", "edit", "reject"),
    "input": ("approve", "edit", "reject"),
    "choice": ("choose", "edit", "reject"),
    "gate": ("approve", "reject"),
    "limit": ("approve", "reject"),
}
SEALED: Final = ("gate", "limit")
"""Kinds of questions that only this user, on this machine, can have answered."""


class Host(Protocol):
    """The run around a node."""

    def waits(self, node: NodeId) -> None:
        """Marks the node as waiting for a person."""

    def goes_on(self, node: NodeId) -> None:
        """Ends the node's wait when its own question remained unanswered."""

    async def execute_inside(self, frame: Frame, node: NodeId) -> None:
        """Runs a graph inside the node. Raises StepFailed when one of its nodes failed or was stopped."""


class NodeRun:
    """Implements `NodeContext`. `past` is the fold of the node's log."""

    def __init__(self, host: Host, frame: Frame, step: PlannedNode, past: NodeFold) -> None:
        self._host, self._frame, self._step, self._past = host, frame, step, past
        self._scope, self._ports = frame.scope, frame.scope.ports
        self._node, self._kind = step.node, step.kind
        self.report = NodeReport(frame, step)
        self._path = self.report.path
        self._holds = False
        self._content_key: Digest | None = None
        self._key_is_final = False
        self._asks_under: Digest | None = None
        """The key under which the answer to a question is remembered."""

    def stored_result(self) -> StoredResult | None:
        """The output of an equal node in an earlier run, unless a new sample was requested."""
        key = None if self.report.wanted_again else self.key()
        return self._ports.journal.stored_result(key) if key else None

    def key(self) -> Digest | None:
        """The content key, from digests alone; None when it cannot be known without running the node.

        Computed once, except for a node that reads the state, which may change while it runs.
        """
        if not self._key_is_final:
            try:
                fingerprint = self._kind.fingerprint(self, self._step.params)
            except ModelError:  # no model: the node reports it when it runs
                return None
            self._content_key = None if fingerprint is None else node_key(self._frame, self._step, fingerprint)
            self._key_is_final = not self._step.reads_state
        return self._content_key

    @cached_property
    def models(self) -> JournalledModels:
        return JournalledModels(self._frame, self._step, self._past, self.report)

    @property
    def node(self) -> Node:
        return self._node

    @property
    def path(self) -> NodeId:
        return self._path

    @property
    def names(self) -> Mapping[str, Any]:
        return self._frame.names

    def names_at(self, moment: str) -> Mapping[str, Any]:
        return NamesAtMoment(self._frame.names, partial(self._state_at, moment))

    def _state_at(self, moment: str) -> Mapping[str, Any]:
        """The state at a moment.

        It is queued for the log before it is used, so the log contains it whenever it contains a result.
        """
        if moment not in self._past.seen:
            seen = self._past.seen[moment] = self._frame.state.view(prompt=True)
            self._ports.journal.post(self.report.event("state-seen", moment=moment, state=seen))
        return self._past.seen[moment]

    @property
    def depth(self) -> int:
        return self._frame.depth

    @property
    def memory(self) -> DualState:
        return self._frame.state

    def bind(self, value: Any) -> Any:
        return resolve(value, self._frame.names)

    def resolve(self, blocks: Blocks, answers: Sequence[tuple[str, str]] = ()) -> str:
        answered = dict(answers)
        parts: list[str] = []
        for block in blocks:
            if isinstance(block, TextBlock):
                text = fill(block.text, self._frame.names, self._text)
            elif isinstance(block, InquiryBlock):
                text = answered.get(block.question, "")
            else:
                text = self._text(block.node) or "" if block.frozen is None else block.frozen
            parts.append(labelled(block.part, text, self._language))
        workflow = self._frame.workflow
        return workflow.join.join(part for part in parts if part or not workflow.skip_empty)

    @property
    def _language(self) -> str:
        """The language of the book, or of the workflow if the run has no book."""
        project = self._frame.names.get("project")
        book = project.get("language", "") if isinstance(project, Mapping) else ""
        return str(book) or self._frame.workflow.language

    def _text(self, node: NodeId) -> str | None:
        output = self._frame.output(node)
        return None if output is None else output.text

    def placed(self, prompt: str, injection: Injection) -> Message:
        if self._frame.workflow.context_at == "after":
            return Message("user", "\n".join(part for part in (prompt, injection.user_suffix) if part))
        content = "\n\n".join(part for part in (injection.user_suffix, prompt.rstrip("\n")) if part)
        ends = sorted({injection.stable, len(injection.user_suffix)} - {0})
        return Message("user", content, stable=tuple(ends))

    async def body(self, body: Body, part: str, names: Mapping[str, Any] | None = None) -> Mapping[NodeId, Output]:
        around = self._frame
        inside = Frame(
            scope=self._scope,
            plan=plan(body.nodes, body.edges, outside=around.has_node),
            workflow=around.workflow,
            values={**around.values, **(names or {})},
            state=around.state,
            path=f"{self._path}/{part}/",
            state_of=around.state_of,
            outer=around,
            depth=around.depth,
            rank=self.report.rank,
        )
        await self._host.execute_inside(inside, self._path)
        return inside.outputs

    async def flow(
        self, workflow: Workflow, part: str, inputs: Mapping[str, Any], *, own_state: bool
    ) -> Mapping[NodeId, Output]:
        around, path = self._frame, f"{self._path}/{part}/"
        state = around.state
        if own_state:
            again(state := DualState(), self._scope.effects.get(path, {}))
        inside = Frame(
            scope=self._scope,
            plan=plan(workflow.nodes, workflow.edges),
            workflow=workflow,
            values={**self._scope.values, "input": dict(inputs)},
            state=state,
            path=path,
            state_of=path if own_state else around.state_of,
            depth=around.depth + 1,
            rank=self.report.rank,
        )
        await self._host.execute_inside(inside, self._path)
        return inside.outputs

    def iteration(self, number: int, total: int, kind: IterationKind, candidates: int = 0) -> None:
        values: dict[str, Any] = {"iteration": number, "total": total, "kind": kind, "candidates": candidates}
        self._ports.journal.post(self.report.event("iteration", round=values))
        self._ports.emit(NodeIteration(self._scope.id, self._path, **values))

    async def hold(self) -> None:
        await self._ports.limits.work.acquire(self.report.rank)
        self._holds = True

    def let_go(self) -> None:
        """Releases the slot that the kind holds, if any."""
        if self._holds:
            self._holds = False
            self._ports.limits.work.release()

    def streamed(self, number: int) -> StreamedText:
        return StreamedText(self._scope, self._path, number)

    async def workflow(self, reference: str) -> Workflow:
        return await self._actions.workflow(reference)

    @property
    def acted(self) -> int:
        return self._past.acted

    async def acts(self) -> None:
        await self._ports.journal.record(self.report.event("act-started"))

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        return await self._actions.act(action, params, approved=approved)

    def gated(self, action: str) -> bool:
        return self._actions.gated(action)

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self._actions.call(function, item)

    @property
    def _actions(self) -> ActionsPort:
        if self._ports.actions is None:
            raise RunError(_("Actions and other workflows cannot be used here."))
        return self._ports.actions

    async def ask(
        self,
        kind: QuestionKind,
        reason: str,
        *,
        attempts: Sequence[Attempt] = (),
        proposal: str = "",
        required: bool = False,
        choices: Sequence[Choice] = (),
        blind: bool = False,
        part: str = "",
    ) -> Decision:
        identity = [self._scope.id, self._path, kind, len(attempts), *([part] if part else [])]
        identity += [self._ports.seal] if kind in SEALED else []
        question = Question(
            id=QuestionId(digest_of(identity)[:16]),
            run=self._scope.id,
            node=self._path,
            kind=kind,
            reason=reason,
            asked_at=self._ports.now(),
            attempts=tuple(attempt.number for attempt in attempts),
            proposal=proposal,
            required=required,
            options=OPTIONS[kind],
            node_title=self._node.title,
            chapter=self._scope.request.chapter,
            choices=tuple(choices),
            blind=blind,
        )
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._scope.waiting[question.id] = self._path, answer
        try:
            if (given := await self._ports.journal.decision(question.id)) is not None:
                return given
            if self._past.question != question.id:
                payload: dict[str, Any] = {"question": to_plain(question)}
                if self._asks_under:
                    payload["under"] = self._asks_under
                await self._ports.journal.ask(question, self.report.event("asked", **payload))
            self.report.state("waiting", reason)
            self._host.waits(self._path)
            last = self._past.attempts.get(attempts[-1].number) if attempts else None
            self._ports.emit(NodeNeedsHuman(question, last.evaluated() if last else None))
            return await self._answered(answer)
        finally:
            self._scope.waiting.pop(question.id, None)

    async def ask_at_limit(self, reached: LimitReached) -> None:
        """Asks a person once, on behalf of all nodes of the run. Raises BudgetExceeded when the person ends the
        spending here.
        """
        self.report.state("waiting", reached.title)
        self._host.waits(self._path)
        async with self._scope.limit_turn:
            self._host.goes_on(self._path)
            if self._scope.continues and not (reached.cut or self._scope.continue_agreed):
                self._scope.continue_agreed = True  # the person has just asked to continue the text
                await self._ports.spend.answered(self._scope.id, reached, more=True)
            if not self._ports.spend.fits(reached):
                if self._scope.limit_refused:
                    raise _ended(reached)
                reason = sentences(reached.title, reached.detail)
                decision = await self.ask("limit", reason, required=True, part=f"limit {reached.number}")
                await self._ports.spend.answered(self._scope.id, reached, more=decision.kind == "approve")
                if decision.kind != "approve":
                    self._scope.limit_refused = True
                    raise _ended(reached)
        self.report.state("running")

    def call_waits(self, seconds: float, reason: str, attempt: int) -> None:
        self.report.call_waits(seconds, reason, attempt)

    async def ask_once(self, about: Any, ask: Callable[[], Awaitable[Decision]]) -> Decision:
        key = digest_of([self._step.digest, self._frame.workflow.join, "asked", about])
        stored = None if self.report.wanted_again else await self._ports.journal.outcome(key)
        if stored is not None:
            return from_json(Decision, stored.text)
        self._asks_under = key
        try:
            decision = await ask()
        finally:
            self._asks_under = None
        if decision.kind == "reject":
            return decision
        kept = to_json(decision)
        result = StoredResult(key=key, text=kept, digest=digest(kept), author="human", form="json")
        await self._ports.journal.remember_outcome(key, result)
        return decision

    async def _answered(self, answer: asyncio.Future[Decision]) -> Decision:
        had_slot = self._holds
        self.let_go()
        decision = await answer
        if had_slot:
            await self.hold()
        return decision

    async def edited(self, text: str, number: int) -> Attempt:
        key = digest_of([self._kind.name, self._kind.version, "human", text])
        attempt = Attempt(number=number, text=text, digest=digest(text), key=key, author="human")
        self._scope.edited.add(self._path)
        await self._ports.journal.keep_result(
            stored_result(key, attempt),
            self.report.event("attempt-started", number, key=key),
            self.report.event("attempt-done", number, **done_payload(attempt)),
        )
        return attempt


def _ended(reached: LimitReached) -> BudgetExceeded:
    return BudgetExceeded(_("You ended the run before it could exceed its limit."), reached.detail, reached.advice)
