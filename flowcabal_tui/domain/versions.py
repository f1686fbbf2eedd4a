"""The outputs of a node over all runs, the current one, and what is out of date (DESIGN 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import Digest, NodeId, RunId
from flowcabal_tui.domain.items import Form
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import Message, Usage
from flowcabal_tui.domain.run import Evaluation, Made, NodeState, RunRequest, RunSummary
from flowcabal_tui.domain.workflow import Workflow

StaleKind = Literal["direct", "propagated"]
"""direct: the node itself was changed; propagated: something above it was."""
StaleReason = Literal["edited", "output"]
"""edited: the parameters of the source were changed; output: the source gave, or was given, another output."""


@dataclass(frozen=True, slots=True)
class NodeVersion(Made):
    """One output that a node gave or was given; its text is asked for by the digest, its prompt by `VersionTrace`.

    `number` counts from 1, oldest first. `key` is that of the request and sample. `run` is "" for what a person wrote
    outside of a run; `attempt` is 0 for a node that makes none. An output that was served from an earlier run is no
    version of its own.
    """

    number: int
    node: NodeId
    at: datetime
    run: RunId
    attempt: int = 0
    evaluation: Evaluation | None = None
    stood: bool = False
    """It was the output of its run."""
    current: bool = False
    """It stands for the node now."""
    chosen: bool = False
    """It stands because a person selected or wrote it."""
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class StandingOutput:
    """The current output of a node of a workflow, for a chapter: of the last run, or what a person chose."""

    node: NodeId
    digest: Digest
    form: Form
    at: datetime
    frozen: bool = False
    """Later runs take it and do not run the node."""
    chosen: bool = False
    run: RunId = RunId("")
    """Where it was made; "" when it was written by hand."""
    made: Digest = Digest("")
    """Of the kind and parameters with which it was made."""


@dataclass(frozen=True, slots=True)
class StaleMark:
    """A node whose output is out of date, and the nodes whose change made it so."""

    node: NodeId
    kind: StaleKind
    sources: tuple[tuple[NodeId, StaleReason], ...]


@dataclass(frozen=True, slots=True)
class NodeStanding:
    """A node of the newest document with what is known of it, for the graph."""

    node: NodeId
    output: StandingOutput | None
    stale: StaleMark | None


@dataclass(frozen=True, slots=True)
class WorkflowVersion:
    """A saved document of a workflow, without its text."""

    reference: str
    version: int
    name: str
    nodes: int
    at: datetime


@dataclass(frozen=True, slots=True)
class NodeTrace:
    """What became of a node in one run: attempts, tokens, seconds of work. `served`: taken from an earlier run."""

    node: NodeId
    state: NodeState
    attempts: int = 0
    served: bool = False
    models: tuple[str, ...] = ()
    seconds: float = 0.0
    usage: Usage = Usage()
    error: str = ""
    item_errors: tuple[str, ...] = ()
    """What went wrong with single items, while the node itself did not fail."""


@dataclass(frozen=True, slots=True)
class RunDetails:
    """A run with its request, its document, its nodes in order of first mention, and what it has cost."""

    summary: RunSummary
    request: RunRequest
    workflow: Workflow
    nodes: tuple[NodeTrace, ...]
    totals: Totals


@dataclass(frozen=True, slots=True)
class SentLayer:
    """A part of a request: `turn` counts its messages from 1; `template` is what the part was made from.

    `kind`: text of the blocks, of the Context agent, or a turn of a retry, which has no template.
    """

    turn: int
    role: str
    kind: Literal["blocks", "context", "retry"]
    template: str
    sent: str


@dataclass(frozen=True, slots=True)
class VersionTrace:
    """How an attempt came about: what was sent, made again from the log, and what the Context agent had put in."""

    messages: tuple[Message, ...]
    exact: bool
    """The request has the key that was paid for; else the book has changed under it since."""
    sample: int = 0
    """Which of the equal requests it was, from 0."""
    feedback: str = ""
    receipt: Receipt | None = None
    layers: tuple[SentLayer, ...] = ()
    kept: bool = False
    """These are the messages as they went out, which the project has kept."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action as the registry shows it. `score` is 0 when nothing was searched."""

    id: str
    name: str
    domain: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)
    gated: bool = False
    score: float = 0.0
