"""Commands and events of runs."""

from __future__ import annotations

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, QuestionId, RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.run import Decision, Evaluation, IterationKind, NodeState, Question, RunRequest, RunState
from flowcabal_tui.protocol.base import Command, Event


class RunWorkflow(Command, type="workflow:run"):
    """Starts a run."""

    request: RunRequest


class ResumeRun(Command, type="workflow:resume"):
    """Resumes a run that ended early; `continues`: cut-off texts are continued, not written from the start."""

    run: RunId
    continues: bool = False


class CancelRun(Command, type="workflow:cancel", when="at once"):
    """Stops a run or a node at once; partial text stays. With `branch` all nodes that depend on it are stopped too."""

    run: RunId
    node: NodeId | None = None
    branch: bool = False


class AdvanceRun(Command, type="workflow:advance"):
    """In step mode: begins the next level."""

    run: RunId


class Decide(Command, type="human:decision"):
    """Answers a question."""

    question: QuestionId
    decision: Decision


class RunStarted(Event, type="run:started"):
    """A run began or was resumed."""

    run: RunId
    workflow: str
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...]
    resumed: bool = False


class NodeStarted(Event, type="node:started"):
    """An attempt began; the display of an earlier attempt must be cleared."""

    run: RunId
    node: NodeId
    name: str
    attempt: int
    receipt: Receipt | None = None


class NodeStreaming(Event, type="node:streaming"):
    """A piece of text at a character offset of an attempt; pieces may be coalesced."""

    run: RunId
    node: NodeId
    attempt: int
    offset: int
    chunk: str


class NodeThinking(Event, type="node:thinking"):
    """A piece of the model's reasoning."""

    run: RunId
    node: NodeId
    attempt: int
    chunk: str


class NodeRetrying(Event, type="node:retrying"):
    """A model call waits before it is sent again; cancelling the run or node ends the wait."""

    run: RunId
    node: NodeId
    seconds: float
    reason: str
    attempt: int


class NodeIteration(Event, type="node:iteration"):
    """A round of a recursion or an evolution begins: round `iteration` of at most `total`, counted from 1.

    `candidates` is how many texts a round of an evolution writes; 0 in a recursion.
    """

    run: RunId
    node: NodeId
    iteration: int
    total: int
    kind: IterationKind
    candidates: int = 0


class NodeEvaluated(Event, type="node:evaluated"):
    """The Monitor has checked an attempt, also one that is retried; `NodeCompleted` repeats that of the final one."""

    run: RunId
    node: NodeId
    attempt: int
    evaluation: Evaluation


class NodeStateChanged(Event, type="node:state"):
    """The state of a node changed."""

    run: RunId
    node: NodeId
    state: NodeState
    detail: str = ""


class NodeCompleted(Event, type="node:completed"):
    """An output is final. `receipt` has the context's sources (`contextSources` in the design); `errors` are those of
    single items."""

    run: RunId
    node: NodeId
    attempt: int
    output: str
    cached: bool
    evaluation: Evaluation | None = None
    receipt: Receipt | None = None
    errors: tuple[str, ...] = ()


class NodeNeedsHuman(Event, type="node:needs-human"):
    """A question waits."""

    question: Question
    evaluation: Evaluation | None = None


class QuestionAnswered(Event, type="human:decided"):
    """A question no longer waits."""

    question: QuestionId
    decision: Decision


class WorkflowCompleted(Event, type="workflow:completed"):
    """A run ended successfully and has no open question: the outputs of its last nodes."""

    run: RunId
    outputs: tuple[tuple[NodeId, str], ...]


class WorkflowFailed(Event, type="workflow:error"):
    """A node failed; nodes that do not depend on it continued."""

    run: RunId
    error: str
    detail: str = ""
    advice: str = ""
    node: NodeId | None = None
    by_model: bool = False


class RunStateChanged(Event, type="run:state"):
    """The state of a run changed."""

    run: RunId
    state: RunState


class UsageChanged(Event, type="usage:changed"):
    """The total spending of this project, and of the run that paid for the last call."""

    totals: Totals
    run: RunId | None = None
    of_run: Totals | None = None
