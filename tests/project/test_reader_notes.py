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
from tests.project.desk import Desk, make_one, opened

TEXTS = ("It rained.", "The lamp went out at four.", "It rained all day. As an AI language model, I cannot go on.")
ALL = FindingWish(states=(), folded=True, notes=True)
NEW = FindingWish(notes=True)


@pytest.fixture
async def desk(folder: Path):
    """Three chapters; on the second a note of a reader and one of the writer, and a finding of a rule in the third."""
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as desk:
        for number, text in enumerate(TEXTS, 1):
            await desk.project.carry_out(AddChapter(f"Chapter {number}"))
            await desk.project.carry_out(WriteChapter(await desk.chapter(number), text))
        await desk.settled()
        two, project = await desk.chapter(2), desk.project
        comments = project._parts.store.comments
        await project._engine.call(comments.add(Comment(two, "Mine.", "note", "at four", 18, 25)))
        await project._engine.call(
            comments.add(Comment(two, "At five, surely?", "question", "at four", 18, 25, "Anna"))
        )
        yield desk


async def listed(desk: Desk, wish: FindingWish = NEW, offset: int = 0, limit: int = 100) -> FindingPage:
    return await desk.project.findings.findings(wish, offset, limit)


async def test_a_readers_note_stands_before_the_findings_of_checks(desk: Desk) -> None:
    page = await listed(desk)
    assert [row.proposal.origin.by for row in page.rows] == ["reader", "rule"]
    assert (page.total, page.counts["waiting"]) == (2, 2)
    note = page.rows[0].proposal
    assert (note.origin.maker, note.quotation, note.place and note.place.chapter) == (
        *("Anna", "at four"), await desk.chapter(2),
    )  # fmt: skip
    assert [row.proposal.origin.by for row in (await listed(desk, FindingWish())).rows] == ["rule"]
    assert [row.proposal.origin.by for row in (await listed(desk, limit=1)).rows] == ["reader"]
    assert [row.proposal.origin.by for row in (await listed(desk, offset=1, limit=5)).rows] == ["rule"]
    assert [row.proposal.origin.by for row in (await listed(desk, replace(NEW, words="FIVE"))).rows] == ["reader"]
    assert [row.proposal.origin.by for row in (await listed(desk, replace(NEW, checks=("leftovers",)))).rows] == [
        "rule"
    ]


async def test_a_note_is_answered_and_taken_up_again(desk: Desk) -> None:
    note = (await listed(desk)).rows[0].proposal
    with pytest.raises(RunError):
        await desk.project.carry_out(DecideFindings((note.id,), "later"))
    await desk.project.carry_out(DecideFindings(tuple(row.proposal.id for row in (await listed(desk)).rows), "useless"))
    assert (await listed(desk)).rows == ()
    states = [(row.proposal.origin.by, row.proposal.state) for row in (await listed(desk, ALL)).rows]
    assert states == [("reader", "resolved"), ("rule", "useless")]
    resolved = await desk.project.revision.comments(CommentWish(resolved=True))
    assert [(each.author, each.words) for each in resolved] == [("Anna", "At five, surely?")]
    await desk.project.carry_out(DecideFindings((note.id,), "waiting"))
    assert [row.proposal.id for row in (await listed(desk)).rows] == [note.id]


async def test_an_unknown_note_is_refused(desk: Desk) -> None:
    with pytest.raises(Gone, match="99"):
        await desk.project.carry_out(DecideFindings((ProposalId("note-99"),), "useless"))
    assert CommentId(99) not in [each.id for each in await desk.project.revision.comments(CommentWish())]
