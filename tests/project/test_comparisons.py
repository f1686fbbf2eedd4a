"""Comparisons of candidates: blind until the choice, decided, put together, traced, sifted, taken back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.comparison import Comparison, ComparisonTarget, Taken, Verdict, composed
from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.protocol.comparisons import (
    DecideComparison,
    SiftCandidates,
    SmoothSeams,
    TakeBackChoice,
    WriteCandidates,
)
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.runs import Decide, RunStateChanged
from flowcabal_tui.protocol.workflows import EditOutput, FreezeNode, SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import ENDED, Case, both, calls, endpoint, leave, make_one, opened
from tests.runner.fakes import prompt

PLAIN = {"context": False, "angles": [], "review": "never"}
PLAN, DRAFT = NodeId("plan"), NodeId("draft")
BEATS = "1. Nora opens the ledger.\n2. The bell rings at noon."
TEXTS = (
    "Nora opened the ledger. She read.\n\nThe bell began to ring. It was noon.",
    "The ledger lay open before Nora.\n\nNoon came, and nobody rang the bell.",
    "Nora turned pages of the ledger.\n\nAt noon the bell was silent.",
)


def chapter_flow() -> Workflow:
    plan = {"kind": "virtual", "node": "plan", "part": "plan"}
    told = {"prompt": [{"kind": "text", "text": "Write. "}, plan], "temperature": 0.9, **PLAIN}
    return Workflow(
        id="chapter-flow", nodes=(prompt("plan", "Plan it.", **PLAIN), Node(id=DRAFT, name="Draft", params=told))
    )


def openings(**params: object) -> Workflow:
    write = {"prompt": [{"kind": "text", "text": "Open. {{parent}}"}], "context": False}
    node = Node(id=NodeId("open"), kind="evolution", params={"write": write, "candidates": 3, **params})
    return Workflow(id="openings", nodes=(node, prompt("after", "Go on: ", "@open", **PLAIN)))


@pytest_asyncio.fixture
async def case(folder: Path, server: FaultServer) -> AsyncIterator[Case]:
    """A chapter with a plan and one draft."""
    server.push(*({"content": text} for text in (BEATS, *TEXTS)))
    model = endpoint(server, price_in="1", price_out="2")
    async with opened(await make_one(folder, both(model))) as case:
        await case.project.carry_out(SaveWorkflow(chapter_flow()))
        await case.run("chapter-flow", chapter=1)
        yield case


async def draft(case: Case) -> ComparisonTarget:
    return ComparisonTarget(workflow="chapter-flow", node=DRAFT, chapter=await case.chapter(1))


async def three(case: Case) -> Comparison:
    """The comparison of three drafts, two of which were asked for by hand."""
    target = await draft(case)
    await case.project.carry_out(WriteCandidates(target, 2))
    return await case.project.comparisons.comparison(target)


async def current_text(
    case: Case, workflow: str = "chapter-flow", node: NodeId = DRAFT, chapter: int | None = 1
) -> str:
    """The text of the output that a node has."""
    place = await case.chapter(chapter) if chapter else None
    (found,) = [each for each in await case.project.workflows.versions(workflow, node, place) if each.current]
    return (await case.project.workflows.texts([found]))[0]


async def test_a_single_text_is_nothing_to_compare(case: Case) -> None:
    with pytest.raises(RunError, match="only one text"):
        await case.project.comparisons.comparison(await draft(case))


async def test_further_candidates_are_quoted_paid_once_and_change_nothing_that_stands(
    case: Case, server: FaultServer
) -> None:
    target, before = await draft(case), calls(server)
    quote = await case.project.comparisons.quote_candidates(target, 2)
    assert (calls(server), quote.likely.calls) == (before, 2)
    shown = await three(case)
    assert calls(server) == before + 2
    assert {each.text for each in shown.candidates} == set(TEXTS)
    assert await current_text(case) == TEXTS[0]
    assert not shown.is_decided and shown.can_grow


async def test_the_order_is_hidden_and_the_same_when_the_project_is_opened_again(case: Case, folder: Path) -> None:
    shown = await three(case)
    assert all(each.maker is None for each in shown.candidates)
    told = json.dumps([each.text for each in shown.candidates])
    await case.project.close()
    async with opened(folder) as again:
        seen = await again.project.comparisons.comparison(await draft(again))
        assert (seen.seed, json.dumps([each.text for each in seen.candidates])) == (shown.seed, told)
        (summary,) = await again.project.comparisons.comparisons()
        assert (summary.id, summary.state, summary.candidates) == (shown.id, "open", 3)


async def test_rows_are_the_beats_of_the_plan_and_a_beat_that_is_missing_is_marked(case: Case) -> None:
    shown = await three(case)
    assert [row.beat for row in shown.rows] == ["Nora opens the ledger.", "The bell rings at noon."]
    assert {cell for row in shown.rows for cell in row.cells} == {(0,), (1,)}
    assert all(mark.kind == "beat" for each in shown.candidates for mark in each.marks)


async def test_a_choice_stands_says_who_won_and_is_taken_back(case: Case) -> None:
    shown, target = await three(case), await draft(case)
    pick = next(each for each in shown.candidates if each.text == TEXTS[2])
    identity = await case.project.carry_out(DecideComparison(target, Verdict("chosen", (pick.digest,))))
    assert await current_text(case) == TEXTS[2]
    decided = await case.project.comparisons.comparison(target)
    assert decided.verdict == Verdict("chosen", (pick.digest,))
    maker = decided.candidates[decided.place(pick.digest)].maker
    assert maker and (maker.model, maker.prompt_name, json.loads(maker.sampling)) == (
        "mock",
        "Draft",
        {"temperature": 0.9},
    )
    assert maker.cost is not None
    (row,) = await case.project.comparisons.outcomes()
    assert (row.model, row.won, row.tied, row.lost) == ("mock", 1, 0, 2)
    await case.project.carry_out(TakeBackChoice(shown.id))
    assert identity == shown.id
    assert await current_text(case) == TEXTS[0]
    assert await case.project.comparisons.outcomes() == ()
    assert (await case.project.comparisons.comparison(target)).candidates == shown.candidates, "blind again"
    with pytest.raises(RunError, match="No choice was made"):
        await case.project.carry_out(TakeBackChoice(shown.id))


async def test_a_choice_is_not_taken_back_over_a_later_one(case: Case) -> None:
    shown, target = await three(case), await draft(case)
    pick = next(each for each in shown.candidates if each.text == TEXTS[1])
    await case.project.carry_out(DecideComparison(target, Verdict("chosen", (pick.digest,))))
    await case.project.carry_out(EditOutput("chapter-flow", DRAFT, "By hand.", target.chapter))
    with pytest.raises(RunError, match="since"):
        await case.project.carry_out(TakeBackChoice(shown.id))
    assert await current_text(case) == "By hand."


async def test_a_tie_and_none_of_them_are_answers(case: Case) -> None:
    shown, target = await three(case), await draft(case)
    first, second, _third = (each.digest for each in shown.candidates)
    await case.project.carry_out(DecideComparison(target, Verdict("tie", (second, first))))
    assert await current_text(case) == shown.candidates[1].text
    (row,) = await case.project.comparisons.outcomes()
    assert (row.won, row.tied, row.lost) == (0, 2, 1)
    await case.project.carry_out(DecideComparison(target, Verdict("none")))
    (row,) = await case.project.comparisons.outcomes()
    assert (row.won, row.tied, row.lost) == (0, 0, 3)
    for wrong in (Verdict("tie", (first,)), Verdict("none", (first,)), Verdict("composed"), Verdict("chosen")):
        with pytest.raises(RunError):
            await case.project.carry_out(DecideComparison(target, wrong))
    with pytest.raises(RunError, match="no such candidate"):
        await case.project.carry_out(DecideComparison(target, Verdict("chosen", (Digest("x"),))))


async def composing(case: Case) -> tuple[Comparison, str, tuple[Taken, ...]]:
    shown = await three(case)
    first, second = (next(each.digest for each in shown.candidates if each.text == text) for text in TEXTS[:2])
    taken = (Taken(second, 1), Taken(first, 0))
    return shown, composed(shown, taken), taken


async def test_a_text_of_parts_stands_and_blame_knows_whose_they_are_and_what_the_hand_changed(case: Case) -> None:
    shown, text, taken = await composing(case)
    assert text == "Nora opened the ledger. She read.\n\nNoon came, and nobody rang the bell.", "in the order of beats"
    edited = text.replace("nobody rang", "no hand rang") + "\n\nI wrote this myself."
    target = await draft(case)
    await case.project.carry_out(DecideComparison(target, Verdict("composed", (), edited), taken))
    assert await current_text(case) == edited
    (row,) = await case.project.comparisons.outcomes()
    assert (row.won, row.tied, row.lost) == (0, 2, 1), "two gave parts, one gave none"
    run = (await case.project.runs.summaries())[0].id
    await case.run("chapter-flow", chapter=1)
    newest = (await case.project.runs.summaries())[0].id
    assert newest != run
    await case.keep(newest, "draft", kind="chapter", mode="replace", chapter=target.chapter)
    first, second, third = await case.project.book.blame(await case.chapter(1))
    assert first.candidate and (first.candidate.maker.model, first.candidate.before) == ("mock", "")
    assert second.candidate and second.candidate.before == "Noon came, and nobody rang the bell."
    assert second.candidate.candidate == digest(TEXTS[1])
    assert third.candidate is None
    assert shown.id


async def test_a_pass_over_the_seams_is_quoted_paid_once_and_changes_nothing_by_itself(
    case: Case, server: FaultServer
) -> None:
    _shown, text, taken = await composing(case)
    target, before = await draft(case), calls(server)
    answer = {"seams": [{"seam": 1, "before": "She read it.", "after": "Noon came, and nobody rang the bell."}]}
    quote = await case.project.comparisons.quote_seams(target, text, taken)
    assert quote.likely.calls == 1 and quote.most and quote.most.cost
    assert await case.project.comparisons.seam_changes(target, text, taken) is None
    assert calls(server) == before
    server.push({"content": json.dumps(answer)})
    await case.project.carry_out(SmoothSeams(target, text, taken))
    await case.project.carry_out(SmoothSeams(target, text, taken))
    assert calls(server) == before + 1
    (change,) = await case.project.comparisons.seam_changes(target, text, taken) or ()
    assert (change.before, change.after) == ("She read.", "She read it.")
    assert (await case.project.comparisons.quote_seams(target, text, taken)).likely.calls == 0
    assert await current_text(case) == TEXTS[0]
    with pytest.raises(RunError, match="no seams"):
        await case.project.comparisons.quote_seams(target, TEXTS[0], ())


async def test_sifting_marks_what_a_rule_or_a_check_found_and_hides_nothing(case: Case, server: FaultServer) -> None:
    await three(case)
    target, before = await draft(case), calls(server)
    await case.project.carry_out(SiftCandidates(target))
    shown = await case.project.comparisons.comparison(target)
    assert calls(server) == before and len(shown.candidates) == 3
    assert {each.checked for each in shown.candidates} == {("rules",)}
    assert (await case.project.comparisons.quote_sifting(target)).likely.calls == 6


async def test_what_is_frozen_or_no_prompt_has_no_further_candidates(case: Case) -> None:
    target = await draft(case)
    await case.project.carry_out(FreezeNode("chapter-flow", DRAFT, target.chapter))
    with pytest.raises(RunError, match="frozen"):
        await case.project.comparisons.quote_candidates(target, 1)
    with pytest.raises(RunError, match="at a time"):
        await case.project.comparisons.quote_candidates(target, 9)
    with pytest.raises(UnknownName):
        await case.project.comparisons.comparison(ComparisonTarget(QuestionId("none")))


# a question of an evolution


@pytest_asyncio.fixture
async def asked(folder: Path, server: FaultServer) -> AsyncIterator[tuple[Case, ComparisonTarget]]:
    """A run that waits for a choice among three openings."""
    server.push(*({"content": text} for text in (*TEXTS, "After one.", "After two.", "After three.")))
    async with opened(await make_one(folder, both(endpoint(server)))) as case:
        await case.project.carry_out(SaveWorkflow(openings()))
        run = await case.start("openings")
        assert await case.follow(run, leave) == "waiting"
        (question,) = await case.project.runs.questions()
        yield case, ComparisonTarget(question.id)


async def finished(case: Case) -> str:
    run = (await case.project.runs.summaries())[0].id
    return (await case.until(RunStateChanged, lambda event: event.run == run and event.state in ENDED)).state


async def test_a_choice_answers_the_question_and_another_one_replaces_it(
    asked: tuple[Case, ComparisonTarget], server: FaultServer
) -> None:
    case, target = asked
    shown = await case.project.comparisons.comparison(target)
    assert shown.is_waiting and [each.maker for each in shown.candidates] == [None] * 3
    first, second, _third = shown.candidates
    await case.project.carry_out(DecideComparison(target, Verdict("chosen", (first.digest,))))
    assert await finished(case) == "done"
    assert await current_text(case, "openings", NodeId("open"), None) == first.text
    decided = await case.project.comparisons.comparison(target)
    maker = decided.candidates[0].maker
    assert maker and maker.model == "mock" and maker.node.startswith("open/1/candidate-") and maker.prompt
    before = calls(server)
    await case.project.carry_out(TakeBackChoice(shown.id))
    assert not (await case.project.comparisons.comparison(target)).is_decided
    await case.project.carry_out(DecideComparison(target, Verdict("chosen", (second.digest,))))
    assert await current_text(case, "openings", NodeId("open"), None) == second.text
    assert calls(server) == before, "nothing is paid for by it"
    await case.run("openings")
    assert await current_text(case, "openings", NodeId("open"), None) == second.text


async def test_after_a_choice_was_taken_back_a_run_asks_again_with_the_same_candidates(
    asked: tuple[Case, ComparisonTarget], server: FaultServer
) -> None:
    case, target = asked
    shown = await case.project.comparisons.comparison(target)
    await case.project.carry_out(DecideComparison(target, Verdict("chosen", (shown.candidates[0].digest,))))
    assert await finished(case) == "done"
    await case.project.carry_out(TakeBackChoice(shown.id))
    before = calls(server)
    run = await case.start("openings")
    assert await case.follow(run, leave) == "waiting"
    assert calls(server) == before
    (question,) = await case.project.runs.questions()
    again = await case.project.comparisons.comparison(ComparisonTarget(question.id))
    assert {each.text for each in again.candidates} == set(TEXTS)


async def test_none_of_them_rejects_and_a_composed_text_is_the_edit(asked: tuple[Case, ComparisonTarget]) -> None:
    case, target = asked
    shown = await case.project.comparisons.comparison(target)
    await case.project.carry_out(DecideComparison(target, Verdict("none")))
    assert await finished(case) == "failed"
    await case.project.carry_out(TakeBackChoice(shown.id))
    taken = tuple(Taken(each.digest, 0) for each in shown.candidates)
    text = composed(shown, taken)
    await case.project.carry_out(DecideComparison(target, Verdict("composed", (), text), taken))
    assert await current_text(case, "openings", NodeId("open"), None) == text


async def test_more_candidates_of_a_round_keep_those_that_are_there(
    asked: tuple[Case, ComparisonTarget], server: FaultServer
) -> None:
    case, target = asked
    before = calls(server)
    assert (await case.project.comparisons.quote_candidates(target, 2)).likely.calls >= 2
    run = await case.project.carry_out(WriteCandidates(target, 2))
    assert await case.follow(run, leave) == "waiting"
    assert calls(server) == before + 2
    (question,) = await case.project.runs.questions()
    assert len(question.choices) == 5
    shown = await case.project.comparisons.comparison(ComparisonTarget(question.id))
    assert len(shown.candidates) == 5


async def test_a_question_answered_elsewhere_can_be_decided_again_here(asked: tuple[Case, ComparisonTarget]) -> None:
    case, target = asked
    await case.project.carry_out(Decide(target.question, Decision("choose", 1)))
    assert await finished(case) == "done"
    shown = await case.project.comparisons.comparison(target)
    assert not shown.is_decided
    before = await current_text(case, "openings", NodeId("open"), None)
    other = next(each for each in shown.candidates if each.text != before)
    await case.project.carry_out(DecideComparison(target, Verdict("chosen", (other.digest,))))
    assert await current_text(case, "openings", NodeId("open"), None) == other.text


# faults


async def test_candidates_that_failed_are_asked_for_again_and_the_others_are_not_paid_twice(
    case: Case, server: FaultServer
) -> None:
    target = await draft(case)
    server.clear()
    server.push({"content": TEXTS[1]}, {"status": 400, "body": {"error": {"message": "no"}}}, {"content": TEXTS[2]})
    with pytest.raises(RunError, match="1 of 2"):
        await case.project.carry_out(WriteCandidates(target, 2))
    assert len((await case.project.comparisons.comparison(target)).candidates) == 2
    before = calls(server)
    await case.project.carry_out(WriteCandidates(target, 1))
    assert calls(server) == before + 1
    assert {each.text for each in (await case.project.comparisons.comparison(target)).candidates} == set(TEXTS)
    assert await current_text(case) == TEXTS[0]


async def test_a_model_that_writes_the_same_again_is_named(case: Case, server: FaultServer) -> None:
    server.clear()
    server.push({"content": TEXTS[0]})
    with pytest.raises(RunError, match="nothing new"):
        await case.project.carry_out(WriteCandidates(await draft(case), 1))


async def test_a_purge_of_the_chapter_takes_its_comparisons(case: Case, folder: Path) -> None:
    shown, target = await three(case), await draft(case)
    await case.project.drafts.put_draft(shown.draft_key, "{}")
    await case.project.carry_out(SiftCandidates(target))
    await case.project.carry_out(DecideComparison(target, Verdict("chosen", (shown.candidates[0].digest,))))
    await case.project.carry_out(Purge(await case.chapter(1)))
    await case.project.close()
    with sqlite3.connect(folder / ".flowcabal" / "project.db") as connection:
        for table in ("comparison", "comparison_result", "comparison_part", "comparison_check"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        assert connection.execute("SELECT count(*) FROM draft WHERE key LIKE 'comparison/%'").fetchone() == (0,)


async def test_a_run_that_was_left_for_the_night_is_decided_in_another_process(
    asked: tuple[Case, ComparisonTarget], folder: Path, server: FaultServer
) -> None:
    case, target = asked
    shown = await case.project.comparisons.comparison(target)
    before = calls(server)
    await case.project.close()
    async with opened(folder) as again:
        seen = await again.project.comparisons.comparison(target)
        assert seen.candidates == shown.candidates
        await again.project.carry_out(DecideComparison(target, Verdict("chosen", (seen.candidates[2].digest,))))
        assert await finished(again) == "done"
        assert calls(server) == before + 1, "only what comes after the choice is written"
        assert await current_text(again, "openings", NodeId("open"), None) == seen.candidates[2].text
