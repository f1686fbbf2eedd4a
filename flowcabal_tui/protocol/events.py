"""What a project tells its guests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, CommandId, NodeId, OutputId, QuestionId, RunId
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Totals
from flowcabal_tui.domain.run import AngleCheck, Decision, Evaluation, NodeState, Question, RunState


@dataclass(frozen=True, slots=True)
class Event:
    """Base of what a project tells."""

    type: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class CommandDone(Event):
    """A command was carried out. `result` is the id of what it made, if it made something."""

    type: ClassVar[str] = "command:done"
    command: CommandId
    result: str = ""


@dataclass(frozen=True, slots=True)
class CommandFailed(Event):
    """A command was refused or failed and changed nothing."""

    type: ClassVar[str] = "command:failed"
    command: CommandId
    title: str
    detail: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Status(Event):
    """The state of the project as a whole."""

    type: ClassVar[str] = "status"
    status: Literal["connected", "error", "closing"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeStatus(Event):
    """The state of the knowledge server; `down` never stops anything else."""

    type: ClassVar[str] = "knowledge:status"
    state: Literal["off", "absent", "starting", "ready", "restarting", "failed", "external", "stopped"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A run began or was resumed."""

    type: ClassVar[str] = "run:started"
    run: RunId
    workflow: str
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...]
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class NodeStarted(Event):
    """An attempt began; what was shown of an earlier attempt is to be cleared."""

    type: ClassVar[str] = "node:started"
    run: RunId
    node: NodeId
    name: str
    attempt: int
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class NodeStreaming(Event):
    """A piece of text at a character offset of an attempt; pieces may be coalesced."""

    type: ClassVar[str] = "node:streaming"
    run: RunId
    node: NodeId
    attempt: int
    offset: int
    chunk: str


@dataclass(frozen=True, slots=True)
class NodeThinking(Event):
    """A piece of the model's reasoning."""

    type: ClassVar[str] = "node:thinking"
    run: RunId
    node: NodeId
    attempt: int
    chunk: str


@dataclass(frozen=True, slots=True)
class NodeRetrying(Event):
    """A model call waits before it is sent again; cancelling the run or node ends the wait."""

    type: ClassVar[str] = "node:retrying"
    run: RunId
    node: NodeId
    seconds: float
    reason: str
    attempt: int


@dataclass(frozen=True, slots=True)
class NodeStateChanged(Event):
    """A node is in another state."""

    type: ClassVar[str] = "node:state"
    run: RunId
    node: NodeId
    state: NodeState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NodeCompleted(Event):
    """An output is final. `contextSources` of the design are in the receipt."""

    type: ClassVar[str] = "node:completed"
    run: RunId
    node: NodeId
    attempt: int
    output: str
    cached: bool
    evaluation: Evaluation | None = None
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class NodeNeedsHuman(Event):
    """A question waits."""

    type: ClassVar[str] = "node:needs-human"
    question: Question
    evaluation: Evaluation | None = None


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Event):
    """A question no longer waits."""

    type: ClassVar[str] = "human:decided"
    question: QuestionId
    decision: Decision


@dataclass(frozen=True, slots=True)
class WorkflowCompleted(Event):
    """A run ended well or waits for nobody: the outputs of its last nodes."""

    type: ClassVar[str] = "workflow:completed"
    run: RunId
    outputs: tuple[tuple[NodeId, str], ...]


@dataclass(frozen=True, slots=True)
class WorkflowFailed(Event):
    """A node failed; what did not depend on it went on."""

    type: ClassVar[str] = "workflow:error"
    run: RunId
    error: str
    detail: str = ""
    advice: str = ""
    node: NodeId | None = None
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class RunStateChanged(Event):
    """A run is in another state."""

    type: ClassVar[str] = "run:state"
    run: RunId
    state: RunState


@dataclass(frozen=True, slots=True)
class MarksChanged(Event):
    """What stands, is frozen or is stale among the nodes of a workflow changed (None: for all chapters): ask again."""

    type: ClassVar[str] = "marks:changed"
    workflow: str
    """Its id, without a version."""
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowSaved(Event):
    """A document was stored as a new version."""

    type: ClassVar[str] = "workflow:saved"
    workflow: str
    """`id@version`."""


@dataclass(frozen=True, slots=True)
class OutputPersisted(Event):
    """Text is safe in the store (and `created` tells whether it was new)."""

    type: ClassVar[str] = "output:persisted"
    output: OutputId
    chapter: ChapterId | None
    version: int
    created: bool
    node: NodeId | None = None


@dataclass(frozen=True, slots=True)
class OutputChecked(Event):
    """Advice about kept text: contradictions and the 4-D test. Never a veto."""

    type: ClassVar[str] = "output:checked"
    chapter: ChapterId
    version: int
    checks: tuple[AngleCheck, ...]
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputDeleted(Event):
    """A kept output left the memory, or came back."""

    type: ClassVar[str] = "output:deleted"
    output: OutputId
    restored: bool = False


@dataclass(frozen=True, slots=True)
class TextPurged(Event):
    """A text is out of the project's file: so many versions, runs, derived texts and answers of agents went with it."""

    type: ClassVar[str] = "memory:purged"
    chapter: ChapterId | None
    versions: int
    runs: int
    derived: int
    answers: int


@dataclass(frozen=True, slots=True)
class RebuildProgress(Event):
    """So many chapters of the index were looked at; `wrong` tells, at the end, in how many something was put right."""

    type: ClassVar[str] = "memory:progress"
    done: int
    total: int
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class BookChanged(Event):
    """Chapters, meta texts or entities changed; lists are to be read again."""

    type: ClassVar[str] = "book:changed"
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class ProfileUpdated(Event):
    """Derived texts are new."""

    type: ClassVar[str] = "profile:updated"
    profiles: tuple[tuple[str, str, str], ...]
    """Each (kind, name, uri)."""


@dataclass(frozen=True, slots=True)
class RewriteProposed(Event):
    """Another version of a selection, to be accepted or not."""

    type: ClassVar[str] = "rewrite:proposed"
    command: CommandId
    chapter: ChapterId
    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class BackgroundChanged(Event):
    """How the background work stands: counts by state, and the task that changed.

    `owed` counts apart what the knowledge server has still to be told, whether it is there or not.
    """

    type: ClassVar[str] = "background:changed"
    counts: tuple[tuple[str, int], ...]
    task: BackgroundTask | None = None
    owed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class UsageChanged(Event):
    """What was spent so far in this project."""

    type: ClassVar[str] = "usage:changed"
    totals: Totals


@dataclass(frozen=True, slots=True)
class OutsideEdit(Event):
    """A mirrored chapter file was changed outside; the change is offered as a new version."""

    type: ClassVar[str] = "chapter:outside-edit"
    chapter: ChapterId
    path: str


@dataclass(frozen=True, slots=True)
class BootstrapChanged(Event):
    """The reading of imported chapters went on, paused or ended."""

    type: ClassVar[str] = "bootstrap:status"
    status: BootstrapStatus


@dataclass(frozen=True, slots=True)
class ImportProgress(Event):
    """How far an import is."""

    type: ClassVar[str] = "manuscript:progress"
    done: int
    total: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resync(Event):
    """A guest drained too slowly and events were dropped: everything is to be read again."""

    type: ClassVar[str] = "feed:resync"
