"""Commands and events of runs."""

from __future__ import annotations

from typing import ClassVar

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, QuestionId, RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.run import Decision, Evaluation, IterationKind, NodeState, Question, RunRequest, RunState
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class RunWorkflow(Command):
    """Starts a run."""

    type: ClassVar[str] = "workflow:run"
    request: RunRequest


@dataclass(frozen=True, slots=True)
class ResumeRun(Command):
    """Resumes a run that ended early; `continues`: cut-off texts are continued, not written from the start."""

    type: ClassVar[str] = "workflow:resume"
    run: RunId
    continues: bool = False


@dataclass(frozen=True, slots=True)
class CancelRun(Command):
    """Stops a run or a node at once; partial text stays. With `branch` all nodes that depend on it are stopped too."""

    type: ClassVar[str] = "workflow:cancel"
    order: ClassVar[Order] = "at once"
    run: RunId
    node: NodeId | None = None
    branch: bool = False


@dataclass(frozen=True, slots=True)
class AdvanceRun(Command):
    """In step mode: begins the next level."""

    type: ClassVar[str] = "workflow:advance"
    run: RunId


@dataclass(frozen=True, slots=True)
class Decide(Command):
    """Answers a question."""

    type: ClassVar[str] = "human:decision"
    question: QuestionId
    decision: Decision


@event
class RunStarted(Event):
    """A run began or was resumed."""

    type: ClassVar[str] = "run:started"
    run: RunId
    workflow: str
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...]
    resumed: bool = False


@event
class NodeStarted(Event):
    """An attempt began; the display of an earlier attempt must be cleared."""

    type: ClassVar[str] = "node:started"
    run: RunId
    node: NodeId
    name: str
    attempt: int
    receipt: Receipt | None = None


@event
class NodeStreaming(Event):
    """A piece of text at a character offset of an attempt; pieces may be coalesced."""

    type: ClassVar[str] = "node:streaming"
    run: RunId
    node: NodeId
    attempt: int
    offset: int
    chunk: str


@event
class NodeThinking(Event):
    """A piece of the model's reasoning."""

    type: ClassVar[str] = "node:thinking"
    run: RunId
    node: NodeId
    attempt: int
    chunk: str


@event
class NodeRetrying(Event):
    """A model call waits before it is sent again; cancelling the run or node ends the wait."""

    type: ClassVar[str] = "node:retrying"
    run: RunId
    node: NodeId
    seconds: float
    reason: str
    attempt: int


@event
class NodeIteration(Event):
    """A round of a recursion or an evolution begins: round `iteration` of at most `total`, counted from 1.

    `candidates` is how many texts a round of an evolution writes; 0 in a recursion.
    """

    type: ClassVar[str] = "node:iteration"
    run: RunId
    node: NodeId
    iteration: int
    total: int
    kind: IterationKind
    candidates: int = 0


@event
class NodeEvaluated(Event):
    """The Monitor has checked an attempt, also one that is retried; `NodeCompleted` repeats that of the final one."""

    type: ClassVar[str] = "node:evaluated"
    run: RunId
    node: NodeId
    attempt: int
    evaluation: Evaluation


@event
class NodeStateChanged(Event):
    """The state of a node changed."""

    type: ClassVar[str] = "node:state"
    run: RunId
    node: NodeId
    state: NodeState
    detail: str = ""


@event
class NodeCompleted(Event):
    """An output is final. `contextSources` of the design are in the receipt; `errors` are those of single items."""

    type: ClassVar[str] = "node:completed"
    run: RunId
    node: NodeId
    attempt: int
    output: str
    cached: bool
    evaluation: Evaluation | None = None
    receipt: Receipt | None = None
    errors: tuple[str, ...] = ()


@event
class NodeNeedsHuman(Event):
    """A question waits."""

    type: ClassVar[str] = "node:needs-human"
    question: Question
    evaluation: Evaluation | None = None


@event
class QuestionAnswered(Event):
    """A question no longer waits."""

    type: ClassVar[str] = "human:decided"
    question: QuestionId
    decision: Decision


@event
class WorkflowCompleted(Event):
    """A run ended successfully and has no open question: the outputs of its last nodes."""

    type: ClassVar[str] = "workflow:completed"
    run: RunId
    outputs: tuple[tuple[NodeId, str], ...]


@event
class WorkflowFailed(Event):
    """A node failed; nodes that do not depend on it continued."""

    type: ClassVar[str] = "workflow:error"
    run: RunId
    error: str
    detail: str = ""
    advice: str = ""
    node: NodeId | None = None
    by_model: bool = False


@event
class RunStateChanged(Event):
    """The state of a run changed."""

    type: ClassVar[str] = "run:state"
    run: RunId
    state: RunState


@event
class UsageChanged(Event):
    """The total spending of this project, and of the run that paid for the last call."""

    type: ClassVar[str] = "usage:changed"
    totals: Totals
    run: RunId | None = None
    of_run: Totals | None = None
