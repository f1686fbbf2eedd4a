"""Stopping works at once, also for what an earlier process left; an answer must fit its question."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import RunError, StaleQuestion
from flowcabal_tui.domain.ids import CommandId, NodeId, RunId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.project.feed import LIMIT, PIECE, EventFeed
from flowcabal_tui.protocol.base import CommandDone, Resync, Status
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.protocol.runs import CancelRun, Decide, NodeStreaming, RunStateChanged
from flowcabal_tui.protocol.workflows import MarksChanged, SaveWorkflow
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import both, leave, make_one, opened
from tests.runner.fakes import flow, prompt
from tests.waiting import soon

WAITS = flow(prompt("a", "Say one word.", review="always", context=False), prompt("b", "@a", context=False))


async def left_waiting(folder: Path) -> RunId:
    """A run of an earlier process whose question is open."""
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(SaveWorkflow(WAITS))
        run = await case.start("flow", 1)
        assert await case.follow(run, leave) == "waiting"
    return run


async def test_a_run_that_an_earlier_process_left_can_be_stopped_with_its_question(folder: Path) -> None:
    run = await left_waiting(folder)
    async with opened(folder) as case:
        with pytest.raises(RunError, match="not running"):
            await case.project.carry_out(CancelRun(run, NodeId("a")))
        await case.project.carry_out(CancelRun(run))
        assert [event.state for event in case.told(RunStateChanged)] == ["cancelled"]
        assert await case.project.runs.questions() == ()
        assert [known.state for known in await case.project.runs.summaries()] == ["cancelled"]
        assert (await case.view(run, "a")).state == "cancelled"
        with pytest.raises(RunError, match="not running"):
            await case.project.carry_out(CancelRun(run))


async def test_an_attempt_that_was_never_made_cannot_be_approved(folder: Path) -> None:
    run = await left_waiting(folder)
    async with opened(folder) as case:
        (question,) = await case.project.runs.questions()
        with pytest.raises(StaleQuestion, match="no attempt 7"):
            await case.project.carry_out(Decide(question.id, Decision("approve", attempt=7)))
        await case.project.carry_out(Decide(question.id, Decision("edit", text="plain\x1b]0;evil\x07 words")))
        assert await case.follow(run, leave) == "done"
        assert (await case.view(run, "a")).attempts[-1].text == "plain words"


async def test_a_stop_does_not_wait_for_the_command_before_it(folder: Path) -> None:
    run = await left_waiting(folder)
    async with opened(folder) as case:
        (question,) = await case.project.runs.questions()
        blocked, parts = asyncio.Event(), case.project._parts
        loop = asyncio.get_running_loop()

        async def never(*_given: object) -> str:
            loop.call_soon_threadsafe(blocked.set)
            await asyncio.Event().wait()
            return ""

        parts.runs.manager.start = never  # type: ignore[method-assign]  # a command that hangs
        stuck = asyncio.create_task(case.start("flow", 1))
        await blocked.wait()
        await soon(case.project.carry_out(CancelRun(run)))
        assert not stuck.done()
        assert question.id not in [q.id for q in await case.project.runs.questions()]
        stuck.cancel()


def test_a_client_that_sleeps_gets_pieces_of_bounded_size_and_all_of_the_text() -> None:
    feed = EventFeed()
    feed.watch(RunId("r"), NodeId("n"))
    for number in range(3 * PIECE // 10):
        feed.publish(NodeStreaming(RunId("r"), NodeId("n"), 1, number * 10, "0123456789"))
    events = [event for event in feed.take() if isinstance(event, NodeStreaming)]
    assert max(len(event.chunk) for event in events) <= PIECE + 10 and len(events) < LIMIT
    assert "".join(event.chunk for event in events) == "0123456789" * (3 * PIECE // 10)


def test_a_client_that_sleeps_too_long_keeps_the_answers_to_its_commands() -> None:
    feed = EventFeed()
    for number in range(3 * LIMIT):
        feed.publish(MarksChanged("chapter", None))
        if number % LIMIT == 7:
            feed.publish(CommandDone(CommandId(f"c{number // LIMIT}")))
    events = feed.take()
    assert events[0] == Resync() and len(events) <= LIMIT + 1
    assert [event.command for event in events if isinstance(event, CommandDone)] == ["c0", "c1", "c2"]


async def test_the_status_tells_when_the_project_is_there_and_when_it_goes(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.until(Status)
    assert [event.status for event in case.told(Status)] == ["connected", "closing"]


async def test_keys_that_others_can_read_stop_the_knowledge_server_and_nothing_else(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOWCABAL_CONFIG_DIR", str(tmp_path))
    (tmp_path / "secrets.toml").write_text('mine = "k"')
    (tmp_path / "secrets.toml").chmod(0o644)
    embedding = Endpoint(model="vectors", base_url="http://127.0.0.1:9", secret="mine")
    await make_one(folder, ModelsSettings(user=OFFLINE, embedding=embedding))
    async with opened(folder, knowledge=True) as case:
        told = await case.until(KnowledgeStatus)
        assert told.state == "failed" and "read by others" in told.message
        assert await case.project.book.chapters()
