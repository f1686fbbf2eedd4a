"""Prints events to a terminal or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Protocol, TextIO

from flowcabal_tui.cli.answers import how_to_answer
from flowcabal_tui.cli.terminal import say, say_json
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.domain.run import AngleCheck, Choice, Evaluation, Question, Quote
from flowcabal_tui.locale import _
from flowcabal_tui.project.words import RUN_STATES, check_words, spend_lines
from flowcabal_tui.protocol.base import CommandFailed, Event
from flowcabal_tui.protocol.book import OutputChecked, OutputPersisted
from flowcabal_tui.protocol.messages import to_message
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeNeedsHuman,
    NodeRetrying,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    RunStateChanged,
    WorkflowCompleted,
    WorkflowFailed,
)


class Printer(Protocol):
    """Receives a run's events and prints them."""

    def event(self, event: Event) -> None: ...

    def quote(self, quote: Quote) -> None: ...

    def asks(self, question: Question, text: str) -> None: ...

    def pauses(self) -> None: ...

    def waits(self, questions: tuple[Question, ...]) -> None: ...

    def interrupted(self, run: RunId) -> None: ...

    def error(self, error: FlowCabalError) -> None: ...


class JsonPrinter:
    """Prints one JSON object per line, as in the protocol."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    def _line(self, value: object) -> None:
        say_json(value, file=self._out, flush=True)

    def event(self, event: Event) -> None:
        self._line(to_message(event))

    def quote(self, quote: Quote) -> None:
        self._line({"type": "run:quote"} | to_plain(quote))

    def asks(self, question: Question, text: str) -> None:
        """Prints nothing: the event `node:needs-human` has been printed already."""

    def pauses(self) -> None:
        """Prints nothing: the event `run:state` has been printed already."""

    def waits(self, questions: tuple[Question, ...]) -> None:
        self._line({"type": "run:waits", "questions": [to_plain(question) for question in questions]})

    def interrupted(self, run: RunId) -> None:
        """Prints nothing: the reader may be gone."""

    def error(self, error: FlowCabalError) -> None:
        self._line({"type": "error", "title": error.title, "detail": error.detail, "advice": error.advice})


class PlainPrinter:
    """Prints words: started nodes, the text as it streams, findings, and kept texts."""

    def __init__(self, *, moving: bool, out: TextIO | None = None) -> None:
        self._out, self._moving = out or sys.stdout, moving
        self._open_line = False
        self._shown: set[tuple[NodeId, int]] = set()
        self._printed: set[NodeId] = set()
        """Nodes whose output was printed already."""

    def _say(self, words: str) -> None:
        if self._open_line:
            say(file=self._out)
        self._open_line = False
        say(words, file=self._out, flush=True)

    def event(self, event: Event) -> None:
        match event:
            case NodeStarted():
                self._say(_("— {name}, attempt {n}").format(name=event.name, n=event.attempt))
            case NodeStreaming() if self._moving:
                self._shown.add((event.node, event.attempt))
                self._printed.add(event.node)
                say(event.chunk, end="", file=self._out, flush=True)
                self._open_line = not event.chunk.endswith("\n")
            case NodeCompleted():
                self._completed(event)
            case WorkflowCompleted() if self._moving:
                for text in (text for node, text in event.outputs if node not in self._printed):
                    self._say(text)
            case NodeRetrying():
                self._say(_("waits {n:.0f} s: {reason}").format(n=event.seconds, reason=event.reason))
            case NodeNeedsHuman(evaluation=Evaluation() as evaluation):
                self._say(findings(evaluation))
            case NodeStateChanged(state="failed", detail="rejected") | WorkflowFailed(error="rejected"):
                self._say(_("{node} was rejected; nodes that depend on it do not run.").format(node=event.node))
            case WorkflowFailed() | CommandFailed():
                title = event.error if isinstance(event, WorkflowFailed) else event.title
                self._say("\n".join(part for part in (title, event.detail, event.advice) if part))
            case OutputPersisted():
                self._say(_("Kept as version {n}.").format(n=event.version))
            case OutputChecked():
                self._say(advice(event))
            case RunStateChanged():
                self._say(_("Run {run}: {state}").format(run=event.run, state=_(RUN_STATES[event.state])))

    def _completed(self, event: NodeCompleted) -> None:
        if not self._moving or event.cached:
            self._printed.add(event.node)
            self._say(event.output)
        for problem in event.errors:
            self._say(f"! {problem}")
        if event.cached:
            self._say(_("(from the store: free)"))
        if event.evaluation:
            self._say(findings(event.evaluation))
        if event.receipt:
            self._say(receipt_line(event.receipt))

    def quote(self, quote: Quote) -> None:
        self._quote_line(quote)
        for words, nodes in (
            (_("out of date: {names}"), quote.stale),
            (_("frozen: {names}"), quote.frozen),
        ):
            if nodes:
                self._say(words.format(names=_(", ").join(nodes)))
        if quote.likely.calls or quote.most is None:
            self._say("\n".join(spend_lines(quote)))

    def _quote_line(self, quote: Quote) -> None:
        total = len(quote.would_run) + len(quote.served)
        words = _("{n} of {total} would run: {names}") if quote.would_run else _("{n} of {total} nodes would run.")
        self._say(words.format(n=len(quote.would_run), total=total, names=_(", ").join(quote.would_run)))

    def asks(self, question: Question, text: str) -> None:
        """Prints a question; its subject `text` is left out if it has just been streamed."""
        if text and not {(question.node, number) for number in question.attempts[-1:]} & self._shown:
            self._say(text)
        self._say(_("{node} waits for you: {reason}").format(node=question.node, reason=question.reason))
        if question.proposal:
            self._say(question.proposal)
        for number, choice in enumerate(question.choices, 1):
            self._say("\n".join(filter(None, (f"{number}. {choice.label}", _alike(choice), choice.note, choice.text))))
        self._say(how_to_answer(question))

    def pauses(self) -> None:
        self._say(_("The next level is waiting: an empty line, or `next`, starts it."))

    def waits(self, questions: tuple[Question, ...]) -> None:
        for question in questions:
            self._say(
                _("Question {id} of {node} stays open: {reason}").format(
                    id=question.id, node=question.node, reason=question.reason
                )
            )

    def interrupted(self, run: RunId) -> None:
        self._say(
            _("Interrupted. The text so far is kept; continue with `run PROJECT --resume {run}`.").format(run=run)
        )

    def heading(self, words: str) -> None:
        """Prints a line of its own above the text that follows."""
        self._say(f"— {words}")

    def error(self, error: FlowCabalError) -> None:
        self._say(str(error))


def findings(evaluation: Evaluation) -> str:
    """The verdict of the Monitor, with both quotations of each finding."""
    return "\n".join([_("Check: {reason}").format(reason=evaluation.reason), *_check_lines(evaluation.checks)])


def advice(checked: OutputChecked) -> str:
    """The advice on a kept text, which has no effect on keeping it."""
    known = [_("Advice on kept version {n}:").format(n=checked.version), *_check_lines(checked.checks)]
    return "\n".join([*known, *(f"  {words}" for words in checked.advice)])


def _check_lines(checks: Iterable[AngleCheck]) -> list[str]:
    lines: list[str] = []
    for check in checks:
        lines.append(f"  {check_words(check)}")
        for found in check.findings:
            name = f" [{found.rule}]" if found.rule else ""
            lines += [
                f"    {found.explanation}{name}",
                _("    draft:  “{text}”").format(text=quotable(found.draft.text)),
            ]
            if found.source.text:
                title = found.source.title or found.source.uri
                lines.append(_("    source: “{text}” ({title})").format(text=quotable(found.source.text), title=title))
    return lines


def receipt_line(receipt: Receipt) -> str:
    """A receipt in one line."""
    return _("Context: {n} sources, {used} of {budget} tokens, {dropped} left out.").format(
        n=len(receipt.sources), used=receipt.used, budget=receipt.budget, dropped=len(receipt.dropped)
    )


def _alike(choice: Choice) -> str:
    return _("almost identical to {n}").format(n=choice.like) if choice.like else ""
