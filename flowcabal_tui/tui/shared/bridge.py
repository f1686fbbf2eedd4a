"""Where the engine's events become screen updates: the only place.

`command:failed` is not told again here: whoever awaited the command got it as an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from textual.message import Message

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.base import Event, Status
from flowcabal_tui.protocol.book import (
    BookChanged,
    ImportProgress,
    OutputChecked,
    OutputDeleted,
    OutputPersisted,
    OutsideEdit,
    RewriteProposed,
)
from flowcabal_tui.protocol.memory import (
    BackgroundChanged,
    BootstrapChanged,
    KnowledgeStatus,
    ProfileUpdated,
    PurgeFinished,
    RebuildProgress,
    TextPurged,
)
from flowcabal_tui.protocol.models import TrustChanged
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeNeedsHuman,
    NodeRetrying,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    NodeThinking,
    QuestionAnswered,
    RunStarted,
    RunStateChanged,
    UsageChanged,
    WorkflowFailed,
)
from flowcabal_tui.protocol.workflows import MarksChanged
from flowcabal_tui.tui.shared.messages import (
    BookMoved,
    CallSent,
    CallWaits,
    KnowledgeMoved,
    MarksMoved,
    MemoryMoved,
    NodeMoved,
    NodeTextMoved,
    ProfilesMoved,
    QuestionsMoved,
    ReadingMoved,
    RebuildMoved,
    RewriteCame,
    RunMoved,
    Said,
    TotalsMoved,
    TrustMoved,
)
from flowcabal_tui.tui.shared.words import one_line

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench

_UNFINISHED: Final = ("waiting", "running", "stale")


def drain_seconds(environment: Mapping[str, str] = os.environ) -> float:
    """Seconds between two looks at the feed: ten a second, four over SSH, where every repaint travels."""
    return 0.25 if environment.get("SSH_CONNECTION") else 0.1


class TextTarget(Protocol):
    """Where streamed text is shown."""

    def append(self, attempt: int, offset: int, text: str) -> None: ...

    def append_thinking(self, attempt: int, text: str) -> None: ...


class Bridge:
    """Drains a workbench's feed: text to the target if its node is in view, everything else as messages."""

    def __init__(
        self,
        workbench: Workbench,
        target: TextTarget,
        post: Callable[[Message], object],
        arrived: Callable[[RunId, NodeId], object] = lambda _run, _node: None,
    ) -> None:
        """`arrived` is told of each piece of text of the node in view."""
        self._workbench, self._target, self._post, self._arrived = workbench, target, post, arrived
        self._in_view: tuple[RunId, NodeId] | None = None

    def watch(self, run: RunId | None, node: NodeId | None) -> None:
        """Text of this node only is wanted (None: of none)."""
        self._in_view = (run, node) if run is not None and node is not None else None
        self._workbench.watch(run, node)

    def drain(self) -> None:
        """Delivers what has happened since the last call."""
        for event in self._workbench.take():
            if not self._show_text(event):
                for message in self._told(event):
                    self._post(message)

    def _show_text(self, event: Event) -> bool:
        """Is this event about streamed text? Then it is shown, if its node is in view."""
        match event:
            case NodeStreaming(run=run, node=node):
                if (run, node) == self._in_view:
                    self._target.append(event.attempt, event.offset, event.chunk)
                    self._arrived(run, node)
            case NodeThinking(run=run, node=node):
                if (run, node) == self._in_view:
                    self._target.append_thinking(event.attempt, event.chunk)
                    self._arrived(run, node)
            case _:
                return False
        return True

    def _told(self, event: Event) -> tuple[Message, ...]:
        """The messages that an event becomes."""
        match event:
            case RunStarted(run=run):
                return (RunMoved(run, "running"),)
            case RunStateChanged(run=run, state=state):
                return (RunMoved(run, state),)
            case NodeStarted(run=run, node=node):
                return (CallSent(run, node), NodeTextMoved(run, node))
            case NodeRetrying(run=run, node=node, seconds=seconds, reason=reason):
                return (CallWaits(run, node, seconds, reason),)
            case NodeCompleted(run=run, node=node):
                return (NodeTextMoved(run, node),)
            case NodeStateChanged(run=run, node=node, state=state, detail=detail):
                return (NodeMoved(run, node, state, detail),)
            case NodeNeedsHuman(question=question):
                return (QuestionsMoved(asked=True), NodeTextMoved(question.run, question.node))
            case QuestionAnswered():
                return (QuestionsMoved(asked=False),)
            case OutputPersisted(chapter=chapter):
                return (BookMoved(chapter, kept=True),)
            case OutputDeleted() | BookChanged():
                return (BookMoved(getattr(event, "chapter", None)),)
            case ProfileUpdated():
                return (ProfilesMoved(),)
            case MarksChanged():
                return (MarksMoved(),)
            case TrustChanged(state=trust):
                return (TrustMoved(trust),)
            case UsageChanged(totals=totals):
                return (TotalsMoved(totals),)
            case KnowledgeStatus(state=state, message=words):
                return (KnowledgeMoved(state, words),)
            case BackgroundChanged(counts=counts, task=task, owed=owed):
                told = task is not None and task.state != "running" and (task.error, task.kind == "knowledge")
                memory, knowledge = [
                    (*_left_and_failed(numbers), told[0] if told and told[1] is owing else None)
                    for numbers, owing in ((counts, False), (owed, True))
                ]
                return (MemoryMoved(*memory, knowledge),)
            case BootstrapChanged(status=reading):
                return (ReadingMoved(reading),)
            case RebuildProgress():
                return (RebuildMoved(event),)
            case RewriteProposed():
                return (RewriteCame(event),)
            case _:
                return _sayings(event)


def _left_and_failed(counts: Iterable[tuple[str, int]]) -> tuple[int, int]:
    numbers = dict(counts)
    return sum(numbers.get(name, 0) for name in _UNFINISHED), numbers.get("failed", 0)


def _sayings(event: Event) -> tuple[Message, ...]:
    """The messages of an event that is only to be read."""
    match event:
        case WorkflowFailed(error=title, detail=detail, advice=advice):
            return (Said(title, _lines(detail, advice), "error"),)
        case OutputChecked(checks=checks, advice=advice):
            findings = [finding.explanation for check in checks for finding in check.findings]
            words = _lines(*findings, *advice)
            return (Said(_("Advice on the kept text"), words, "warning"),) if words else ()
        case OutsideEdit(path=path):
            return (
                Said(_("A chapter was changed outside"), _("{path}: press `o` in the text.").format(path=path)),
                BookMoved(event.chapter),
            )
        case ImportProgress(done=done, total=total, warnings=warnings):
            if done < total and not warnings:
                return ()
            return (Said(_("{done} of {total} chapters are in").format(done=done, total=total), _lines(*warnings)),)
        case TextPurged():
            return _purged(event)
        case PurgeFinished():
            return (Said(_("The purge is finished"), _("No file of the project holds the purged words any more.")),)
        case Status(status="error", message=words):
            return (Said(_("The project reports an error"), words, "error"),)
        case _:
            return ()


def _purged(event: TextPurged) -> tuple[Message, ...]:
    words = _("Purged: {versions} versions, {runs} runs, {derived} derived texts, {answers} answers.").format(
        versions=event.versions, runs=event.runs, derived=event.derived, answers=event.answers
    )
    left = [_("left as it is: {path}").format(path=one_line(path)) for path in event.left]
    if not event.pending:
        return (Said(_("It is out of the project's file for good"), _lines(words, *left)),)
    pending = [_("not finished: {reason}").format(reason=one_line(reason)) for reason in event.pending]
    return (Said(_("The purge is not finished"), _lines(words, *pending, *left), "warning"),)


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
