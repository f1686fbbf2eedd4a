"""Durable questions: they outlive the program, and no setting gets round them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError, StaleQuestion
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.protocol.runs import CancelRun, Decide, NodeNeedsHuman, RunStateChanged
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.faultserver import FaultServer
from tests.project.desk import Desk, both, calls, endpoint, leave, make_one, opened

PLAN = {"content": "Cast: nobody\n1. Rain."}


async def asked(folder: Path, server: FaultServer) -> None:
    """A run waits for the approval of its plan, and the program has ended."""
    await make_one(folder, both(endpoint(server)))
    server.push(PLAN)
    async with opened(folder) as desk:
        run = await desk.start("chapter", 1)
        assert await desk.follow(run, leave) == "waiting"


async def test_a_question_outlives_the_program_and_its_answer_repeats_nothing(
    folder: Path, server: FaultServer
) -> None:
    await asked(folder, server)
    assert calls(server) == 1
    async with opened(folder, read_only=True) as looking:
        assert [run.state for run in await looking.project.runs.summaries()] == ["waiting"]
    async with opened(folder) as desk:
        (question,) = await desk.project.runs.questions()
        (run,) = await desk.project.runs.summaries()
        assert (await desk.view(run.id, "plan")).attempts[0].text == PLAN["content"]
        await desk.project.carry_out(Decide(question.id, Decision("approve")))
        assert await desk.follow(run.id) == "done"
        assert await desk.project.runs.questions() == ()
    sent = [entry["body"]["messages"][-1]["content"] for entry in server.log]
    assert len([prompt for prompt in sent if "<task>plan</task>" in prompt]) == 1
    assert PLAN["content"] in sent[1]


async def test_a_question_is_answered_once(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as desk:
        (question,) = await desk.project.runs.questions()
        await desk.project.carry_out(Decide(question.id, Decision("reject")))
        with pytest.raises(StaleQuestion):
            await desk.project.carry_out(Decide(question.id, Decision("approve")))
        assert await desk.follow(question.run) == "failed"
        assert (await desk.view(question.run, "draft")).state == "blocked"


async def test_a_question_that_nobody_asked_is_an_error(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as desk:
        with pytest.raises(RunError):
            await desk.project.carry_out(Decide("nothing", Decision("approve")))  # type: ignore[arg-type]


async def test_read_only_shows_the_question_and_takes_no_answer(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder, read_only=True) as desk:
        (question,) = await desk.project.runs.questions()
        with pytest.raises(Exception, match="read-only"):
            await desk.project.carry_out(Decide(question.id, Decision("approve")))
        assert await desk.project.runs.questions() == (question,)


async def test_a_cancelled_run_asks_nothing_any_more(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as desk:
        (question,) = await desk.project.runs.questions()
        run = await desk.start("chapter", 1, again=("plan",))
        assert await desk.follow(run, leave) == "waiting"
        await desk.project.carry_out(CancelRun(run))
        await desk.until(RunStateChanged, lambda event: (event.run, event.state) == (run, "cancelled"))
        assert await desk.project.runs.questions() == (question,)


async def test_a_waiting_run_holds_up_no_other(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as desk:
        await desk.run("quick-draft", 1)
        assert len(await desk.project.runs.questions()) == 1


async def test_nobody_is_asked_twice_for_the_same_plan(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as desk:
        await desk.run("chapter", 1)
        before = len(desk.told(NodeNeedsHuman))
        await desk.run("chapter", 1)
        assert len(desk.told(NodeNeedsHuman)) == before


async def test_states_are_told_in_order(folder: Path, server: FaultServer) -> None:
    await make_one(folder, ModelsSettings(user=endpoint(server)))
    desk: Desk
    async with opened(folder) as desk:
        run = await desk.run("chapter", 1)
        assert [event.state for event in desk.told(RunStateChanged) if event.run == run] == [
            "waiting",
            "running",
            "done",
        ]
