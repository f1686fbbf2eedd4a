"""The log of a run, event by event, and paid results: the store keeps both and the runner folds the log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from flowcabal_tui.domain.codec import from_plain
from flowcabal_tui.domain.ids import Digest, NodeId, RunId
from flowcabal_tui.domain.items import Form
from flowcabal_tui.domain.model_calls import Finish, Usage
from flowcabal_tui.domain.run import MADE, OutputAuthor

EventKind = Literal[
    "run-started",
    "run-resumed",
    "act-started",
    "attempt-started",
    "attempt-cut",
    "attempt-reset",
    "retry-wait",
    "attempt-done",
    "evaluated",
    "iteration",
    "asked",
    "answered",
    "node-done",
    "nodes-served",
    "state-seen",
    "node-skipped",
    "node-failed",
    "node-blocked",
    "cancelled",
    "run-ended",
]


class RunEvent(NamedTuple):
    """One line of a run's log. The state of a run is the fold of its events, in order of `seq`.

    `payload` by kind:

    act-started: from this event on the node may have had effects outside the program
    attempt-started: {key, receipt, model}
    attempt-cut: it ended without an answer, and its cost is booked
    attempt-reset: {partial}: the streamed text of an earlier try is set aside
    attempt-done: {digest, key, cached, stands: taken over as the outcome of an earlier run}
    evaluated: {evaluation}
    iteration: {round: {iteration, total, kind, candidates}}: a round begins
    asked: {question, under: the key under which its answer is remembered, if it is}; answered: {question, decision}
    node-done: {digest, keys: under which later runs find it} of an attempt, or {digest, form, keys, seconds, effect} of
        a node that makes none
    nodes-served: {nodes: {path: ...}}, taken from earlier runs: read it with `served_nodes`
    state-seen: {moment, state}: the state that a re-entered node must see again
    node-failed: {title, detail, fault}; cancelled: {partial}; run-ended: {state}
    """

    run: RunId
    kind: EventKind
    node: NodeId = NodeId("")
    attempt: int = 0
    payload: Mapping[str, Any] = {}  # read by all, changed by nobody
    seq: int = 0
    at: datetime | None = None


def served_nodes(payload: Mapping[str, Any]) -> dict[NodeId, Mapping[str, Any]]:
    """The outputs in a `nodes-served` payload by path: {digest, form, ...}; for a plain text only its digest."""
    return {
        NodeId(node): {"digest": served, "form": "text"} if isinstance(served, str) else served
        for node, served in payload["nodes"].items()
    }


class StoredResult(NamedTuple):
    """A paid output under its content key: the fields of `Made` as a tuple, since every node of a run reads it."""

    key: Digest
    text: str
    digest: Digest
    model: str = ""
    author: OutputAuthor = "model"
    finish: Finish = "stop"
    usage: Usage = Usage()
    seconds: float = 0.0
    form: Form = "text"


def made_in(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Made` in the payload of an attempt or a node."""
    found = {name: payload[name] for name in MADE if name in payload}
    return found | {"usage": from_plain(Usage, payload["usage"])} if found.pop("usage", None) else found
