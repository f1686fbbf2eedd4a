"""A passage or a chapter is rewritten against its findings: quoted, stored when paid, taken paragraph by paragraph."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ChapterLocked, Gone, ModelError, RunError, VersionConflict
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.proposed_rewrite import PIECE, RewriteId
from flowcabal_tui.project.change_words import change_words
from flowcabal_tui.protocol.book import (
    DropRewrite,
    RevertChange,
    RewriteProposed,
    RewriteSelection,
    TakeRewrite,
    WriteChapter,
)
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.revision import LockChapters
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, endpoint, make_one, opened

BAD = "As an AI language model, I cannot describe the storm."
TEXT = f"It rained all day.\n\n{BAD}\n\nMara closed the door."


@pytest.fixture
async def case(folder: Path, server: FaultServer):
    await make_one(folder, ModelsSettings(user=endpoint(server), agent=OFFLINE))
    async with opened(folder, trust=True) as case:
        yield case


async def written(case: Case, text: str = TEXT) -> ChapterId:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, text))
    await case.settled()
    return chapter


def whole(chapter: ChapterId, text: str, instruction: str = "", findings: tuple = ()) -> RewriteSelection:
    return RewriteSelection(chapter, 0, len(text), text, instruction, findings)


def asked(server: FaultServer) -> list[str]:
    """What the model was asked to rewrite."""
    sent = [entry["body"] for entry in server.log if entry["path"].endswith("completions")]
    prompts = [body["messages"][-1]["content"] for body in sent]
    return [prompt for prompt in prompts if "<task>rewrite</task>" in prompt]


async def findings(case: Case) -> tuple:
    rows = (await case.project.findings.findings(FindingFilter(folded=True))).rows
    return tuple(row.proposal.id for row in rows)


async def test_a_chapter_is_rewritten_against_its_findings_and_taken_by_paragraph(
    case: Case, server: FaultServer
) -> None:
    chapter = await written(case)
    found = await findings(case)
    command = whole(chapter, TEXT, findings=found)
    quote = await case.project.revision.quote_rewrite(command)
    assert quote.likely.calls == 1 and quote.most is not None
    server.push({"content": "It poured all day.\n\nThe storm broke.\n\nMara closed the door."})
    await case.project.carry_out(from_message(to_message(command)))
    (prompt,) = asked(server)
    wish = prompt.split("<wish")[1]
    assert BAD[:26] in wish and "Correct these places" in wish, "the finding is told as a retry tells it"
    (row,) = await case.project.revision.proposed_rewrites()
    assert row.id == case.told(RewriteProposed)[-1].rewrite
    assert [(row.before[each.start : each.end], each.after) for each in row.changes] == [
        ("It rained all day.", "It poured all day."),
        (BAD, "The storm broke."),
    ]
    generation = await case.project.carry_out(from_message(to_message(TakeRewrite(row.id, (1,)))))
    await case.settled()
    text = await case.project.book.chapter_text(chapter)
    assert text == TEXT.replace(BAD, "The storm broke.")
    versions = await case.project.book.chapter_versions(chapter)
    assert len(versions) == 2, "one new version"
    lines = {line.number: line for line in await case.project.book.blame(chapter)}
    line = lines[3]
    models = [line.text[each.start : each.end] for each in line.spans if each.origin.author == "model"]
    assert "broke" in " ".join(models) and line.origin.model == "mock"
    assert {span.origin.author for span in lines[1].spans} == {"human"}
    assert await findings(case) == (), "the edit resolved it"
    assert await case.project.revision.proposed_rewrites() == ()
    with pytest.raises(RunError):
        await case.project.carry_out(TakeRewrite(row.id))
    change = await case.project.book.last_change()
    assert change is not None and change_words(change) == "rewritten against findings"
    await case.project.carry_out(RevertChange(Generation(int(generation))))
    assert await case.project.book.chapter_text(chapter) == TEXT


async def test_what_a_rule_can_mend_is_proposed_without_a_call_and_without_a_model(folder: Path) -> None:
    await make_one(folder, ModelsSettings())
    text = "Here is the revised chapter:\n\nIt rained **all** day.\n\nMara closed the door."
    async with opened(folder, trust=True) as case:
        chapter = await written(case, text)
        command = whole(chapter, text, findings=await findings(case))
        assert len(command.findings) == 2
        assert (await case.project.revision.quote_rewrite(command)).is_free
        await case.project.carry_out(command)
        (row,) = await case.project.revision.proposed_rewrites()
        assert (row.after, row.model) == ("It rained all day.\n\nMara closed the door.", "")
        await case.project.carry_out(TakeRewrite(row.id))
        await case.settled()
        assert await case.project.book.chapter_text(chapter) == row.after
        assert await findings(case) == ()
        lines = await case.project.book.blame(chapter)
        assert {span.origin.author for line in lines for span in line.spans} == {"human"}, "no model wrote it"
        change = await case.project.book.last_change()
        assert change is not None and change_words(change) == "corrected by a rule"


async def test_an_instruction_and_a_finding_without_a_known_mend_go_to_the_model(
    case: Case, server: FaultServer
) -> None:
    text = f"It rained **all** day.\n\n{BAD}"
    chapter = await written(case, text)
    found = await findings(case)
    assert len(found) == 2
    assert (await case.project.revision.quote_rewrite(whole(chapter, text, findings=found))).likely.calls == 1
    (bold,) = [each for each in found if await _quoted(case, each) == "**all**"]
    assert (await case.project.revision.quote_rewrite(whole(chapter, text, findings=(bold,)))).is_free
    shorter = whole(chapter, text, "Shorter.", (bold,))
    assert (await case.project.revision.quote_rewrite(shorter)).likely.calls == 1


async def _quoted(case: Case, finding: ProposalId) -> str:
    return (await case.project.story.proposal(finding)).quotation


async def test_only_the_pieces_with_findings_are_paid_and_what_was_paid_stays(case: Case, server: FaultServer) -> None:
    filler = "\n\n".join(f"Nothing happened on day {n}." for n in range(PIECE // 24))
    text = f"{filler}\n\n{BAD}\n\n{filler}"
    chapter = await written(case, text)
    command = whole(chapter, text, findings=await findings(case))
    assert (await case.project.revision.quote_rewrite(command)).likely.calls == 1
    await case.project.carry_out(LockChapters((chapter,)))
    with pytest.raises(ChapterLocked):
        await case.project.carry_out(command)
    await case.project.carry_out(LockChapters((chapter,), locked=False))
    assert asked(server) == [], "nothing was paid for a locked chapter"
    all_of_it = whole(chapter, text, "shorter")
    pieces = (await case.project.revision.quote_rewrite(all_of_it)).likely.calls
    assert pieces > 2
    server.push({"content": "Nothing happened."}, {"status": 500})
    with pytest.raises(ModelError, match="kept as a proposal"):
        await case.project.carry_out(all_of_it)
    (row,) = await case.project.revision.proposed_rewrites()
    assert row.after.startswith("Nothing happened.") and row.after.endswith(text[PIECE + 500 :])
    assert case.told(RewriteProposed)[-1].rewrite == row.id
    await case.project.carry_out(DropRewrite(row.id))
    assert await case.project.revision.proposed_rewrites() == ()
    assert await case.project.book.chapter_text(chapter) == text


async def test_a_rewrite_of_another_text_is_not_taken(case: Case, server: FaultServer) -> None:
    chapter = await written(case)
    server.push({"content": "It poured."})
    await case.project.carry_out(RewriteSelection(chapter, 0, 18, TEXT[:18], "stronger"))
    (row,) = await case.project.revision.proposed_rewrites()
    await case.project.carry_out(WriteChapter(chapter, "Snow."))
    with pytest.raises(VersionConflict):
        await case.project.carry_out(TakeRewrite(row.id))
    await case.project.carry_out(WriteChapter(chapter, f"Snow.\n\n{TEXT}"))
    await case.project.drafts.put(chapter, "typed", 3)
    with pytest.raises(RunError, match="unsaved"):
        await case.project.carry_out(TakeRewrite(row.id))
    await case.project.drafts.put(chapter, None, None)
    await case.project.carry_out(TakeRewrite(row.id))
    assert (await case.project.book.chapter_text(chapter)).startswith("Snow.\n\nIt poured.\n\n")


async def test_nothing_asked_for_is_nothing_paid(case: Case, server: FaultServer) -> None:
    chapter = await written(case)
    other = await findings(case)
    for wrong in (whole(chapter, TEXT), RewriteSelection(chapter, 0, 18, TEXT[:18], "", other)):
        with pytest.raises(RunError):
            await case.project.carry_out(wrong)
    with pytest.raises(Gone):
        await case.project.revision.proposed_rewrite(RewriteId(99))
    assert asked(server) == []
