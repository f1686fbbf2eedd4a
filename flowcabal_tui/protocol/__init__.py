"""Every command into a project and every event out of it (DESIGN 4.10).

In the process they are frozen values; `to_message` and `from_message` turn them into the JSON objects
that the command line prints and that a socket could carry: `{"type": "node:started", ...}`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from flowcabal_tui.domain.codec import from_plain, to_plain
from flowcabal_tui.protocol.book_commands import (
    AcceptRewrite,
    AssignOutline,
    CorrectProposal,
    DecideProposals,
    MergeChapters,
    ReplaceText,
    RevertChange,
    SetScene,
    SplitChapter,
    UndoDecision,
    WriteOutlinePart,
)
from flowcabal_tui.protocol.commands import (
    AddChapter,
    AdvanceRun,
    CancelBackground,
    CancelRun,
    Command,
    Decide,
    DeleteOutput,
    EditChapter,
    EditOutput,
    FreezeBlock,
    FreezeNode,
    ImportManuscript,
    PauseBootstrap,
    PersistOutput,
    PinProfile,
    Purge,
    PutEntity,
    PutRecord,
    Rebuild,
    RebuildPart,
    RegenerateProfile,
    RemoveEntity,
    RemoveRecord,
    RemoveReference,
    ResumeRun,
    RetryBackground,
    RewriteSelection,
    RunWorkflow,
    SaveWorkflow,
    SelectVersion,
    StartBootstrap,
    TakeProfile,
    UnfreezeNode,
    WaiveFinding,
    WriteChapter,
    WriteMeta,
    WriteProfile,
)
from flowcabal_tui.protocol.events import (
    BackgroundChanged,
    BookChanged,
    BootstrapChanged,
    CommandDone,
    CommandFailed,
    Event,
    ImportProgress,
    KnowledgeStatus,
    MarksChanged,
    NodeCompleted,
    NodeEvaluated,
    NodeIteration,
    NodeNeedsHuman,
    NodeRetrying,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    NodeThinking,
    OutputChecked,
    OutputDeleted,
    OutputPersisted,
    OutsideEdit,
    ProfileUpdated,
    PurgeFinished,
    QuestionAnswered,
    RebuildProgress,
    Resync,
    RewriteProposed,
    RunStarted,
    RunStateChanged,
    Status,
    TextPurged,
    UsageChanged,
    WorkflowCompleted,
    WorkflowFailed,
    WorkflowSaved,
)
from flowcabal_tui.protocol.model_commands import AnswerEmbeddings, ConfirmModels
from flowcabal_tui.protocol.trust import ConfirmTrust, TrustChanged

__all__ = [
    "COMMANDS",
    "EVENTS",
    "AcceptRewrite",
    "AddChapter",
    "AdvanceRun",
    "AnswerEmbeddings",
    "AssignOutline",
    "BackgroundChanged",
    "BookChanged",
    "BootstrapChanged",
    "CancelBackground",
    "CancelRun",
    "Command",
    "CommandDone",
    "CommandFailed",
    "ConfirmModels",
    "ConfirmTrust",
    "CorrectProposal",
    "Decide",
    "DecideProposals",
    "DeleteOutput",
    "EditChapter",
    "EditOutput",
    "Event",
    "FreezeBlock",
    "FreezeNode",
    "ImportManuscript",
    "ImportProgress",
    "KnowledgeStatus",
    "MarksChanged",
    "MergeChapters",
    "NodeCompleted",
    "NodeEvaluated",
    "NodeIteration",
    "NodeNeedsHuman",
    "NodeRetrying",
    "NodeStarted",
    "NodeStateChanged",
    "NodeStreaming",
    "NodeThinking",
    "OutputChecked",
    "OutputDeleted",
    "OutputPersisted",
    "OutsideEdit",
    "PauseBootstrap",
    "PersistOutput",
    "PinProfile",
    "ProfileUpdated",
    "Purge",
    "PurgeFinished",
    "PutEntity",
    "PutRecord",
    "QuestionAnswered",
    "Rebuild",
    "RebuildPart",
    "RebuildProgress",
    "RegenerateProfile",
    "RemoveEntity",
    "RemoveRecord",
    "RemoveReference",
    "ReplaceText",
    "ResumeRun",
    "Resync",
    "RetryBackground",
    "RevertChange",
    "RewriteProposed",
    "RewriteSelection",
    "RunStarted",
    "RunStateChanged",
    "RunWorkflow",
    "SaveWorkflow",
    "SelectVersion",
    "SetScene",
    "SplitChapter",
    "StartBootstrap",
    "Status",
    "TakeProfile",
    "TextPurged",
    "TrustChanged",
    "UndoDecision",
    "UnfreezeNode",
    "UsageChanged",
    "WaiveFinding",
    "WorkflowCompleted",
    "WorkflowFailed",
    "WorkflowSaved",
    "WriteChapter",
    "WriteMeta",
    "WriteOutlinePart",
    "WriteProfile",
    "from_message",
    "to_message",
]


def _subclasses(base: type[Any]) -> dict[str, type[Any]]:
    return {kind.type: kind for kind in base.__subclasses__()}


COMMANDS: dict[str, type[Command]] = _subclasses(Command)
EVENTS: dict[str, type[Event]] = _subclasses(Event)


def to_message(value: Command | Event) -> dict[str, Any]:
    """The JSON object of a command or event, with its `type` first."""
    return {"type": value.type} | {item.name: _plain(getattr(value, item.name)) for item in fields(value)}


def _plain(value: Any) -> Any:
    """A field's value as JSON-compatible Python values."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return to_plain(value)


def from_message(message: dict[str, Any]) -> Command | Event:
    """The value that `to_message` wrote.

    Raises KeyError for an unknown type and pydantic.ValidationError for bad fields.
    """
    kind = message["type"]
    known = COMMANDS.get(kind) or EVENTS[kind]
    value: Command | Event = from_plain(known, {key: item for key, item in message.items() if key != "type"})
    return value
