"""What is cut off, fails or is overtaken between two of its steps: repeated safely, stopped at once, paid once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.agents.curation.story import StoryReader
from flowcabal_tui.domain.errors import DiskFull, RunError
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import BackgroundTask, Entity
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.protocol.base import CommandFailed
from flowcabal_tui.protocol.book import EditChapter, ImportManuscript, ReplaceText, WriteChapter
from flowcabal_tui.protocol.memory import BootstrapChanged, PauseBootstrap, StartBootstrap
from flowcabal_tui.protocol.runs import CancelRun, ResumeRun
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.paths import PROJECT_STATE
from flowcabal_tui.settings.project_file import OFFLINE
from tests.faultserver import FaultServer
from tests.project.case import (
    CHAPTERS,
    Case,
    both,
    calls,
    change,
    endpoint,
    leave,
    make,
    make_one,
    opened,
    write_chapters,
)
from tests.project.test_bootstrap import ended, imported
from tests.project.test_stopping import left_waiting
from tests.project.test_story import FERRY
from tests.runner.fakes import flow, prompt
from tests.waiting import PATIENCE

TEXT = "the river rose all night, and nobody slept in the house by the water."
LAST_WAITS = flow(prompt("a", "Say one word.", context=False), prompt("b", "@a", review="always", context=False))


class Gate:
    """Holds up a coroutine function of the engine until it is let through."""

    def __init__(self, inner: Callable[..., Awaitable[Any]]) -> None:
        self._inner, self._test = inner, asyncio.get_running_loop()
        self.reached, self._open = asyncio.Event(), asyncio.Event()
        self._engine: asyncio.AbstractEventLoop | None = None

    async def __call__(self, *given: Any, **named: Any) -> Any:
        self._engine = asyncio.get_running_loop()
        self._test.call_soon_threadsafe(self.reached.set)
        await self._open.wait()
        return await self._inner(*given, **named)

    def open(self) -> None:
        assert self._engine is not None
        self._engine.call_soon_threadsafe(self._open.set)


@pytest.mark.parametrize("reads", [False, True], ids=["by rule", "by the model"])
async def test_names_are_indexed_although_the_project_was_closed_when_they_had_just_been_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, reads: bool
) -> None:
    await make_one(folder, both(OFFLINE))
    change(folder, "agents", curator=reads)
    with monkeypatch.context() as patched:
        gate = Gate(Steps._holds)
        patched.setattr(Steps, "_holds", lambda *given: gate(*given))
        async with opened(folder) as case:
            await case.project.carry_out(WriteChapter(await case.chapter(1), "\n\n".join(CHAPTERS.values())))
            await gate.reached.wait()
    async with opened(folder) as case:
        await case.settled()
        found = await case.project.story.entities()
        assert found and {each.first_position for each in found} == {1}


async def test_the_server_is_told_the_story_although_the_project_was_closed_when_it_had_just_been_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(PutEntity(Entity(EntityId("ines"), "character", "Ines Marlow")))
    with monkeypatch.context() as patched:
        gate = Gate(Steps.enqueue_story)
        patched.setattr(Steps, "enqueue_story", lambda *given: gate(*given))
        async with opened(folder) as case:
            await case.project.carry_out(WriteChapter(await case.chapter(1), FERRY))
            await gate.reached.wait()
    async with opened(folder) as case:
        await case.settled()
        assert (await case.project.story.all()).facts
        await case.project._engine.call(case.project._parts.memory.catch_up({}))
        told = {task.subject for task in await case.project.memory.background() if task.kind == "knowledge"}
        assert f"story/{await case.chapter(1)}" in told


async def test_a_stop_that_overtakes_the_taking_up_of_a_run_stops_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await left_waiting(folder)
    async with opened(folder) as case:
        runs = case.project._parts.runs.manager
        gate = Gate(runs._ports.of)
        monkeypatch.setattr(runs._ports, "of", gate)
        resumed = asyncio.create_task(case.project.carry_out(ResumeRun(run)))
        await gate.reached.wait()
        stopped = asyncio.create_task(case.project.carry_out(CancelRun(run)))
        await case.project.runs.summaries()
        gate.open()
        await asyncio.gather(resumed, stopped)
        assert await case.follow(run, leave) == "cancelled"
        assert await case.project.runs.questions() == ()
        assert case.project._parts.runs.manager.idle


async def test_a_step_whose_end_could_not_be_written_is_done_again_when_there_is_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        outbox = case.project._parts.store.outbox
        whole, failed = outbox.set_state, list[int]()

        async def full(task: int, *told: Any) -> None:
            if not failed:
                failed.append(task)
                raise DiskFull("no room")
            await whole(task, *told)

        monkeypatch.setattr(outbox, "set_state", full)
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        while not await _settles(case):  # noqa: ASYNC110  # refused as long as the last try found no room
            await asyncio.sleep(0.005)
        assert failed
        assert {task.state for task in await case.project.memory.background() if task.kind != "knowledge"} <= {"fresh"}


async def _settles(case: Case) -> bool:
    try:
        await case.settled()
    except DiskFull:
        return False
    return True


async def test_a_chapter_that_goes_while_it_is_read_leaves_the_reading_and_the_rest_is_read(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        reading, book = case.project._parts.memory.bootstrap, case.project._parts.store.book
        steps, gone = reading._steps, list[str]()

        def deleting(pinned: Any) -> Steps:
            made = steps(pinned)
            do = made.do

            async def then_gone(task: BackgroundTask) -> None:
                await do(task)
                if task.kind == "l0" and not gone:
                    gone.append(task.subject)
                    await book.delete(ChapterId(task.subject))

            monkeypatch.setattr(made, "do", then_gone)
            return made

        monkeypatch.setattr(reading, "_steps", deleting)
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert (status.done, status.failed, len(gone)) == (status.total, 0, 1)


async def test_a_mistake_that_raises_keyerror_fails_its_step_of_the_reading(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_reader: StoryReader, _goal: object) -> None:
        raise KeyError("boom")

    await imported(folder, server)
    monkeypatch.setattr(StoryReader, "read", broken)
    async with opened(folder) as case:
        await case.project.carry_out(StartBootstrap())
        status = await ended(case)
        assert status.failed == len(CHAPTERS)
    logged = (folder / PROJECT_STATE / "flowcabal.log").read_text("utf-8")
    assert (logged.count("step story of "), logged.count("KeyError: 'boom'")) == (len(CHAPTERS),) * 2


async def test_a_pause_that_overtakes_the_start_of_a_reading_holds(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        jobs = case.project._parts.store.jobs
        gate = Gate(jobs.add)
        monkeypatch.setattr(jobs, "add", gate)
        begun = asyncio.create_task(case.project.carry_out(StartBootstrap()))
        await gate.reached.wait()
        await case.project.carry_out(PauseBootstrap())
        gate.open()
        await begun
        await case.until(BootstrapChanged, lambda event: event.status.state in ("paused", "done"))
        status = await case.project.memory.bootstrap()
        assert status is not None and (status.state, calls(server)) == ("paused", 0)


async def test_a_pause_holds_that_overtakes_the_start_of_a_reading_in_the_queue(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await imported(folder, server)
    async with opened(folder) as case:
        gate = Gate(case.project._parts.memory.steps.enqueue_entity)
        monkeypatch.setattr(case.project._parts.memory.steps, "enqueue_entity", gate)
        case.project.send(PutEntity(Entity(EntityId("water"), "location", "the water")))
        await gate.reached.wait()
        started = case.project.send(StartBootstrap())
        await case.project.carry_out(PauseBootstrap())
        gate.open()
        refused = await case.until(CommandFailed)
        assert refused.command == started and "paused before it began" in refused.title
        assert (await case.project.memory.bootstrap(), calls(server)) == (None, 0)
        await case.project.carry_out(StartBootstrap())
        assert (await ended(case)).failed == 0


async def test_a_manuscript_that_is_imported_twice_at_once_stands_in_the_book_once(folder: Path) -> None:
    await make(folder, both(OFFLINE))
    command = ImportManuscript(str(write_chapters(folder.parent / "novel")))
    async with opened(folder) as case:
        both_ways = await asyncio.gather(*(case.project.carry_out(command) for _ in range(2)), return_exceptions=True)
        assert len(await case.project.book.chapters()) == 3
        assert [type(each) for each in both_ways].count(RunError) == 1


async def test_a_reference_book_is_added_once_although_it_is_imported_twice_at_once(folder: Path) -> None:
    await make(folder, both(OFFLINE))
    command = ImportManuscript(str(write_chapters(folder.parent / "novel")), reference="The Ferry")
    async with opened(folder) as case:
        await asyncio.gather(*(case.project.carry_out(command) for _ in range(2)), return_exceptions=True)
        assert len(await case.project.book.references()) == 1


async def test_what_an_agent_was_answered_is_booked_and_kept_although_it_was_cancelled_then(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(endpoint(server, price_in=Decimal(1), price_out=Decimal(2))))
    async with opened(folder) as case:
        models, store = case.project._parts.base.models, case.project._parts.store
        ask = ModelRequest((Message("user", "which word?"),), purpose="curator.l1")
        gate = Gate(store.usage.add)
        monkeypatch.setattr(store.usage, "add", gate)

        async def cancelled() -> None:
            asking = asyncio.create_task(models.agent().answer(ask))
            while not gate.reached.is_set():  # noqa: ASYNC110  # it is set by the test's own loop
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.sleep(0)
            gate.open()
            await asyncio.wait([asking])

        await case.project._engine.call(cancelled())
        assert models.spending.totals.calls == 1 and models.spending.totals.cost != Decimal(0)
        assert (await case.project._engine.call(models.agent().answer(ask))).cached
        assert calls(server) == 1


async def test_words_that_are_replaced_by_themselves_leave_the_chapter_in_the_index(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        chapter, memory = await case.chapter(1), case.project._parts.store.memory
        await case.project.carry_out(WriteChapter(chapter, TEXT))
        await case.settled()
        places = tuple(each.place for each in await case.project.book.occurrences("river"))
        await case.project.carry_out(ReplaceText("river", "river", places))
        await case.settled()
        assert await case.project._engine.call((await memory.view(None)).passages(chapter))


async def test_current_outputs_are_written_later_when_the_first_write_failed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        outputs = case.project._parts.store.current_outputs
        write, failed = outputs.write, list[str]()

        async def full(workflow: str, changes: Any) -> None:
            if not failed:
                failed.append(workflow)
                raise DiskFull("no room")
            await write(workflow, changes)

        monkeypatch.setattr(outputs, "write", full)
        await case.project.carry_out(SaveWorkflow(LAST_WAITS))
        run = await case.start("flow", 1)
        assert await case.follow(run, leave) == "waiting"
        async with asyncio.timeout(PATIENCE):
            while not failed:  # noqa: ASYNC110  # the engine's loop sets it
                await asyncio.sleep(0.005)
        assert await case.follow(run) == "done"
        statuses = await case.project.workflows.statuses("flow", await case.chapter(1))
        assert [each.node for each in statuses if each.output] == ["a", "b"]


async def test_a_name_that_a_hand_has_written_is_indexed_although_the_project_was_closed_just_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.settled()
        gate = Gate(case.project._parts.memory.steps.enqueue_entity)
        monkeypatch.setattr(case.project._parts.memory.steps, "enqueue_entity", gate)
        case.project.send(PutEntity(Entity(EntityId("water"), "location", "the water")))
        await gate.reached.wait()
    async with opened(folder) as case:
        await case.settled()
        (water,) = await case.project.story.entities()
        assert water.first_position == 1


@pytest.mark.parametrize(
    ("change", "files"),
    [({"title": "Another"}, ["0001-Another.md"]), ({"deleted": True}, [])],
    ids=["named", "deleted"],
)
async def test_a_chapters_file_follows_it_although_the_project_was_closed_just_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], files: list[str]
) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.settled()
        gate = Gate(case.project._parts.memory.updates.chapters_placed)
        monkeypatch.setattr(case.project._parts.memory.updates, "chapters_placed", gate)
        case.project.send(EditChapter(await case.chapter(1), **change))
        await gate.reached.wait()
    async with opened(folder):
        async with asyncio.timeout(PATIENCE):
            while [each.name for each in (folder / "manuscript").iterdir()] != files:  # noqa: ASYNC110  # a disk is polled
                await asyncio.sleep(0.01)
