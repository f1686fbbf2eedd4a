"""Durable questions: they outlive the program, and no setting gets round them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError, StaleQuestion
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.protocol.runs import CancelRun, Decide, NodeNeedsHuman, RunStateChanged
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, leave, make_one, opened

PLAN = {"content": "Cast: nobody\n1. Rain."}


async def asked(folder: Path, server: FaultServer) -> None:
    """A run waits for the approval of its plan, and the program has ended."""
    await make_one(folder, both(endpoint(server)))
    server.push(PLAN)
    async with opened(folder) as case:
        run = await case.start("chapter", 1)
        assert await case.follow(run, leave) == "waiting"


async def test_a_question_outlives_the_program_and_its_answer_repeats_nothing(
    folder: Path, server: FaultServer
) -> None:
    await asked(folder, server)
    assert calls(server) == 1
    async with opened(folder, read_only=True) as looking:
        assert [run.state for run in await looking.project.runs.summaries()] == ["waiting"]
    async with opened(folder) as case:
        (question,) = await case.project.runs.questions()
        (run,) = await case.project.runs.summaries()
        assert (await case.view(run.id, "plan")).attempts[0].text == PLAN["content"]
        await case.project.carry_out(Decide(question.id, Decision("approve")))
        assert await case.follow(run.id) == "done"
        assert await case.project.runs.questions() == ()
    sent = [entry["body"]["messages"][-1]["content"] for entry in server.log]
    assert len([prompt for prompt in sent if "<task>plan</task>" in prompt]) == 1
    assert PLAN["content"] in sent[1]


async def test_a_question_is_answered_once(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as case:
        (question,) = await case.project.runs.questions()
        await case.project.carry_out(Decide(question.id, Decision("reject")))
        with pytest.raises(StaleQuestion):
            await case.project.carry_out(Decide(question.id, Decision("approve")))
        assert await case.follow(question.run) == "failed"
        assert (await case.view(question.run, "draft")).state == "blocked"


async def test_a_question_that_nobody_asked_is_an_error(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as case:
        with pytest.raises(RunError):
            await case.project.carry_out(Decide("nothing", Decision("approve")))  # type: ignore[arg-type]


async def test_read_only_shows_the_question_and_takes_no_answer(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder, read_only=True) as case:
        (question,) = await case.project.runs.questions()
        with pytest.raises(Exception, match="read-only"):
            await case.project.carry_out(Decide(question.id, Decision("approve")))
        assert await case.project.runs.questions() == (question,)


async def test_a_cancelled_run_asks_nothing_any_more(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as case:
        (question,) = await case.project.runs.questions()
        run = await case.start("chapter", 1, again=("plan",))
        assert await case.follow(run, leave) == "waiting"
        await case.project.carry_out(CancelRun(run))
        await case.until(RunStateChanged, lambda event: (event.run, event.state) == (run, "cancelled"))
        assert await case.project.runs.questions() == (question,)


async def test_a_waiting_run_holds_up_no_other(folder: Path, server: FaultServer) -> None:
    await asked(folder, server)
    async with opened(folder) as case:
        await case.run("quick-draft", 1)
        assert len(await case.project.runs.questions()) == 1


async def test_nobody_is_asked_twice_for_the_same_plan(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.run("chapter", 1)
        before = len(case.told(NodeNeedsHuman))
        await case.run("chapter", 1)
        assert len(case.told(NodeNeedsHuman)) == before


async def test_states_are_told_in_order(folder: Path, server: FaultServer) -> None:
    await make_one(folder, ModelsSettings(user=endpoint(server)))
    case: Case
    async with opened(folder) as case:
        run = await case.run("chapter", 1)
        assert [event.state for event in case.told(RunStateChanged) if event.run == run] == [
            "waiting",
            "running",
            "done",
        ]
