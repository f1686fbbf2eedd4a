"""The lanes of the background work: what a slow model holds up, and what becomes of a step whose text was changed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask, Freshness, TaskKind
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.memory import BackgroundChanged, CancelBackground
from flowcabal_tui.protocol.runs import CancelRun
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, make_one, opened
from tests.waiting import PATIENCE

TEXT = "Ines Marlow rang the bell. Ines Marlow waited. Nobody answered Ines Marlow."
UNDONE = "Ines Marlow carried the black token. Ines Marlow hid it from Tobias Crane."
ENDLESS = {"stall_after": 0}
"""An answer that does not begin until the client goes."""


async def slow(folder: Path, server: FaultServer) -> None:
    """A book with two chapters, and a model that answers one request at a time."""
    await make_one(folder, both(endpoint(server, first_token_timeout=3_600.0, concurrency=1)))
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("The Bell"))
        await case.settled()


async def told(case: Case, kind: TaskKind, state: Freshness, subject: str = "") -> BackgroundTask:
    """The first step of this kind, for this chapter, that was announced in this state."""

    def fits(event: BackgroundChanged) -> bool:
        step = event.task
        return step is not None and (step.kind, step.state) == (kind, state) and subject in ("", step.subject)

    step = (await case.until(BackgroundChanged, fits)).task
    assert step is not None
    return step


async def asked(server: FaultServer) -> None:
    """Returns when a request has arrived."""
    async with asyncio.timeout(PATIENCE):
        while not calls(server):  # noqa: ASYNC110  # the log of the server is polled
            await asyncio.sleep(0.005)


async def waits_for_model(case: Case, *without: BackgroundTask) -> BackgroundTask:
    """The reading of a chapter that is shown as running, if it is none of these, when its call waits for its turn."""
    known, slots = {step.id for step in without}, case.project._parts.base.limits._providers
    async with asyncio.timeout(PATIENCE):
        while True:
            for step in await case.project.memory.background("running"):
                turns = [turn for each in slots.values() for _priority, _number, turn in each._waiting]
                if step.kind == "story" and step.id not in known and any(not turn.done() for turn in turns):
                    return step


def sent(server: FaultServer) -> str:
    """All that was sent to the model."""
    return json.dumps([entry["body"] for entry in server.log], ensure_ascii=False)


async def test_file_index_and_names_of_a_chapter_do_not_wait_for_an_answer_of_the_model(
    folder: Path, server: FaultServer
) -> None:
    await slow(folder, server)
    server.push(ENDLESS)
    async with opened(folder) as case:
        first, second = await case.chapter(1), await case.chapter(2)
        await case.project.carry_out(WriteChapter(first, TEXT))
        await asked(server)
        await case.project.carry_out(WriteChapter(second, UNDONE))
        for kind in ("mirror", "index", "entities"):
            await told(case, kind, "fresh", second)
        assert [path.name for path in (folder / "manuscript").iterdir() if UNDONE in path.read_text("utf-8")]
        assert [(step.kind, step.subject) for step in await case.project.memory.background("running")] == [
            ("story", first)
        ]
        assert server.log[-1]["outcome"] == "open"


async def test_a_model_is_asked_after_the_chapter_was_indexed(folder: Path, server: FaultServer) -> None:
    await slow(folder, server)
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await case.settled()
        begun = [
            event.task.kind for event in case.told(BackgroundChanged) if event.task and event.task.state == "running"
        ]
    assert {"index", "entities"} <= set(begun[: begun.index("story")])


async def test_the_steps_that_call_a_model_are_cancelled_without_the_others(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, do = asyncio.Event(), Steps.do

    async def held(self: Steps, task: BackgroundTask) -> None:
        if task.kind == "mirror":
            while not goes_on.is_set():  # noqa: ASYNC110  # set in the loop of the test
                await asyncio.sleep(0.005)
        await do(self, task)

    await slow(folder, server)
    monkeypatch.setattr(Steps, "do", held)
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXT))
        await told(case, "mirror", "running")
        await case.project.carry_out(CancelBackground(only_model=True))
        goes_on.set()
        await case.settled()
        left = {(step.kind, step.state) for step in await case.project.memory.background()}
        assert left == {(kind, "cancelled") for kind in ("story", "l1", "l0", "check", "knowledge")}
        assert [path.name for path in (folder / "manuscript").iterdir() if TEXT in path.read_text("utf-8")]


async def test_a_text_that_was_undone_while_its_step_waited_for_the_model_is_not_sent(
    folder: Path, server: FaultServer
) -> None:
    await slow(folder, server)
    async with opened(folder) as case:
        second = await case.chapter(2)
        server.push(ENDLESS)
        run = await case.start("quick-draft", 1)
        await asked(server)
        await case.project.carry_out(WriteChapter(second, UNDONE))
        superseded = await waits_for_model(case)
        await case.project.carry_out(WriteChapter(second, TEXT))
        again = await waits_for_model(case, superseded)
        assert [step.id for step in await case.project.memory.background("running")] == [again.id]
        await case.project.carry_out(CancelRun(run))
        await case.settled()
        assert UNDONE not in sent(server)
        assert await case.project.memory.background("failed") == ()


async def test_a_step_that_waits_for_the_model_is_shown_as_running_and_can_be_cancelled(
    folder: Path, server: FaultServer
) -> None:
    await slow(folder, server)
    server.push(ENDLESS)
    async with opened(folder) as case:
        run = await case.start("quick-draft", 1)
        await asked(server)
        await case.project.carry_out(WriteChapter(await case.chapter(2), UNDONE))
        waits = await waits_for_model(case)
        await case.project.carry_out(CancelBackground(waits.id))
        await case.project.carry_out(CancelBackground())
        await case.project.carry_out(CancelRun(run))
        await case.settled()
        assert waits.id in {step.id for step in await case.project.memory.background("cancelled")}
        assert UNDONE not in sent(server)


async def test_a_text_that_was_changed_while_the_model_reads_it_occupies_the_model_no_longer(
    folder: Path, server: FaultServer
) -> None:
    await slow(folder, server)
    server.push(ENDLESS)
    async with opened(folder) as case:
        first = await case.chapter(1)
        await case.project.carry_out(WriteChapter(first, UNDONE))
        await asked(server)
        await case.project.carry_out(WriteChapter(first, TEXT))
        await server.wait_for("client_closed")
        await case.settled()
        assert await case.project.memory.background("failed") == ()
        assert {"L0", "L1"} <= set(await case.levels(f"manuscript/{first}"))


async def test_a_profile_of_a_chapter_whose_text_was_changed_is_made_after_the_new_text_was_read(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    do, begun = Steps.do, list[str]()

    async def endless_at_first(self: Steps, task: BackgroundTask) -> None:
        is_planned = task.source == "planned"
        begun.append("planned" if is_planned else task.kind)
        if is_planned and begun.count("planned") == 1:
            await asyncio.Event().wait()
        if not is_planned:
            await do(self, task)

    await slow(folder, server)
    monkeypatch.setattr(Steps, "do", endless_at_first)
    async with opened(folder) as case:
        first = await case.chapter(1)
        profile = BackgroundTask(0, "profile", f"profiles/characters/ines@{first}", Digest("planned"), "waiting", 1)
        await case.project._engine.call(case.project._parts.store.outbox.add([profile]))
        await told(case, "profile", "running")
        await case.project.carry_out(WriteChapter(first, TEXT))
        await case.settled()
    assert [step for step in begun if step in ("planned", "l0")] == ["planned", "l0", "planned"]
