"""Every command into a project and every event out of it (DESIGN 4.10).

In the process they are frozen values; `to_message` and `from_message` turn them into the JSON objects
that the command line prints and that a socket could carry: `{"type": "node:started", ...}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from flowcabal_tui.domain.codec import from_plain, to_plain
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, CommandId, EntityId, NodeId, OutputId, QuestionId, RunId
from flowcabal_tui.domain.memory import BackgroundTask, Entity, KeepKind, KeepMode, MetaName, Totals
from flowcabal_tui.domain.run import AngleCheck, Decision, Evaluation, NodeState, Question, RunRequest, RunState
from flowcabal_tui.domain.workflow import Workflow


@dataclass(frozen=True, slots=True)
class Command:
    """Base of what a guest may ask; the engine answers each with events that carry its id."""

    type: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class SaveWorkflow(Command):
    """Stores a document as a new version, if it differs from the newest."""

    type: ClassVar[str] = "workflow:save"
    workflow: Workflow


@dataclass(frozen=True, slots=True)
class RunWorkflow(Command):
    """Starts a run."""

    type: ClassVar[str] = "workflow:run"
    request: RunRequest


@dataclass(frozen=True, slots=True)
class ResumeRun(Command):
    """Goes on with a run whose process ended."""

    type: ClassVar[str] = "workflow:resume"
    run: RunId


@dataclass(frozen=True, slots=True)
class CancelRun(Command):
    """Stops a run, or one node of it, at once; partial text is kept."""

    type: ClassVar[str] = "workflow:cancel"
    run: RunId
    node: NodeId | None = None


@dataclass(frozen=True, slots=True)
class Decide(Command):
    """Answers a question."""

    type: ClassVar[str] = "human:decision"
    question: QuestionId
    decision: Decision


@dataclass(frozen=True, slots=True)
class PersistOutput(Command):
    """Keeps an output of a run in the memory of the book."""

    type: ClassVar[str] = "output:persist"
    run: RunId
    node: NodeId
    attempt: int = 0
    kind: KeepKind | None = None
    mode: KeepMode | None = None
    chapter: ChapterId | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteOutput(Command):
    """Takes a kept output out of the memory; can be undone with `restore`."""

    type: ClassVar[str] = "output:delete"
    output: OutputId
    restore: bool = False


@dataclass(frozen=True, slots=True)
class WriteChapter(Command):
    """Keeps text that the writer typed; `expected_version` guards against a change from elsewhere."""

    type: ClassVar[str] = "chapter:write"
    chapter: ChapterId
    text: str
    expected_version: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class AddChapter(Command):
    """Adds an empty chapter, at the end or at a position."""

    type: ClassVar[str] = "chapter:add"
    title: str
    volume: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True)
class EditChapter(Command):
    """Renames, moves, deletes or undeletes a chapter."""

    type: ClassVar[str] = "chapter:edit"
    chapter: ChapterId
    title: str | None = None
    position: int | None = None
    deleted: bool | None = None


@dataclass(frozen=True, slots=True)
class WriteMeta(Command):
    """Writes the outline, style guide, world rules or notes."""

    type: ClassVar[str] = "meta:write"
    name: MetaName
    text: str


@dataclass(frozen=True, slots=True)
class PutEntity(Command):
    """Writes an entity by hand; the hand's edit wins."""

    type: ClassVar[str] = "entity:put"
    entity: Entity


@dataclass(frozen=True, slots=True)
class RemoveEntity(Command):
    """Removes an entity."""

    type: ClassVar[str] = "entity:remove"
    entity: EntityId


@dataclass(frozen=True, slots=True)
class ImportManuscript(Command):
    """Reads a file or folder as chapters at the end of the book; spends no money."""

    type: ClassVar[str] = "manuscript:import"
    path: str
    last: int | None = None
    """Import only the first so many chapters."""


@dataclass(frozen=True, slots=True)
class RewriteSelection(Command):
    """Asks the user model for another version of a passage; the answer comes as `rewrite:proposed`."""

    type: ClassVar[str] = "rewrite:request"
    chapter: ChapterId
    start: int
    end: int
    text: str
    instruction: str


@dataclass(frozen=True, slots=True)
class WaiveFinding(Command):
    """Calls a finding intended, with a reason that is remembered."""

    type: ClassVar[str] = "finding:waive"
    draft_quote: str
    source_quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetryBackground(Command):
    """Takes up failed or cancelled background work again."""

    type: ClassVar[str] = "background:retry"


@dataclass(frozen=True, slots=True)
class CancelBackground(Command):
    """Cancels what the background still has to do (all, or one task); it can be retried."""

    type: ClassVar[str] = "background:cancel"
    task: int | None = None


@dataclass(frozen=True, slots=True)
class ConfirmModels(Command):
    """Confirms that a model may be used: it costs money and sends the manuscript away."""

    type: ClassVar[str] = "models:confirm"
    identity: str


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
    status: Literal["connected", "busy", "error", "closing"]
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


@dataclass(frozen=True, slots=True)
class RunStateChanged(Event):
    """A run is in another state."""

    type: ClassVar[str] = "run:state"
    run: RunId
    state: RunState


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
    """How the background work stands: counts by state, and the task that changed."""

    type: ClassVar[str] = "background:changed"
    counts: tuple[tuple[str, int], ...]
    task: BackgroundTask | None = None


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
class ImportProgress(Event):
    """How far an import is."""

    type: ClassVar[str] = "manuscript:progress"
    done: int
    total: int
    warnings: tuple[str, ...] = field(default=())


def _subclasses(base: type[Any]) -> dict[str, type[Any]]:
    return {kind.type: kind for kind in base.__subclasses__()}


COMMANDS: dict[str, type[Command]] = _subclasses(Command)
EVENTS: dict[str, type[Event]] = _subclasses(Event)


def to_message(value: Command | Event) -> dict[str, Any]:
    """The JSON object of a command or event, with its `type` first."""
    return {"type": value.type} | {item.name: to_plain_field(getattr(value, item.name)) for item in fields(value)}


def to_plain_field(value: Any) -> Any:
    """A field's value as JSON-compatible Python values."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        return [to_plain_field(item) for item in value]
    return to_plain(value)


def from_message(message: dict[str, Any]) -> Command | Event:
    """The value that `to_message` wrote. Raises KeyError for an unknown type, pydantic.ValidationError for bad fields."""
    kind = message["type"]
    known = COMMANDS.get(kind) or EVENTS[kind]
    value: Command | Event = from_plain(known, {key: item for key, item in message.items() if key != "type"})
    return value
