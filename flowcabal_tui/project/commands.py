"""Maps commands to the methods that carry them out, and defines the order of execution."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextvars import ContextVar
from functools import cached_property, partial
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.ids import CommandId
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.protocol.base import Command, CommandDone, CommandFailed, Event

log = logging.getLogger(__name__)
S = TypeVar("S")
C = TypeVar("C", bound=Command)
Handler = Callable[[S, C], Awaitable[str | None]]

COMMAND: Final[ContextVar[CommandId]] = ContextVar("command")
"""The id of the command that is being carried out."""
_MARK: Final = "handles"


@dataclass(frozen=True, slots=True)
class _Mark:
    kind: type[Command]
    accepted: Callable[[Any], None] | None


def handles(kind: type[C], *, accepted: Callable[[S], None] | None = None) -> Callable[[Handler[S, C]], Handler[S, C]]:
    """Marks the method of a service that carries out a command. It returns the id of the new object, or None.

    The method raises FlowCabalError (Gone for an unknown id), and then nothing was changed. `accepted` is called
    when the command is queued, before it runs.
    """

    def mark(method: Handler[S, C]) -> Handler[S, C]:
        setattr(method, _MARK, _Mark(kind, accepted))
        return method

    return mark


PassedOn = tuple[type[Command], Callable[[Parts, Any], Awaitable[object]]]


def passed_on(kind: type[C], do: Callable[[Parts, C], Awaitable[object]], *, hurries: bool = False) -> PassedOn:
    """A command that a part carries out by `do`, which returns the id of the new object, or None, and raises as above.

    With `hurries`, the pauses of failing providers end first, since a person waits for the answer.
    """

    async def hurried(parts: Parts, command: C) -> object:
        parts.base.limits.hurry()
        return await do(parts, command)

    return kind, hurried if hurries else do


class Service:
    """Questions and commands of one subject. Lives on the engine's loop."""

    passes_on: ClassVar[tuple[PassedOn, ...]] = ()
    """The commands to which the service adds nothing. It has a method for each of the others, marked by `handles`."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._store = parts, parts.store


class _Table(NamedTuple):
    """The handler of a command, and the callback when it is queued."""

    methods: dict[type[Command], Callable[[Any], Awaitable[object]]]
    accepted: dict[type[Command], Callable[[], None]]


class CommandQueue:
    """Carries out commands in the order in which they were sent; see `Command.when`. Lives on the engine's loop."""

    def __init__(
        self,
        services: Callable[[], Iterable[object]],
        require: Callable[[Command], None],
        emit: Callable[[Event], None],
        start: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`services` are requested at the first command.

        `require` raises FlowCabalError for a command that is currently refused; `start` runs work outside the queue.
        """
        self._require, self._emit, self._start = require, emit, start
        self._services = services
        self._queue: asyncio.Queue[tuple[CommandId, Command]] = asyncio.Queue()
        self._waiters: dict[CommandId, asyncio.Future[str]] = {}
        self._numbers = itertools.count(1)

    @cached_property
    def _table(self) -> _Table:
        table = _Table({}, {})
        for service in self._services():
            if isinstance(service, Service):
                table.methods.update((kind, partial(do, service._parts)) for kind, do in service.passes_on)
            for name, function in vars(type(service)).items():
                if isinstance(marked := getattr(function, _MARK, None), _Mark):
                    table.methods[marked.kind] = getattr(service, name)
                    if marked.accepted is not None:
                        table.accepted[marked.kind] = marked.accepted.__get__(service)
        return table

    def new_id(self) -> CommandId:
        """The id of the next command."""
        return CommandId(f"c{next(self._numbers)}")

    def accept(self, identity: CommandId, command: Command) -> None:
        """Queues a command."""
        if (accepted := self._table.accepted.get(type(command))) is not None:
            accepted()
        if command.when == "at once":
            self._start(self._handle(identity, command))
        else:
            self._queue.put_nowait((identity, command))

    async def carry_out(self, command: Command) -> str:
        """Queues a command and waits for its end; returns its result. Raises FlowCabalError."""
        identity = self.new_id()
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiters[identity] = done
        self.accept(identity, command)
        return await asyncio.shield(done)

    async def work(self) -> None:
        """Processes commands from the queue until cancelled."""
        while True:
            identity, command = await self._queue.get()
            if command.when == "beside":
                self._start(self._handle(identity, command))
            else:
                await self._handle(identity, command)

    async def _handle(self, identity: CommandId, command: Command) -> None:
        waiter = self._waiters.pop(identity, None)
        COMMAND.set(identity)
        try:
            self._require(command)
            made = await self._method(command)(command)
        except FlowCabalError as error:
            self._failed(identity, error, waiter)
        except Exception as error:  # the edge of the engine: a mistake is reported and does not end it
            log.exception("command %s", command.type)
            self._failed(
                identity, RunError(_("The command stopped because of an error in the program."), repr(error)), waiter
            )
        else:
            result = "" if made is None else str(made)
            self._emit(CommandDone(identity, result))
            if waiter is not None:
                waiter.set_result(result)

    def _method(self, command: Command) -> Callable[[Any], Awaitable[object]]:
        if (method := self._table.methods.get(type(command))) is None:
            raise RunError(_("{type} is not a command of a project.").format(type=command.type))
        return method

    def _failed(self, identity: CommandId, error: FlowCabalError, waiter: asyncio.Future[str] | None) -> None:
        self._emit(CommandFailed(identity, error.title, error.detail, error.advice))
        if waiter is not None:
            waiter.set_exception(error)
