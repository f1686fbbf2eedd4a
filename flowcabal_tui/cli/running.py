"""`run` and `decide`: a run without a screen."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from flowcabal_tui.cli.answers import Answers, BadArgument, answer_to
from flowcabal_tui.cli.printing import JsonPrinter, PlainPrinter, Printer
from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.domain.ids import ChapterId, NodeId, QuestionId, RunId
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.run import Question, RunRequest
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.views import Workbench
from flowcabal_tui.protocol import (
    AdvanceRun,
    Command,
    Decide,
    FreezeNode,
    NodeNeedsHuman,
    PersistOutput,
    QuestionAnswered,
    ResumeRun,
    RunStateChanged,
    RunWorkflow,
    WorkflowFailed,
    from_message,
)

DONE, FAILED, WAITS, MODEL, CANCELLED = 0, 1, 3, 4, 5
TICK_SECONDS = 0.05
ENDED = ("done", "failed", "cancelled", "interrupted")


async def chapter_at(project: Workbench, number: int | None) -> ChapterId | None:
    """The chapter at a place in the story, if one is named. Raises RunError."""
    return None if number is None else await the_chapter(project, number)


async def the_chapter(project: Workbench, number: int) -> ChapterId:
    """The chapter at a place in the story. Raises RunError."""
    chapters = await project.chapters()
    for chapter in chapters:
        if chapter.position == number:
            return chapter.id
    raise RunError(
        _("There is no chapter {n}.").format(n=number),
        _("The book has {n} chapters.").format(n=len(chapters)),
        _("Add it in the screen, or give another number."),
    )


def given_inputs(arguments: Namespace) -> dict[str, str]:
    """The inputs that flags give. Raises BadArgument."""
    if nameless := [flag for flag in arguments.input if not flag.partition("=")[1]]:
        raise BadArgument(_("{flag} gives no input.").format(flag=nameless[0]), "", _("Write NAME=TEXT."))
    inputs = dict(flag.partition("=")[::2] for flag in arguments.input)
    return inputs | ({"instruction": arguments.instruction} if arguments.instruction else {})


async def _request(project: Workbench, arguments: Namespace) -> RunRequest:
    return RunRequest(
        workflow=arguments.workflow,
        chapter=await chapter_at(project, arguments.chapter),
        inputs=tuple(sorted(given_inputs(arguments).items())),
        targets=tuple(map(NodeId, arguments.target)),
        fresh_context=arguments.fresh_context,
        again=tuple(map(NodeId, arguments.again)),
        step=arguments.step,
        overrides=await _overrides(project, arguments),
    )


async def _keepable(project: Workbench, workflow: str, node: str) -> None:
    """Raises BadArgument before anything is paid for, where the workflow cannot have such a node."""
    nodes = [one.id for one in (await project.workflow(workflow)).nodes]
    if node.split("/")[0] not in nodes:
        raise BadArgument(
            _("The workflow {name} has no node {node}.").format(name=workflow, node=node),
            _("Its nodes: {names}").format(names=", ".join(nodes)),
        )


async def _overrides(project: Workbench, arguments: Namespace) -> tuple[tuple[NodeId, dict[str, Any]], ...]:
    """From `NODE.PARAM=VALUE`; the value is JSON, or the text that it is. Raises BadArgument."""
    if not arguments.set:
        return ()
    nodes = [node.id for node in (await project.workflow(arguments.workflow)).nodes]
    found: dict[NodeId, dict[str, Any]] = {}
    for flag in arguments.set:
        place, equals, value = flag.partition("=")
        named = [node for node in nodes if place.startswith(f"{node}.") and len(place) > len(node) + 1]
        if not equals or not named:
            raise BadArgument(
                _("{flag} sets nothing.").format(flag=flag),
                _("Its nodes: {names}").format(names=", ".join(nodes)),
                _("Write NODE.PARAM=VALUE, such as draft.temperature=0.3."),
            )
        node = max(named, key=len)
        found.setdefault(node, {})[place[len(node) + 1 :]] = _value(value)
    return tuple(found.items())


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


async def run(arguments: Namespace) -> int:
    """Runs a workflow; exit codes stand in the package's docstring."""
    if not arguments.workflow and not arguments.resume:
        raise BadArgument(_("Which workflow?"), "", _("Name one, or give --resume RUN."))
    answers = Answers.from_flags(arguments.decide)
    printer: Printer = JsonPrinter() if arguments.json else PlainPrinter(moving=not arguments.plain)
    begin_loading()
    project = await Project.open(arguments.project, everything=True, knowledge=arguments.knowledge)
    end_loading()
    try:
        if arguments.resume:
            command: Command = ResumeRun(RunId(arguments.resume))
        else:
            request = await _request(project, arguments)
            if arguments.keep:
                await _keepable(project, request.workflow, arguments.keep)
            for node in arguments.freeze:
                await project.carry_out(FreezeNode(request.workflow, NodeId(node), request.chapter))
            if arguments.quote:
                printer.quote(await project.quote(request))
                return DONE
            command = RunWorkflow(request)
        session = _Session(project, printer, answers, reads_commands=arguments.json, steps=arguments.step)
        return await session.follow(RunId(await project.carry_out(command)), arguments.keep, wait=arguments.wait)
    finally:
        await project.close()


async def decide(arguments: Namespace) -> int:
    """Answers a waiting question; the run goes on in this process."""
    project = await Project.open(arguments.project, everything=True, knowledge=False)
    try:
        waiting = {question.id: question for question in await project.questions()}
        question = waiting.get(QuestionId(arguments.question))
        if question is None:
            raise RunError(
                _("No such question waits."),
                _("Waiting: {ids}").format(ids=", ".join(waiting) or _("none")),
            )
        await project.carry_out(Decide(question.id, answer_to(question, arguments.answer)))
        return await _Session(project, PlainPrinter(moving=False), Answers({}), reads_commands=False).follow(
            question.run, None
        )
    finally:
        await project.close()


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
        self._input_ended = False
        self._model_failed = False

    async def follow(self, run: RunId, keep: str | None, *, wait: bool = False) -> int:
        """Returns the exit code. With `wait` the memory has followed what is kept, and its advice is printed."""
        reader = asyncio.create_task(self._read())
        try:
            state = await self._until_over(run)
        except asyncio.CancelledError:
            self._printer.interrupted(run)
            raise
        finally:
            reader.cancel()
        if state == "done" and keep:
            await self._project.carry_out(PersistOutput(run, NodeId(keep)))
            self._print()
            if wait:
                await self._project.settled()
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
                    await self._asked(event.question)
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

    async def _asked(self, question: Question) -> None:
        self._waiting[question.id] = question
        self._asks.set()
        if not await self._answered_by_flag(question) and not self._reads_commands:
            attempts = (await self._project.node(question.run, question.node)).attempts
            self._printer.asks(question, attempts[-1].text if attempts else "")

    async def _answered_by_flag(self, question: Question) -> bool:
        """A flag asks for one new attempt at most: each costs money. An answer that does not fit leaves it open."""
        decision = self._answers.for_question(question)
        if decision is None or question.node in self._retried:
            return False
        if decision.kind == "retry":
            self._retried.add(question.node)
        try:
            await self._project.carry_out(Decide(question.id, decision))
        except FlowCabalError as error:
            self._printer.error(error)
            return False
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
        """In step mode: says what comes next, and that the run waits for the word."""
        self._paused = run
        if run is not None:
            self._asks.set()
            if not self._reads_commands:
                self._printer.pauses()

    async def _typed(self, words: str) -> None:
        """Waits for a question, or for a pause: a pipe gives its lines before anything is asked."""
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
            return _("column {n}").format(n=error.colno) + f": {error.msg}"
        case ValidationError():
            wrong = error.errors(include_url=False, include_input=False)[:5]
            return "; ".join(f"{'.'.join(map(str, one['loc']))}: {refusal(one)}" for one in wrong)
        case _:
            return _("Its type is none that is known.")


async def _lines() -> AsyncIterator[str]:
    """The lines of standard input; a thread waits for them, since a terminal cannot be polled everywhere."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def pump() -> None:
        with suppress(RuntimeError):  # the loop has ended before the input
            with suppress(ValueError, OSError):  # no text, or no longer open: that is its end too
                for line in sys.stdin:
                    loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, "")

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    while line := await lines.get():
        yield line
