"""The lanes of the background work: what a slow model holds up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowcabal_tui.domain.memory import BackgroundTask, Freshness, TaskKind
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.memory import BackgroundChanged, CancelBackground
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
