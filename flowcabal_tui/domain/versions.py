"""The outputs of a node over all runs, its current output, and outputs that are out of date."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import Digest, NodeId, RunId
from flowcabal_tui.domain.items import Form
from flowcabal_tui.domain.model_calls import Message, Usage
from flowcabal_tui.domain.run import Evaluation, Made, NodeState
from flowcabal_tui.domain.value_class import dataclass

StaleKind = Literal["direct", "propagated"]
"""direct: the node itself was changed; propagated: a node above it was."""
StaleReason = Literal["edited", "output"]
"""edited: the parameters of the source were changed; output: the source has another output."""


@dataclass(frozen=True, slots=True)
class NodeVersion(Made):
    """One output that a node made or was given; its text is read by the digest, its prompt by `VersionTrace`.

    `number` counts from 1, oldest first. `key` is that of the request and sample. `run` is "" for a text that a person
    wrote outside a run; `attempt` is 0 for a node without attempts. An output served from an earlier run is not counted
    as a version again.
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
    """It is the node's current output."""
    chosen: bool = False
    """It is current because a person selected or wrote it."""
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class CurrentOutput:
    """The current output of a node of a workflow, for a chapter: that of the last run, or a person's choice."""

    node: NodeId
    digest: Digest
    form: Form
    at: datetime
    frozen: bool = False
    """Later runs take it instead of running the node."""
    chosen: bool = False
    run: RunId = RunId("")
    """The run that made it; "" when it was written by hand."""
    made: Digest = Digest("")
    """The kind and parameters that made it."""


@dataclass(frozen=True, slots=True)
class StaleMark:
    """A node whose output is out of date, and the nodes whose change made it so."""

    node: NodeId
    kind: StaleKind
    sources: tuple[tuple[NodeId, StaleReason], ...]


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A node of the newest document with its output and its mark, for the graph."""

    node: NodeId
    output: CurrentOutput | None
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
    """A node in one run: attempts, tokens, seconds of work. `served`: its output came from an earlier run."""

    node: NodeId
    state: NodeState
    attempts: int = 0
    served: bool = False
    models: tuple[str, ...] = ()
    seconds: float = 0.0
    usage: Usage = Usage()
    error: str = ""
    item_errors: tuple[str, ...] = ()
    """Errors of single items in a node that did not fail."""


@dataclass(frozen=True, slots=True)
class SentLayer:
    """A part of a request: `turn` counts its messages from 1; `template` is the source of the part.

    `kind`: text of the blocks, of the Context agent, or a turn of a retry, which has no template.
    """

    turn: int
    role: str
    kind: Literal["blocks", "context", "retry"]
    template: str
    sent: str


@dataclass(frozen=True, slots=True)
class VersionTrace:
    """The input of an attempt: the messages sent, rebuilt from the log, and the Context agent's receipt."""

    messages: tuple[Message, ...]
    exact: bool
    """The rebuilt request has the key that was paid for; otherwise the book has changed since."""
    sample: int = 0
    """The index among equal requests, from 0."""
    feedback: str = ""
    receipt: Receipt | None = None
    layers: tuple[SentLayer, ...] = ()
    kept: bool = False
    """The messages are the originals, which the project has kept."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action as the registry lists it. `score` is 0 without a search."""

    id: str
    name: str
    domain: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)
    gated: bool = False
    score: float = 0.0
