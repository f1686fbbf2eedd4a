"""Notes of readers in the list of findings: listed first, answered, put aside, and every word undone by one command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.comments import Comment, CommentFilter, CommentId
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.findings import FindingFilter, FindingPage
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.findings import ChangeFromHere, DecideFindings
from flowcabal_tui.protocol.revision import EditComments, RemoveComments
from flowcabal_tui.protocol.story import PutRecord, UndoDecision
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened

TEXTS = ("It rained.", "The lamp went out at four.", "It rained all day. As an AI language model, I cannot go on.")
ALL = FindingFilter(states=(), folded=True, notes=True)
NEW = FindingFilter(notes=True)


@pytest.fixture
async def case(folder: Path):
    """Three chapters; on the second a note of a reader and one of the writer, and a finding of a rule in the third."""
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        for number, text in enumerate(TEXTS, 1):
            await case.project.carry_out(AddChapter(f"Chapter {number}"))
            await case.project.carry_out(WriteChapter(await case.chapter(number), text))
        await case.settled()
        two, project = await case.chapter(2), case.project
        comments = project._parts.store.comments
        await project._engine.call(comments.add(Comment(two, "Mine.", "note", "at four", 18, 25)))
        await project._engine.call(
            comments.add(Comment(two, "At five, surely?", "question", "at four", 18, 25, "Anna"))
        )
        yield case


async def listed(case: Case, where: FindingFilter = NEW, offset: int = 0, limit: int = 100) -> FindingPage:
    return await case.project.findings.findings(where, offset, limit)


async def test_a_readers_note_stands_before_the_findings_of_checks(case: Case) -> None:
    page = await listed(case)
    assert [row.proposal.origin.by for row in page.rows] == ["reader", "rule"]
    assert (page.total, page.counts["waiting"]) == (2, 2)
    note = page.rows[0].proposal
    assert (note.origin.maker, note.quotation, note.place and note.place.chapter) == (
        *("Anna", "at four"), await case.chapter(2),
    )  # fmt: skip
    assert [row.proposal.origin.by for row in (await listed(case, FindingFilter())).rows] == ["rule"]
    assert [row.proposal.origin.by for row in (await listed(case, limit=1)).rows] == ["reader"]
    assert [row.proposal.origin.by for row in (await listed(case, offset=1, limit=5)).rows] == ["rule"]
    assert [row.proposal.origin.by for row in (await listed(case, replace(NEW, words="FIVE"))).rows] == ["reader"]
    assert [row.proposal.origin.by for row in (await listed(case, replace(NEW, checks=("leftovers",)))).rows] == [
        "rule"
    ]


async def states(case: Case) -> list[tuple[str, str, str]]:
    return [(row.proposal.origin.by, row.proposal.state, row.word) for row in (await listed(case, ALL)).rows]


async def open_notes(case: Case) -> list[str]:
    return [each.words for each in await case.project.revision.comments(CommentFilter()) if each.author]


async def ids(case: Case) -> tuple[ProposalId, ...]:
    return tuple(row.proposal.id for row in (await listed(case, ALL)).rows)


@pytest.mark.parametrize("verdict", ["intended", "useless", "later"])
async def test_each_word_on_a_note_and_a_finding_is_one_decision_and_one_undo(case: Case, verdict: Any) -> None:
    await case.project.carry_out(DecideFindings(await ids(case), verdict, "so"))
    assert (await listed(case)).rows == ()
    assert await states(case) == [("reader", verdict, "so"), ("rule", verdict, "so")]
    assert (await listed(case, replace(ALL, states=(verdict,)))).total == 2
    assert (await listed(case)).counts == {verdict: 2}
    assert await open_notes(case) == (["At five, surely?"] if verdict == "later" else [])
    await case.project.carry_out(UndoDecision(scope="findings"))
    assert await states(case) == [("reader", "waiting", ""), ("rule", "waiting", "")]
    assert await open_notes(case) == ["At five, surely?"]
    with pytest.raises(RunError):
        await case.project.carry_out(UndoDecision(scope="findings"))


async def test_a_word_on_a_note_is_undone_before_an_older_one_on_a_finding(case: Case) -> None:
    note, finding = await ids(case)
    await case.project.carry_out(DecideFindings((finding,), "useless"))
    await case.project.carry_out(DecideFindings((note,), "later"))
    await case.project.carry_out(DecideFindings((note,), "useless"))
    await case.project.carry_out(UndoDecision())
    assert [state for _by, state, _word in await states(case)] == ["later", "useless"]
    await case.project.carry_out(DecideFindings((note,), "waiting"))
    assert [row.proposal.id for row in (await listed(case)).rows] == [note]
    await case.project.carry_out(UndoDecision(scope="findings"))
    await case.project.carry_out(UndoDecision(scope="findings"))
    assert [state for _by, state, _word in await states(case)] == ["later", "waiting"]


async def test_the_fact_that_answers_a_note_is_written_and_taken_back_with_the_answer(case: Case) -> None:
    note, _finding = await ids(case)
    await case.project.carry_out(ChangeFromHere(note))
    (fact,) = (await case.project.story.all()).facts
    assert (fact.text, fact.since, fact.by) == ("at four", await case.chapter(2), "hand")
    assert ((await states(case))[0][1], await open_notes(case)) == ("changed", [])
    await case.project.carry_out(UndoDecision(scope="findings"))
    assert (await case.project.story.all()).facts == ()
    assert ((await states(case))[0][1], await open_notes(case)) == ("waiting", ["At five, surely?"])


async def test_a_note_that_is_resolved_among_the_comments_is_answered(case: Case) -> None:
    note, _finding = await ids(case)
    await case.project.carry_out(DecideFindings((note,), "later"))
    comment = CommentId(int(note.removeprefix("note-")))
    await case.project.carry_out(EditComments((comment,), resolved=True))
    assert (await states(case))[0][1] == "resolved"
    with pytest.raises(RunError):
        await case.project.carry_out(UndoDecision(scope="findings"))
    await case.project.carry_out(RemoveComments((comment,)))
    assert [by for by, _state, _word in await states(case)] == ["rule"]


async def test_a_word_on_a_finding_and_one_on_a_record_are_undone_apart(case: Case) -> None:
    fact = await case.project.carry_out(PutRecord(Fact(RecordId(""), "It rains.", ())))
    _note, finding = await ids(case)
    await case.project.carry_out(DecideFindings((finding,), "useless"))
    with pytest.raises(RunError):
        await case.project.carry_out(UndoDecision(scope="proposals"))
    with pytest.raises(RunError):
        await case.project.carry_out(UndoDecision(scope="impact"))
    assert [each.id for each in (await case.project.story.all()).facts] == [fact]
    await case.project.carry_out(UndoDecision(scope="findings"))
    assert (await states(case))[1][1] == "waiting"


@pytest.mark.parametrize("number", ["99", "9" * 40, "-1", "", "\u00b2"])
async def test_an_unknown_note_is_refused_and_nothing_beside_it_is_decided(case: Case, number: str) -> None:
    unknown = ProposalId(f"note-{number}")
    with pytest.raises(Gone):
        await case.project.carry_out(DecideFindings((*await ids(case), unknown), "useless"))
    with pytest.raises(Gone):
        await case.project.carry_out(ChangeFromHere(unknown))
    assert {state for _by, state, _word in await states(case)} == {"waiting"}
    assert CommentId(99) not in [each.id for each in await case.project.revision.comments(CommentFilter())]
