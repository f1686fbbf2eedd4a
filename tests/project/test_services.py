"""Services: one method a command, reached through a proxy on the engine's loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest

from flowcabal_tui.domain.errors import Gone, ProjectError, RunError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.project.commands import COMMAND, CommandQueue, handles
from flowcabal_tui.project.engine import EngineThread
from flowcabal_tui.project.proxy import on_engine
from flowcabal_tui.project.services.book import BookService
from flowcabal_tui.project.services.builds import BuildService
from flowcabal_tui.project.services.comparisons import ComparisonService
from flowcabal_tui.project.services.conversations import ConversationService
from flowcabal_tui.project.services.findings import FindingService
from flowcabal_tui.project.services.memory import MemoryService
from flowcabal_tui.project.services.models import ModelService
from flowcabal_tui.project.services.revision import RevisionService
from flowcabal_tui.project.services.runs import RunService
from flowcabal_tui.project.services.settings import SettingsService
from flowcabal_tui.project.services.story import StoryService
from flowcabal_tui.project.services.workflows import WorkflowService
from flowcabal_tui.protocol.base import Command, CommandDone, CommandFailed, Event
from flowcabal_tui.protocol.messages import COMMANDS

SERVICES = (
    BookService,
    BuildService,
    ComparisonService,
    ConversationService,
    FindingService,
    MemoryService,
    ModelService,
    RevisionService,
    RunService,
    SettingsService,
    StoryService,
    WorkflowService,
)


def test_each_command_is_carried_out_in_exactly_one_place() -> None:
    marks = [
        mark.kind for kind in SERVICES for method in vars(kind).values() if (mark := getattr(method, "handles", 0))
    ]
    passed_on = [command for kind in SERVICES for command, _do in kind.passes_on]
    assert Counter([*marks, *passed_on]) == Counter(COMMANDS.values())


def test_no_two_services_have_a_question_of_one_name() -> None:
    names = Counter(name for kind in SERVICES for name, value in vars(kind).items() if _is_question(name, value))
    assert [name for name, count in names.items() if count > 1] == []


def _is_question(name: str, value: object) -> bool:
    return not name.startswith("_") and asyncio.iscoroutinefunction(value) and not hasattr(value, "handles")


class Threads:
    """Answers with the name of the thread that it runs on."""

    async def here(self) -> str:
        return threading.current_thread().name

    async def missing(self, chapter: ChapterId) -> None:
        raise Gone(chapter)

    async def wrong(self) -> None:
        raise KeyError("boom")


@pytest.fixture
def engine():
    thread = EngineThread("engine under test")
    yield thread
    thread.stop()


async def test_a_proxy_awaits_on_the_engine(engine: EngineThread) -> None:
    service = on_engine(Threads, engine)
    assert await service.here() == "engine under test"
    with pytest.raises(Gone, match="There is nothing named c9"):
        await service.missing(ChapterId("c9"))
    with pytest.raises(AttributeError):
        await service.nothing()  # type: ignore[attr-defined]  # no question of this service


async def test_a_keyerror_of_a_question_or_a_command_is_an_error_of_the_program(
    engine: EngineThread, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("flowcabal_tui"), "propagate", True)  # opening a project ends it
    with pytest.raises(ProjectError, match="could not be shown"):
        await on_engine(Threads, engine).wrong()
    made = Queue()
    made.service.gate.set()
    with pytest.raises(RunError, match="an error in the program"):
        await made.queue.carry_out(Broken())
    assert [each.message for each in caplog.records] == ["question wrong", "command test:broken"]
    assert all("KeyError" in (each.exc_text or str(each.exc_info)) for each in caplog.records)


async def test_an_id_that_is_gone_is_no_error_of_the_program(
    engine: EngineThread, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Gone):
        await on_engine(Threads, engine).missing(ChapterId("c9"))
    assert caplog.records == []


class Queued(Command, type="test:queued"):
    number: int = 0


class Beside(Command, type="test:beside", when="beside"):
    pass


class AtOnce(Command, type="test:at-once", when="at once"):
    pass


class Broken(Command, type="test:broken"):
    pass


class Unknown(Command, type="test:unknown"):
    pass


class Recording:
    """Notes what began and in which order; `Queued` and `Beside` wait for `gate`."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gate = asyncio.Event()

    def note(self) -> None:
        self.log.append("accepted")

    @handles(Queued, accepted=note)
    async def queued(self, command: Queued) -> str:
        self.log.append(f"queued {command.number} as {COMMAND.get()}")
        await self.gate.wait()
        return str(command.number)

    @handles(Beside)
    async def beside(self, _command: Beside) -> None:
        self.log.append("beside")
        await self.gate.wait()

    @handles(AtOnce)
    async def at_once(self, _command: AtOnce) -> None:
        self.log.append("at once")
        self.gate.set()

    @handles(Broken)
    async def broken(self, _command: Broken) -> None:
        raise KeyError("boom")


class Queue:
    """A command queue over a recording service."""

    def __init__(self) -> None:
        self.service, self.events, self._tasks = Recording(), list[Event](), set[asyncio.Task[None]]()
        self.queue = CommandQueue(lambda: [self.service], self._require, self.events.append, self.start)
        self.refused: type[Command] | None = None
        self.start(self.queue.work())

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    def _require(self, command: Command) -> None:
        if type(command) is self.refused:
            raise RunError("refused")


async def test_commands_that_stop_work_pass_those_that_wait() -> None:
    made = Queue()
    queued = [asyncio.create_task(made.queue.carry_out(Queued(number))) for number in (1, 2)]
    await asyncio.sleep(0)
    await made.queue.carry_out(AtOnce())
    assert [await each for each in queued] == ["1", "2"]
    begun = [line for line in made.service.log if line != "accepted"]
    assert begun == ["at once", "queued 1 as c1", "queued 2 as c2"] or begun[0] == "queued 1 as c1"
    assert made.service.log.count("accepted") == 2


async def test_a_long_command_does_not_hold_up_the_next() -> None:
    made = Queue()
    beside = asyncio.create_task(made.queue.carry_out(Beside()))
    await asyncio.sleep(0)
    after = asyncio.create_task(made.queue.carry_out(Queued(3)))
    while made.service.log != ["accepted", "beside", "queued 3 as c2"]:  # noqa: ASYNC110  # each turn of the loop brings it on
        await asyncio.sleep(0)
    made.service.gate.set()
    assert (await beside, await after) == ("", "3")


async def test_a_refused_or_unknown_command_is_answered_with_its_id() -> None:
    made = Queue()
    made.refused = AtOnce
    with pytest.raises(RunError):
        await made.queue.carry_out(AtOnce())
    with pytest.raises(RunError):
        await made.queue.carry_out(Unknown())
    assert made.service.log == []
    assert [(type(each), each.command) for each in made.events] == [(CommandFailed, "c1"), (CommandFailed, "c2")]
    made.service.gate.set()
    assert await made.queue.carry_out(Queued(1)) == "1"
    assert made.events[-1] == CommandDone("c3", "1")
