"""`run` and `decide`: a run without a screen."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flowcabal_tui.cli.adding import stored_document
from flowcabal_tui.cli.agreeing import memory_settled
from flowcabal_tui.cli.answers import Answers, answer_to
from flowcabal_tui.cli.documents import SUFFIXES
from flowcabal_tui.cli.embeddings import settle_embeddings
from flowcabal_tui.cli.flags import request_of, require_inputs, require_sense
from flowcabal_tui.cli.knowledge import tell_what_the_server_lacks
from flowcabal_tui.cli.naming import require_nodes, the_node, the_run, the_workflow
from flowcabal_tui.cli.notes import note_replaced
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.printing import JsonPrinter, PlainPrinter, Printer
from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.errors import ChapterLocked, FlowCabalError, RunError, UnknownName
from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.domain.ids import NodeId, QuestionId, RunId
from flowcabal_tui.domain.json_errors import json_reason
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.run import Question, RunRequest
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import PersistOutput
from flowcabal_tui.protocol.messages import from_message
from flowcabal_tui.protocol.runs import (
    AdvanceRun,
    Decide,
    NodeNeedsHuman,
    QuestionAnswered,
    ResumeRun,
    RunStateChanged,
    RunWorkflow,
    WorkflowFailed,
)
from flowcabal_tui.protocol.workflows import FreezeNode

DONE, FAILED, WAITS, MODEL, CANCELLED = 0, 1, 3, 4, 5
TICK_SECONDS = 0.05
ENDED = ("done", "failed", "cancelled", "interrupted")


async def run(arguments: Namespace) -> int:
    """Runs a workflow; the package's docstring lists the exit codes."""
    require_sense(arguments)
    answers = Answers.from_flags(arguments.decide)
    printer: Printer = JsonPrinter() if arguments.json else PlainPrinter(moving=not arguments.plain)
    begin_loading()
    project = await opened(
        arguments,
        everything=True,
        knowledge=arguments.knowledge,
        read_only=arguments.quote,
        uses_models=not arguments.quote,
    )
    end_loading()
    try:
        command = await _command_of(project, arguments, answers)
        if isinstance(command, RunWorkflow) and arguments.quote:
            printer.quote(await project.runs.quote(command.request))
            return DONE
        if arguments.keep:
            await project.runs.require_unlocked(await _request_of(project, command))
        if isinstance(command, RunWorkflow):
            for warning in (await project.runs.quote(command.request)).warnings:
                say(warning, file=sys.stderr)
        await settle_embeddings(project, arguments)
        if arguments.knowledge:
            await tell_what_the_server_lacks(project)
        session = _Session(project, printer, answers, reads_commands=arguments.json, steps=arguments.step)
        session.pays = arguments.yes
        return await session.follow(RunId(await project.carry_out(command)), arguments.keep, wait=arguments.wait)
    finally:
        await project.close()


async def execute(arguments: Namespace) -> int:
    """Like `run`, for a document in any readable form, which is stored in the project."""
    if arguments.workflow and not arguments.resume and Path(arguments.workflow).suffix in SUFFIXES:
        arguments.workflow = await stored_document(arguments, Path(arguments.workflow))
    return await run(arguments)


async def _command_of(project: Project, arguments: Namespace, answers: Answers) -> RunWorkflow | ResumeRun:
    """The command that the flags describe. Looks up every name before anything is changed or paid for."""
    if arguments.resume:
        resumed = await the_run(project, arguments.resume)
        workflow = await project.runs.run_workflow(resumed)
    else:
        workflow = await the_workflow(project, arguments.workflow)
    for path in (*arguments.target, *arguments.again, *arguments.freeze, *filter(None, (arguments.keep,))):
        the_node(workflow, path)
    await require_nodes(answers.nodes, workflow, project.workflows.get)
    if arguments.resume and arguments.again:
        request = (await project.runs.run_details(resumed)).request
        return RunWorkflow(request.another(NodeId(arguments.again[0])))
    if arguments.resume:
        return ResumeRun(resumed, continues=arguments.continues)
    request = await request_of(project, workflow, arguments)
    if not arguments.quote:
        require_inputs(workflow, dict(request.inputs), request.targets, chapter=request.chapter is not None)
    for node in arguments.freeze:
        await project.carry_out(FreezeNode(request.workflow, NodeId(node), request.chapter))
    return RunWorkflow(request)


async def _request_of(project: Project, command: RunWorkflow | ResumeRun) -> RunRequest:
    if isinstance(command, RunWorkflow):
        return command.request
    return (await project.runs.run_details(command.run)).request


async def decide(arguments: Namespace) -> int:
    """Answers a waiting question; the run continues in this process. Also decides suggestions of builds."""
    if arguments.question.startswith("build-"):
        from flowcabal_tui.cli import building

        return await building.decide(arguments)
    async with await opened(arguments, everything=True, knowledge=False, uses_models=True) as project:
        waiting = {question.id: question for question in await project.runs.questions()}
        question = waiting.get(QuestionId(arguments.question))
        if question is None:
            raise UnknownName(
                _("No such question is waiting."),
                _("Waiting: {ids}").format(ids=_(", ").join(waiting) or _("none")),
            )
        await project.carry_out(Decide(question.id, answer_to(question, arguments.answer)))
        return await follow_run(project, question.run)


async def follow_run(project: Project, run: RunId) -> int:
    """Prints further events of a run; returns its exit code."""
    return await _Session(project, PlainPrinter(moving=False), Answers({}), reads_commands=False).follow(run, None)


class _Session:
    """Follows one run: prints its events, answers its questions, knows how it ends."""

    def __init__(
        self, project: Project, printer: Printer, answers: Answers, *, reads_commands: bool, steps: bool = False
    ) -> None:
        self._project, self._printer, self._answers = project, printer, answers
        self._steps = steps
        self._reads_commands = reads_commands
        self._waiting: dict[QuestionId, Question] = {}
        self._asks = asyncio.Event()
        self._paused: RunId | None = None
        self._retried: set[NodeId] = set()
        self._questions: list[Question] = []
        self._input_ended = False
        self._model_failed = False
        self.pays = False
        """The user has accepted the price of the background work that follows a keep."""

    async def follow(self, run: RunId, keep: str | None, *, wait: bool = False) -> int:
        """Follows the run and returns the exit code.

        With `wait`, also waits for the background tasks and prints the advice.
        """
        code = await self._followed(run, keep, wait=wait)
        for note in self._answers.unused(self._questions):
            say(note, file=sys.stderr)
        return code

    async def _followed(self, run: RunId, keep: str | None, *, wait: bool) -> int:
        reader = asyncio.create_task(self._read())
        try:
            state = await self._until_over(run)
        except asyncio.CancelledError:
            self._printer.interrupted(run)
            raise
        finally:
            reader.cancel()
        if state == "done" and keep:
            before = {chapter.id: chapter for chapter in await self._project.book.chapters()}
            try:
                await self._project.carry_out(PersistOutput(run, NodeId(keep)))
            except ChapterLocked as error:  # the chapter was locked while the run continued
                self._printer.error(_waits_for_unlocking(error, run, keep))
                return WAITS
            await note_replaced(self._project, before)
            self._print()
            if wait:
                await memory_settled(self._project, yes=self.pays)
                self._print()
        if state in ("waiting", "paused"):
            self._printer.waits(tuple(self._waiting.values()))
            return WAITS
        return {"done": DONE, "cancelled": CANCELLED}.get(state, MODEL if self._model_failed else FAILED)

    async def _until_over(self, run: RunId) -> str:
        while True:
            for event in self._project.take():
                self._printer.event(event)
                if isinstance(event, NodeNeedsHuman):
                    await self._on_question(event.question)
                elif isinstance(event, QuestionAnswered):
                    self._waiting.pop(event.question, None)
                elif isinstance(event, WorkflowFailed):
                    self._model_failed = self._model_failed or event.by_model
                elif isinstance(event, RunStateChanged) and event.run == run:
                    if event.state in ENDED:
                        return event.state
                    await self._pauses(run if event.state == "paused" else None)
            if (self._waiting or self._paused) and self._input_ended and self._project.quiet:
                return "waiting" if self._waiting else "paused"
            await asyncio.sleep(TICK_SECONDS)

    def _print(self) -> None:
        for event in self._project.take():
            self._printer.event(event)

    async def _on_question(self, question: Question) -> None:
        self._waiting[question.id] = question
        self._questions.append(question)
        self._asks.set()
        if not await self._answered_by_flag(question) and not self._reads_commands:
            attempts = (await self._project.runs.node(question.run, question.node)).attempts
            self._printer.asks(question, attempts[-1].text if attempts else "")

    async def _answered_by_flag(self, question: Question) -> bool:
        """Answers by a flag, with one new attempt at most, since each costs money. Returns False if it stays open."""
        decision = self._answers.for_question(question)
        if decision is None or question.node in self._retried:
            return False
        if decision.kind in ("retry", "mend"):
            self._retried.add(question.node)
        try:
            await self._project.carry_out(Decide(question.id, decision))
        except FlowCabalError as error:
            self._printer.error(error)
            return False
        self._waiting.pop(question.id, None)
        return True

    async def _read(self) -> None:
        """Reads standard input to its end: commands as JSON lines, or words, each for the oldest open question."""
        async for line in _lines():
            try:
                if self._reads_commands:
                    if line.strip():
                        self._project.send(_command(line))
                else:
                    await self._typed(line.strip())
            except FlowCabalError as error:
                self._printer.error(error)
        self._input_ended = True

    async def _pauses(self, run: RunId | None) -> None:
        """In step mode: prints the next nodes and waits for input."""
        self._paused = run
        if run is not None:
            self._asks.set()
            if not self._reads_commands:
                self._printer.pauses()

    async def _typed(self, words: str) -> None:
        """Waits for a question, or for a pause: the lines of a pipe arrive before the first question."""
        goes_on = words in ("", "next")
        if not words and not (self._steps or self._paused):
            return
        while not (self._paused if goes_on else self._waiting):
            self._asks.clear()
            await self._asks.wait()
        if goes_on and self._paused:
            run, self._paused = self._paused, None
            await self._project.carry_out(AdvanceRun(run))
            return
        question = next(iter(self._waiting.values()))
        await self._project.carry_out(Decide(question.id, answer_to(question, words)))
        self._waiting.pop(question.id, None)


def _waits_for_unlocking(error: ChapterLocked, run: RunId, node: str) -> ChapterLocked:
    kept = _("Unlock it, then keep it: flowcabal-tui keep PROJECT {run} {node}").format(run=run, node=node)
    return ChapterLocked(error.title, _("The output of {node} waits in run {run}.").format(node=node, run=run), kept)


def _command(line: str) -> Command:
    try:
        message: Any = json.loads(line)
        value = from_message(message)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(_("That line is not a command."), _why(error), _("It was ignored.")) from error
    if not isinstance(value, Command):
        raise RunError(_("That line is not a command."), str(message["type"]), _("It was ignored."))
    return value


def _why(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return _("column {n}").format(n=error.colno) + f": {json_reason(error)}"
        case ValidationError():
            wrong = error.errors(include_url=False, include_input=False)[:5]
            return "; ".join(f"{'.'.join(map(str, one['loc']))}: {refusal(one)}" for one in wrong)
        case _:
            return _("Its type is unknown.")


async def _lines() -> AsyncIterator[str]:
    """The lines of standard input; a thread waits for them, since a terminal cannot be polled everywhere."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def pump() -> None:
        with suppress(RuntimeError):  # the loop has ended before the input
            with suppress(ValueError, OSError):  # not text, or no longer open: the input ends here too
                for line in sys.stdin:
                    loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, "")

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    while line := await lines.get():
        yield line
