"""The state of a run: a fold over its events, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flowcabal_tui.domain.codec import from_plain
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId
from flowcabal_tui.domain.items import Form
from flowcabal_tui.domain.journal import RunEvent, made_in, served_nodes
from flowcabal_tui.domain.run import Attempt, Evaluation, NodeState, RunState
from flowcabal_tui.domain.state import StateEffect


@dataclass(slots=True)
class AttemptFold:
    """An attempt as recorded in the log."""

    number: int
    started: Mapping[str, Any] = field(default_factory=dict)
    done: Mapping[str, Any] = field(default_factory=dict)
    booked: bool = False
    """True when the cost of its last try is booked although the try gave no answer."""
    stopped: bool = False
    """True when its last try was stopped because the run reached its limit."""
    unplaced: bool = False
    """True when an answer with single paragraphs was paid for but could not be placed."""
    evaluation: dict[str, Any] | None = None

    @property
    def key(self) -> Digest | None:
        value = self.done.get("key") or self.started.get("key")
        return Digest(value) if value else None

    def evaluated(self) -> Evaluation | None:
        return from_plain(Evaluation, self.evaluation) if self.evaluation else None

    def attempt(self, text: str) -> Attempt:
        """The attempt as a value; `text` is that of its digest, or the partial one."""
        receipt = self.started.get("receipt")
        made = made_in(self.done)
        made["key"], made["model"] = self.key or "", made.get("model") or self.started.get("model", "")
        return Attempt(
            number=self.number,
            text=text,
            cached=self.done.get("cached", False),
            feedback=self.started.get("feedback", ""),
            of=self.started.get("of", 0),
            paragraphs=tuple(self.started.get("paragraphs", ())),
            evaluation=self.evaluated(),
            receipt=from_plain(Receipt, receipt) if receipt else None,
            complete=bool(self.done),
            **made,
        )


@dataclass(slots=True)
class NodeFold:
    """A node as recorded in the log."""

    state: NodeState = "pending"
    attempts: dict[int, AttemptFold] = field(default_factory=dict)
    chosen: int = 0
    digest: Digest = Digest("")
    """The digest of the current output."""
    form: Form = "text"
    acted: int = 0
    """The number of times it may have had effects outside the program: repeating it needs a person's decision."""
    question: QuestionId | None = None
    error: str = ""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The state as it saw it, by moment."""

    def attempt(self, number: int) -> AttemptFold:
        return self.attempts.setdefault(number, AttemptFold(number))


@dataclass(slots=True)
class RunFold:
    """A run as its log describes it; without a `run-ended` event it is "running", in any process."""

    state: RunState = "running"
    nodes: dict[NodeId, NodeFold] = field(default_factory=dict)
    effects: dict[str, dict[NodeId, StateEffect]] = field(default_factory=dict)
    """Changes of the state by nodes, in order, by the path of the graph that the state belongs to."""

    def node(self, node: NodeId) -> NodeFold:
        known = self.nodes.get(node)
        if known is None:
            known = self.nodes[node] = NodeFold()
        return known


def fold(events: Iterable[RunEvent]) -> RunFold:
    """Folds a log, whose events are in order and occur once."""
    run = RunFold()
    for event in events:
        _apply(run, event)
    return run


def _apply(run: RunFold, event: RunEvent) -> None:
    payload = event.payload
    if event.kind == "run-resumed":
        run.state = "running"
        for known in run.nodes.values():
            if known.state not in ("done", "skipped", "waiting"):
                known.state, known.error = "pending", ""
        return
    if event.kind == "run-ended":
        run.state = payload["state"]
        for known in run.nodes.values():  # open questions are withdrawn
            known.question = None
            known.state = "pending" if known.state == "waiting" else known.state
        return
    if event.kind == "nodes-served":
        for path, served in served_nodes(payload).items():
            _served(run.node(path), served)
    if not event.node:
        return
    node = run.node(event.node)
    match event.kind:
        case "act-started":
            node.state, node.acted = "running", node.acted + 1
        case "attempt-started":
            attempt = node.attempt(event.attempt)
            attempt.started, attempt.booked, attempt.stopped = payload, False, False
            node.state = "running"
        case "attempt-cut":
            attempt = node.attempt(event.attempt)
            attempt.booked, attempt.stopped = True, bool(payload.get("stopped"))
            attempt.unplaced = attempt.unplaced or bool(payload.get("unplaced"))
        case "attempt-done":
            node.attempt(event.attempt).done = payload
        case "evaluated":
            node.attempt(event.attempt).evaluation = payload["evaluation"]
        case "asked":
            node.state, node.question = "waiting", QuestionId(payload["question"]["id"])
        case "answered":
            node.state, node.question = "running", None
        case "node-done":
            node.state, node.chosen = "done", event.attempt
            node.digest, node.form = Digest(payload.get("digest", "")), payload.get("form", "text")
            if "effect" in payload:
                of = run.effects.setdefault(payload.get("state", ""), {})
                of[event.node] = from_plain(StateEffect, payload["effect"])
        case "state-seen":
            node.seen.setdefault(payload["moment"], payload["state"])
        case "node-skipped":
            node.state = "skipped"
        case "node-failed":
            node.acted = 0
            node.state, node.error = "failed", "\n".join(filter(None, (payload["title"], payload["detail"])))
        case "node-blocked":
            node.state = "blocked"
        case "cancelled":
            node.state, node.question = "cancelled", None


def _served(node: NodeFold, served: Mapping[str, Any]) -> None:
    node.state, node.digest, node.form = "done", Digest(served["digest"]), served["form"]
    if "key" in served:
        node.chosen = 1
        node.attempt(1).done = served
