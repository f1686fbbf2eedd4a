"""The examples in a real project: store, monitor, Context agent and the offline model."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import StaleQuestion
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import Decision, Question, RunRequest
from flowcabal_tui.examples import example
from flowcabal_tui.protocol.runs import Decide, WorkflowCompleted
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.case import Case, leave, opened
from tests.trusting import confirmed


@pytest_asyncio.fixture(params=["en", "zh"])
async def case(request: pytest.FixtureRequest, folder: Path, demos: dict[str, Path]) -> AsyncIterator[Case]:
    """The demo as it opens, with the two examples."""
    async with opened(confirmed(shutil.copytree(demos[request.param], folder))) as case:
        for name in ("recursive_polish", "five_openings"):
            await case.project.carry_out(SaveWorkflow(example(name, request.param)))
        yield case


def first(_question: Question) -> Decision:
    return Decision("choose", attempt=1)


async def wish(case: Case) -> tuple[tuple[str, str], ...]:
    return (("instruction", await case.project.drafts.draft("instruction") or ""),)


async def test_openings_are_chosen_across_two_programs_and_kept(case: Case, folder: Path) -> None:
    inputs = await wish(case)
    quoted = await case.project.runs.quote(RunRequest("five-openings", await case.chapter(7), inputs))
    assert (quoted.would_run, quoted.likely.calls) == (("openings",), 2 * (5 + 5 * 2 + 1))
    run = await case.start("five-openings", 7, inputs=inputs)
    assert await case.follow(run, leave) == "waiting"
    (question,) = await case.project.runs.questions()
    assert len({choice.text for choice in question.choices}) == 5
    for number in (0, 9):
        with pytest.raises(StaleQuestion):
            await case.project.carry_out(Decide(question.id, Decision("choose", attempt=number)))
    await case.project.close()
    async with opened(folder) as again:
        (kept,) = await again.project.runs.questions()
        assert kept.choices == question.choices
        await again.project.carry_out(Decide(question.id, Decision("choose", attempt=2)))
        assert await again.follow(run, first) == "done"
        (ended,) = again.told(WorkflowCompleted)
        view = await again.view(run, "openings")
        assert (view.state, view.kind, view.chosen) == ("done", "evolution", 1)
        (attempt,) = view.attempts
        assert attempt.text == dict(ended.outputs)[NodeId("openings")]
        kept_as = await again.keep(run, "openings")
        assert await again.keep(run, "openings", attempt=1) == kept_as


async def test_a_chapter_is_drafted_criticised_and_approved(case: Case) -> None:
    inputs = await wish(case)
    seen: list[str] = []

    def approve(question: Question) -> Decision:
        seen.append(question.node)
        return Decision("approve")

    run = await case.run("recursive-polish", 7, approve, inputs=inputs)
    assert seen[-1] == "polish"
    (ended,) = case.told(WorkflowCompleted)
    assert len(dict(ended.outputs)[NodeId("polish")]) > 100
    await case.keep(run, "polish", kind="chapter")
    assert await case.project.book.chapter_text(await case.chapter(7)) == dict(ended.outputs)[NodeId("polish")]
