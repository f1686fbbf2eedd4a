"""Proposed edits of a chapter, of the outline and of a workflow: accepted by the writer, edited, and taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    Change,
    Difference,
    OutlineEdit,
    Proposal,
    ProposalPlace,
    Reason,
    TextEdit,
    WorkflowEdit,
)
from flowcabal_tui.protocol.book import WriteChapter, WriteMeta
from flowcabal_tui.protocol.builds import RequestBuild
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened

FERRY = "Ines pushed the ferry off. Tobias watched her go."
NAMES = "Put a step between draft and polish that checks the names."
OUTLINE = "A river.\n\n# The Glove\n\nInes leaves.\n"


@pytest.fixture
async def case(folder: Path) -> AsyncIterator[Case]:
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), FERRY))
        yield case


async def add(case: Case, kind: str, change: Change, quotation: str = "") -> Proposal:
    chapter = getattr(change, "chapter", None)
    at = max(0, FERRY.find(quotation))
    place = ProposalPlace(chapter, at, at + len(quotation)) if chapter else None
    row = Proposal(kind, place, quotation, Difference(change), Reason("worded", "It is shorter."))  # type: ignore[arg-type]
    parts = case.project._parts
    (stored,) = await case.project._engine.call(parts.store.proposals.add([row]))
    return stored


async def edit(case: Case, before: str, after: str) -> Proposal:
    return await add(case, "edit", TextEdit(f"e-{after}", await case.chapter(1), before, after), before)


async def text(case: Case, chapter: ChapterId) -> str:
    return await case.project.book.chapter_text(chapter)


async def test_an_accepted_edit_is_one_version_and_one_undo(case):
    chapter = await case.chapter(1)
    row = await edit(case, "watched her go", "said nothing")
    await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    assert await text(case, chapter) == "Ines pushed the ferry off. Tobias said nothing."
    assert len(await case.project.book.chapter_versions(chapter)) == 2
    await case.project.carry_out(UndoDecision())
    assert await text(case, chapter) == FERRY
    assert (await case.project.story.proposal(row.id)).state == "waiting"


async def test_several_edits_at_once_are_one_undo(case):
    chapter = await case.chapter(1)
    rows = [await edit(case, "watched her go", "said nothing"), await edit(case, "pushed", "shoved")]
    await case.project.carry_out(DecideProposals(tuple(row.id for row in rows), "confirm"))
    assert await text(case, chapter) == "Ines shoved the ferry off. Tobias said nothing."
    await case.project.carry_out(UndoDecision())
    assert await text(case, chapter) == FERRY


async def test_an_edited_card_writes_the_writers_words(case):
    chapter, row = await case.chapter(1), await edit(case, "pushed", "shoved")
    own = TextEdit(row.difference.after.id, chapter, "pushed", "poled")
    command = CorrectProposal(row.id, own)
    assert from_message(to_message(command)) == command
    await case.project.carry_out(command)
    assert "poled the ferry" in await text(case, chapter)
    assert (await case.project.story.proposal(row.id)).difference.after == own
    with pytest.raises(RunError, match="something else"):
        await case.project.carry_out(CorrectProposal(row.id, Entity(EntityId(own.id), "character", "X")))


async def test_a_dropped_edit_changes_nothing(case):
    chapter, row = await case.chapter(1), await edit(case, "pushed", "shoved")
    await case.project.carry_out(DecideProposals((row.id,), "drop"))
    assert await text(case, chapter) == FERRY
    assert (await case.project.story.proposal(row.id)).state == "dropped"
    assert (await edit(case, "pushed", "shoved")).state == "dropped"  # the same is not asked again


async def test_unsaved_text_is_not_overwritten(case):
    chapter, row = await case.chapter(1), await edit(case, "pushed", "shoved")
    await case.project.drafts.put(chapter, "Typed.", 1)
    with pytest.raises(RunError, match="unsaved text"):
        await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    assert await text(case, chapter) == FERRY


async def test_words_that_stand_there_no_longer_are_not_replaced(case):
    chapter = await case.chapter(1)
    row = await add(case, "edit", TextEdit("e", chapter, "Nobody wrote this.", "x"), "Nobody wrote this.")
    with pytest.raises(VersionConflict, match="no longer there"):
        await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    assert await text(case, chapter) == FERRY


async def test_an_edit_of_the_outline_changes_its_part_and_is_taken_back(case):
    await case.project.carry_out(WriteMeta("outline", OUTLINE))
    chapter = await case.chapter(1)
    change = OutlineEdit("o", chapter, "Ines leaves.", "Ines leaves at dawn.")
    row = await add(case, "outline", change)
    await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    assert await case.project.book.meta("outline") == OUTLINE.replace("leaves.", "leaves at dawn.")
    await case.project.carry_out(UndoDecision())
    assert await case.project.book.meta("outline") == OUTLINE


async def test_an_outline_that_was_changed_since_is_not_overwritten(case):
    await case.project.carry_out(WriteMeta("outline", OUTLINE))
    row = await add(case, "outline", OutlineEdit("o", await case.chapter(1), "Something else.", "x"))
    with pytest.raises(VersionConflict):
        await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    assert await case.project.book.meta("outline") == OUTLINE


async def test_a_suggestion_of_the_builder_is_accepted_and_taken_back(case):
    known = {each.id: each.version for each in await case.project.workflows.newest()}
    build = await case.project.carry_out(RequestBuild(NAMES, "chapter", offline=True))
    made = await case.project.builds.build(build)
    assert made.status == "finished"
    row = await add(case, "workflow", WorkflowEdit(build, "chapter", "A step.", len(made.changes)))
    await case.project.carry_out(DecideProposals((row.id,), "confirm"))
    now = {each.id: each.version for each in await case.project.workflows.newest()}
    assert now["chapter"] == known["chapter"] + 1
    await case.project.carry_out(UndoDecision(row.id))
    (back,) = [each for each in await case.project.workflows.newest() if each.id == "chapter"]
    assert back.nodes == (await case.project.workflows.get("chapter@1")).nodes
