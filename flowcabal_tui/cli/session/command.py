"""The command `session`: answers requests of a client with their ids, and sends events as they arrive."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.flags import require_inputs
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.session.lines import BadLine, Identity, SessionLine, lines_of, read_message
from flowcabal_tui.cli.session.messages import (
    ApiConfig,
    Ask,
    Connect,
    Disconnect,
    ListChapters,
    ListRuns,
    ListWorkflows,
    LoadWorkflow,
    bad_fields,
    description,
    message_of,
)
from flowcabal_tui.cli.session.questions import QUESTIONS, ask
from flowcabal_tui.cli.terminal import json_text, say_json
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import FlowCabalError, ProjectDamaged
from flowcabal_tui.domain.ids import CommandId
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.base import Command, CommandDone, CommandFailed, Event
from flowcabal_tui.protocol.messages import to_message
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.settings.project_file import load_project

WAITING: Final = 64
"""Lines that wait for a client which does not read."""
_STALL_SECONDS: Final = 5.0
"""Seconds for which a client that has ended its input may leave a line unread."""


class MessageOutput:
    """Writes messages to a file descriptor in a thread of its own, so that a full pipe blocks nothing else."""

    def __init__(self, target: int) -> None:
        self._target, self._loop = target, asyncio.get_running_loop()
        self._space = asyncio.Semaphore(WAITING)
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._gone = False
        """True when the client no longer reads: further messages are dropped."""
        self.is_ending = False
        """True when the client has ended its input: writing then waits only for a limited time."""
        threading.Thread(target=self._write_all, name="session-output", daemon=True).start()

    async def put(self, message: Mapping[str, Any]) -> None:
        """Queues a message; waits while WAITING lines are unread."""
        line = json_text(message).encode() + b"\n"
        while not self._gone:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._space.acquire(), _STALL_SECONDS)
                self._lines.put(line)
                return
            self._gone = self.is_ending

    async def flush(self) -> None:
        """Returns when everything is written, or the client has read nothing for some seconds."""
        with suppress(TimeoutError):
            for _line in range(WAITING):
                await asyncio.wait_for(self._space.acquire(), _STALL_SECONDS)
        self._gone = True

    def _write_all(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            while True:
                line = self._lines.get()
                try:
                    while line and not self._gone:
                        line = line[os.write(self._target, line) :]
                except OSError:  # the pipe is closed, or the disk is full
                    self._gone = True
                self._loop.call_soon_threadsafe(self._space.release)


log = logging.getLogger(__name__)
HUNG_UP: Final = 128 + signal.SIGHUP
REQUESTS: Final = 16
"""Questions and lists that are worked on at the same time."""
COMMANDS_WAITING: Final = 64
"""Commands that are not answered yet; with more the session reads no further."""
_TICK_SECONDS: Final = 0.05


async def session(arguments: Namespace) -> int:
    """Speaks the protocol until the input ends and no run can continue without a person; then closes the project."""
    if arguments.describe:
        say_json(description(), indent=2)
        return 0
    if arguments.project is None:
        raise BadArgument(_("Which project?"), "", _("Name its folder, or give --describe."))
    if sys.__stdin__ is None or sys.__stdout__ is None:  # their descriptors would belong to other files
        raise BadArgument(_("A session needs standard input and standard output."))
    project = await opened(arguments, everything=True, read_only=arguments.read_only)
    served = _Session(project, load_project(arguments.project).project.id)
    hung_up = asyncio.Event()

    def hang_up() -> None:
        hung_up.set()
        served.end_input()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hang_up)
    try:
        await served.serve(0)
    finally:
        await project.close()
    await served.finish()
    return HUNG_UP if hung_up.is_set() else 0


class _Session:
    """One client of an open project."""

    def __init__(self, project: Project, identity: str) -> None:
        self._project, self._identity = project, identity
        self._output = MessageOutput(1)
        self._connected = False
        self._sent: dict[CommandId, Identity] = {}
        self._commands = asyncio.Semaphore(COMMANDS_WAITING)
        self._requests: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(REQUESTS)
        self._reading: asyncio.Task[None] | None = None

    async def serve(self, source: int) -> None:
        """Returns when the input has ended, all is answered, and no run can go on without a person."""
        events = asyncio.create_task(self._send_events())
        try:
            self._reading = asyncio.create_task(self._read(source))
            await asyncio.wait([self._reading])
            if not self._reading.cancelled() and (error := self._reading.exception()):
                raise error
            self._output.is_ending = True
            if self._requests:
                await asyncio.wait(self._requests)
            for _place in range(COMMANDS_WAITING):
                await self._commands.acquire()
            await self._project.linger()
        finally:
            for task in (events, self._reading, *self._requests):
                if task is not None:
                    task.cancel()

    async def finish(self) -> None:
        """Sends the events that are left, after the project was closed."""
        await self._send_waiting()
        await self._output.flush()

    def end_input(self) -> None:
        """Reads no further, as if the input had ended."""
        if self._reading is not None:
            self._reading.cancel()

    # Requests

    async def _read(self, source: int) -> None:
        async for line in lines_of(source):
            try:
                await self._take(line)
            except BadLine as error:
                await self._output.put(_error(error.identity, error))

    async def _take(self, line: SessionLine) -> None:
        """Starts the action that a line requests. Raises BadLine."""
        if not line.content.strip():
            return
        identity, fields = read_message(line)
        message = message_of(identity, fields)
        if isinstance(message, tuple):
            command, config = message
            if isinstance(command, RunWorkflow):
                await self._run(identity, command, config)
            else:
                await self._send(identity, command)
            return
        await self._places.acquire()
        task = asyncio.create_task(self._answered(identity, message))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)

    async def _send(self, identity: Identity, command: Command) -> None:
        await self._commands.acquire()
        self._sent[self._project.send(command)] = identity

    async def _run(self, identity: Identity, command: RunWorkflow, config: ApiConfig | None) -> None:
        """Starts a run, with another of the configured models if `config` names one. Refuses a run without required
        inputs."""
        request = command.request
        try:
            workflow = await self._project.workflows.get(request.workflow)
            given, has_chapter = dict(request.inputs), request.chapter is not None
            require_inputs(workflow, given, request.targets, chapter=has_chapter, words=("chapter", "inputs.{name}"))
            if config is not None:
                info = self._project.info
                request = config.request(request, workflow, dict(info.models), info.model_names, identity)
        except FlowCabalError as error:
            if isinstance(error, BadLine):
                raise
            await self._output.put(_error(identity, error))
            return
        await self._send(identity, replace(command, request=request))

    async def _answered(self, identity: Identity, message: object) -> None:
        """Sends the answer of a request, or an error."""
        try:
            await self._output.put(await self._answer_or_error(identity, message))
        finally:
            self._places.release()

    async def _answer_or_error(self, identity: Identity, message: object) -> dict[str, Any]:
        try:
            return await self._answer(identity, message)
        except FlowCabalError as error:
            return _error(identity, error)
        except ValidationError as error:
            return _error(identity, bad_fields(error, identity))
        except Exception:  # the edge of the session: a mistake must be answered and must not end it
            log.exception("session: %s", type(message).__name__)
            return _error(identity, FlowCabalError(_("The request stopped because of an error in the program.")))

    async def _answer(self, identity: Identity, message: object) -> dict[str, Any]:
        project = self._project
        match message:
            case Connect():
                return self._connect(identity, message)
            case Disconnect():
                self._connected = False
                return {"type": "status", "id": identity, "status": "disconnected", "message": ""}
            case ListWorkflows():
                fields = {"id", "version", "name", "description", "language"}
                known = await project.workflows.newest()
                listed = [{**each.model_dump(include=fields), "reference": each.reference} for each in known]
                return {"type": "workflow:list", "id": identity, "workflows": listed}
            case LoadWorkflow():
                document = await project.workflows.get(message.workflow)
                return {"type": "workflow:data", "id": identity, "workflow": to_plain(document)}
            case ListChapters():
                chapters = [to_plain(chapter) for chapter in await project.book.chapters()]
                return {"type": "chapter:list", "id": identity, "chapters": chapters}
            case ListRuns():
                runs = await project.runs.summaries(message.limit)
                return {"type": "run:list", "id": identity, "runs": [to_plain(run) for run in runs]}
            case Ask(question=question) if question in QUESTIONS:
                value = await ask(project, question, message.arguments)
                return {"type": "answer", "id": identity, "question": question, "value": value}
        names = _(", ").join(QUESTIONS)
        raise BadLine("UnknownQuestion", _("There is no such question."), _("Available: {names}").format(names=names))

    def _connect(self, identity: Identity, message: Connect) -> dict[str, Any]:
        if message.project not in ("", self._identity):
            raise BadLine("UnknownProject", _("Another project is open here."), identity=identity)
        self._connected, info = True, self._project.info
        known = {
            "id": self._identity,
            "name": info.name,
            "language": info.language,
            "read_only": info.read_only,
            "offline": info.offline,
            "trust": info.trust,
            "models": {role: {"provider": model.provider, "model": model.model} for role, model in info.models},
        }
        return {"type": "status", "id": identity, "status": "connected", "message": "", "project": known}

    # Events

    async def _send_events(self) -> None:
        while True:
            await self._send_waiting()
            await asyncio.sleep(_TICK_SECONDS)

    async def _send_waiting(self) -> None:
        for event in self._project.take():
            if (message := self._message(event)) is not None:
                await self._output.put(message)

    def _message(self, event: Event) -> dict[str, Any] | None:
        """An event for the client; that a command has ended answers it, also one that is not connected."""
        is_answer, identity = False, None
        if isinstance(event, CommandDone | CommandFailed) and event.command in self._sent:
            self._commands.release()
            is_answer, identity = True, self._sent.pop(event.command)
        elif not self._connected:
            return None
        try:
            values = to_message(event)
        except (ValueError, TypeError, RecursionError) as error:  # it contains a value from a damaged row
            log.exception("session: %s", event.type)
            return _error(identity, _unsendable(event, error))
        return {"type": values.pop("type"), "id": identity, **values} if is_answer else values


def _unsendable(event: Event, error: Exception) -> ProjectDamaged:
    return ProjectDamaged(
        _("The event {type} cannot be sent.").format(type=event.type),
        str(error)[:200],
        _("Look for damage with `flowcabal-tui doctor`; the session goes on."),
    )


def _error(identity: Identity, error: FlowCabalError) -> dict[str, Any]:
    kind = error.kind if isinstance(error, BadLine) else type(error).__name__
    words = {"title": error.title, "detail": error.detail, "advice": error.advice}
    return {"type": "error", "id": identity, "error": kind, **words}
