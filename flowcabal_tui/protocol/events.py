"""What a project tells its guests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar, dataclass_transform

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, CommandId, NodeId, OutputId, QuestionId, RunId
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Totals
from flowcabal_tui.domain.run import AngleCheck, Decision, Evaluation, IterationKind, NodeState, Question, RunState

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def event(kind: type[T]) -> type[T]:
    """A value that the type checker knows as frozen. At run time it is not: that would make it four times as slow to
    make, and a run tells two for each node."""
    return dataclass(slots=True, unsafe_hash=True)(kind)


@event
class Event:
    """Base of what a project tells."""

    type: ClassVar[str] = ""


@event
class CommandDone(Event):
    """A command was carried out. `result` is the id of what it made, if it made something."""

    type: ClassVar[str] = "command:done"
    command: CommandId
    result: str = ""


@event
class CommandFailed(Event):
    """A command was refused or failed and changed nothing."""

    type: ClassVar[str] = "command:failed"
    command: CommandId
    title: str
    detail: str = ""
    advice: str = ""


@event
class Status(Event):
    """The state of the project as a whole."""

    type: ClassVar[str] = "status"
    status: Literal["connected", "error", "closing"]
    message: str = ""


@event
class KnowledgeStatus(Event):
    """The state of the knowledge server; `down` never stops anything else."""

    type: ClassVar[str] = "knowledge:status"
    state: Literal["off", "absent", "starting", "ready", "restarting", "failed", "external", "stopped", "asks"]
    message: str = ""


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
    """An attempt began; what was shown of an earlier attempt is to be cleared."""

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
    """A node is in another state."""

    type: ClassVar[str] = "node:state"
    run: RunId
    node: NodeId
    state: NodeState
    detail: str = ""


@event
class NodeCompleted(Event):
    """An output is final. `contextSources` of the design are in the receipt; `errors` tell of single items."""

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
    """A run ended well or waits for nobody: the outputs of its last nodes."""

    type: ClassVar[str] = "workflow:completed"
    run: RunId
    outputs: tuple[tuple[NodeId, str], ...]


@event
class WorkflowFailed(Event):
    """A node failed; what did not depend on it went on."""

    type: ClassVar[str] = "workflow:error"
    run: RunId
    error: str
    detail: str = ""
    advice: str = ""
    node: NodeId | None = None
    by_model: bool = False


@event
class RunStateChanged(Event):
    """A run is in another state."""

    type: ClassVar[str] = "run:state"
    run: RunId
    state: RunState


@event
class MarksChanged(Event):
    """What stands, is frozen or is stale among the nodes of a workflow changed (None: for all chapters): ask again."""

    type: ClassVar[str] = "marks:changed"
    workflow: str
    """Its id, without a version."""
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...] = ()


@event
class WorkflowSaved(Event):
    """A document was stored as a new version."""

    type: ClassVar[str] = "workflow:saved"
    workflow: str
    """`id@version`."""


@event
class OutputPersisted(Event):
    """Text is safe in the store (and `created` tells whether it was new)."""

    type: ClassVar[str] = "output:persisted"
    output: OutputId
    chapter: ChapterId | None
    version: int
    created: bool
    node: NodeId | None = None


@event
class OutputChecked(Event):
    """Advice about kept text: contradictions and the 4-D test. Never a veto."""

    type: ClassVar[str] = "output:checked"
    chapter: ChapterId
    version: int
    checks: tuple[AngleCheck, ...]
    advice: tuple[str, ...] = ()


@event
class OutputDeleted(Event):
    """A kept output left the memory, or came back."""

    type: ClassVar[str] = "output:deleted"
    output: OutputId
    restored: bool = False


@event
class TextPurged(Event):
    """A text is out of the project's tables: so many versions, runs, derived texts and answers of agents went with it.

    `pending` says, in the user's language, why its words are still in a file of the project: `PurgeFinished` follows.
    `left` are files that hold it and are not this program's to change, backups among them.
    """

    type: ClassVar[str] = "memory:purged"
    chapter: ChapterId | None
    versions: int
    runs: int
    derived: int
    answers: int
    pending: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@event
class PurgeFinished(Event):
    """What delayed a purge is over: its words are in no file that the program writes."""

    type: ClassVar[str] = "memory:purge-finished"


@event
class RebuildProgress(Event):
    """So many chapters of the index were looked at; `wrong` tells, at the end, in how many something was put right."""

    type: ClassVar[str] = "memory:progress"
    done: int
    total: int
    wrong: int = 0


@event
class BookChanged(Event):
    """Chapters, meta texts or entities changed; lists are to be read again."""

    type: ClassVar[str] = "book:changed"
    chapter: ChapterId | None = None


@event
class ProfileUpdated(Event):
    """Derived texts are new."""

    type: ClassVar[str] = "profile:updated"
    profiles: tuple[tuple[str, str, str], ...]
    """Each (kind, name, uri)."""


@event
class RewriteProposed(Event):
    """Another version of a selection, to be accepted or not."""

    type: ClassVar[str] = "rewrite:proposed"
    command: CommandId
    chapter: ChapterId
    start: int
    end: int
    before: str
    after: str
    model: str = ""
    instruction: str = ""


@event
class BackgroundChanged(Event):
    """How the background work stands: counts by state, and the task that changed.

    `owed` counts apart what the knowledge server has still to be told, whether it is there or not.
    """

    type: ClassVar[str] = "background:changed"
    counts: tuple[tuple[str, int], ...]
    task: BackgroundTask | None = None
    owed: tuple[tuple[str, int], ...] = ()


@event
class UsageChanged(Event):
    """What was spent so far in this project."""

    type: ClassVar[str] = "usage:changed"
    totals: Totals


@event
class OutsideEdit(Event):
    """A mirrored chapter file was changed outside; the change is offered as a new version."""

    type: ClassVar[str] = "chapter:outside-edit"
    chapter: ChapterId
    path: str


@event
class BootstrapChanged(Event):
    """The reading of imported chapters went on, paused or ended."""

    type: ClassVar[str] = "bootstrap:status"
    status: BootstrapStatus


@event
class ImportProgress(Event):
    """How far an import is."""

    type: ClassVar[str] = "manuscript:progress"
    done: int
    total: int
    warnings: tuple[str, ...] = ()


@event
class Resync(Event):
    """A guest drained too slowly and events were dropped: everything is to be read again."""

    type: ClassVar[str] = "feed:resync"
