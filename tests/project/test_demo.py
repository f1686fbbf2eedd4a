"""The demo with the offline model, in both languages: what a newcomer sees in two minutes."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import CheckFinding, Decision, Question
from flowcabal_tui.nodes.mending import paragraphs
from flowcabal_tui.protocol.book import OutputPersisted
from flowcabal_tui.protocol.memory import ProfileUpdated
from tests.project.case import Case, leave, opened
from tests.trusting import confirmed


@pytest_asyncio.fixture(params=["en", "zh"])
async def case(request: pytest.FixtureRequest, folder: Path, demos: dict[str, Path]) -> AsyncIterator[Case]:
    """The demo as it opens, its memory complete."""
    async with opened(confirmed(shutil.copytree(demos[request.param], folder))) as case:
        yield case


def correct(question: Question) -> Decision:
    """The plan is approved; a text in which a fact is wrong is sent back, once."""
    doubted = question.node != "plan" and len(question.attempts) == 1
    return Decision("retry") if doubted else Decision("approve")


async def whole_run(case: Case) -> RunId:
    """The demo's run as the tour leads through it."""
    wish = await case.project.drafts.draft("instruction") or ""
    return await case.run("chapter", 7, correct, inputs=(("instruction", wish),))


async def findings(case: Case, run: RunId) -> list[CheckFinding]:
    attempts = (await case.view(run, "polish")).attempts
    return [found for attempt in attempts if attempt.evaluation for found in attempt.evaluation.findings]


async def test_the_first_stop_is_the_plan(case: Case) -> None:
    run = await case.start("chapter", 7)
    assert await case.follow(run, leave) == "waiting"
    (question,) = await case.project.runs.questions()
    assert (question.node, question.required, question.kind) == ("plan", True, "review")
    assert (await case.view(run, "plan")).attempts[0].text.strip()
    assert (await case.view(run, "draft")).state == "pending"


async def test_the_planted_contradiction_is_shown_with_two_quotations_and_corrected(case: Case) -> None:
    run = await whole_run(case)
    found = await findings(case, run)
    assert found
    polished = await case.view(run, "polish")
    for each in found:
        assert each.draft.text in polished.attempts[0].text
        source = await case.project.memory.source(each.source.uri)
        assert source.text[each.source.start : each.source.end] == each.source.text
    assert len(polished.attempts) > 1
    stands = polished.attempts[polished.chosen - 1]
    assert stands.number > 1
    assert stands.feedback and stands.of == 1 and not stands.paragraphs
    assert stands.evaluation is not None
    assert stands.evaluation.verdict == "approve"
    assert all(each.draft.text not in stands.text for each in found)


async def test_the_planted_contradiction_is_mended_in_its_paragraph_and_the_rest_stays(case: Case) -> None:
    def mend(question: Question) -> Decision:
        return replace(correct(question), kind="mend") if correct(question).kind == "retry" else Decision("approve")

    run = await case.run("chapter", 7, mend)
    first, second = (await case.view(run, "polish")).attempts[:2]
    assert second.of == 1 and len(second.paragraphs) == 1 and second.evaluation is not None
    assert second.evaluation.verdict == "approve"
    pairs = zip(paragraphs(first.text), paragraphs(second.text), strict=True)
    assert [n for n, (old, new) in enumerate(pairs, 1) if old != new] == list(second.paragraphs)
    trace = await case.project.runs.version_trace(run, NodeId("polish"), 2)
    assert trace.exact and [each.role for each in trace.messages[-3:]] == ["user", "assistant", "user"]
    assert trace.messages[-2].content == first.text


async def test_keeping_the_draft_changes_a_profile(case: Case) -> None:
    before = {row.uri: row.versions for row in await case.project.memory.profiles()}
    run = await whole_run(case)
    await case.keep(run, "polish")
    await case.settled()
    after = {row.uri: row.versions for row in await case.project.memory.profiles()}
    changed = {uri for uri, versions in after.items() if versions > before.get(uri, 0)}
    assert any(uri.startswith("profiles/characters/") for uri in changed)
    assert f"manuscript/{await case.chapter(7)}" in after
    assert case.told(OutputPersisted)
    assert case.told(ProfileUpdated)


async def test_the_demo_costs_nothing_and_says_that_it_is_offline(case: Case) -> None:
    await whole_run(case)
    assert case.project.info.offline
    assert (await case.project.runs.totals()).calls == 0


async def test_a_note_of_the_writer_makes_another_plan(case: Case) -> None:
    def retry_once(question: Question) -> Decision:
        if question.node == "plan" and question.attempts == (1,):
            return Decision("retry", note="More rain, please.")
        return Decision("approve", attempt=question.attempts[-1])

    run = await case.run("chapter", 7, retry_once)
    plan = await case.view(run, "plan")
    assert [attempt.feedback for attempt in plan.attempts] == ["", "More rain, please."]
    assert plan.chosen == 2


async def test_an_edit_of_the_plan_is_what_the_draft_is_written_from(case: Case) -> None:
    names = [entity.name for entity in await case.project.story.entities() if entity.kind == "character"]
    plan = f"{names[0]}\n1. {names[0]} finds a brass key under the stairs."

    def edit(question: Question) -> Decision:
        return Decision("edit", text=plan) if question.node == "plan" else Decision("approve")

    run = await case.run("chapter", 7, edit)
    view = await case.view(run, "plan")
    assert (view.attempts[-1].author, view.attempts[-1].text) == ("human", plan)
    assert "brass key" in (await case.view(run, "draft")).attempts[0].text


async def test_what_came_with_the_sample_was_not_written_today(case: Case) -> None:
    assert (await case.project.book.overview()).today == 0
