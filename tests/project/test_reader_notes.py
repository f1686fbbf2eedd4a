"""Notes of readers in the list of findings: listed first, answered, taken up again, never put aside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.comments import Comment, CommentId, CommentWish
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.findings import FindingPage, FindingWish
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.findings import DecideFindings
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened

TEXTS = ("It rained.", "The lamp went out at four.", "It rained all day. As an AI language model, I cannot go on.")
ALL = FindingWish(states=(), folded=True, notes=True)
NEW = FindingWish(notes=True)


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


async def listed(case: Case, wish: FindingWish = NEW, offset: int = 0, limit: int = 100) -> FindingPage:
    return await case.project.findings.findings(wish, offset, limit)


async def test_a_readers_note_stands_before_the_findings_of_checks(case: Case) -> None:
    page = await listed(case)
    assert [row.proposal.origin.by for row in page.rows] == ["reader", "rule"]
    assert (page.total, page.counts["waiting"]) == (2, 2)
    note = page.rows[0].proposal
    assert (note.origin.maker, note.quotation, note.place and note.place.chapter) == (
        *("Anna", "at four"), await case.chapter(2),
    )  # fmt: skip
    assert [row.proposal.origin.by for row in (await listed(case, FindingWish())).rows] == ["rule"]
    assert [row.proposal.origin.by for row in (await listed(case, limit=1)).rows] == ["reader"]
    assert [row.proposal.origin.by for row in (await listed(case, offset=1, limit=5)).rows] == ["rule"]
    assert [row.proposal.origin.by for row in (await listed(case, replace(NEW, words="FIVE"))).rows] == ["reader"]
    assert [row.proposal.origin.by for row in (await listed(case, replace(NEW, checks=("leftovers",)))).rows] == [
        "rule"
    ]


async def test_a_note_is_answered_and_taken_up_again(case: Case) -> None:
    note = (await listed(case)).rows[0].proposal
    with pytest.raises(RunError):
        await case.project.carry_out(DecideFindings((note.id,), "later"))
    await case.project.carry_out(DecideFindings(tuple(row.proposal.id for row in (await listed(case)).rows), "useless"))
    assert (await listed(case)).rows == ()
    states = [(row.proposal.origin.by, row.proposal.state) for row in (await listed(case, ALL)).rows]
    assert states == [("reader", "resolved"), ("rule", "useless")]
    resolved = await case.project.revision.comments(CommentWish(resolved=True))
    assert [(each.author, each.words) for each in resolved] == [("Anna", "At five, surely?")]
    await case.project.carry_out(DecideFindings((note.id,), "waiting"))
    assert [row.proposal.id for row in (await listed(case)).rows] == [note.id]


async def test_an_unknown_note_is_refused(case: Case) -> None:
    with pytest.raises(Gone, match="99"):
        await case.project.carry_out(DecideFindings((ProposalId("note-99"),), "useless"))
    assert CommentId(99) not in [each.id for each in await case.project.revision.comments(CommentWish())]
