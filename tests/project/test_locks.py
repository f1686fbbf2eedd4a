"""A locked chapter is written by nothing; passes keep what was ticked, and say what changed since."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ChapterLocked, RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.revision import WHOLE, PassId, RevisionPass
from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.manuscript.mirror import render_mirror
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import (
    AddChapter,
    DeleteOutput,
    EditChapter,
    MergeChapters,
    OutsideEdit,
    PersistOutput,
    ReplaceText,
    SplitChapter,
    WriteChapter,
)
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.revision import LockChapters, PutPasses, RevisionChanged, TickPass
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened

TEXT = "The rain stopped.\n\nMara opened the door."


@pytest.fixture
async def case(folder: Path):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        await case.project.carry_out(AddChapter("Two"))
        for number in (1, 2):
            await case.project.carry_out(WriteChapter(await case.chapter(number), TEXT))
        yield case


async def lock(case: Case, number: int, *, locked: bool = True) -> ChapterId:
    chapter = await case.chapter(number)
    await case.project.carry_out(LockChapters((chapter,), locked))
    return chapter


async def state(case: Case) -> list[tuple[str, int, str]]:
    return [
        (each.title, each.version, await case.project.book.chapter_text(each.id))
        for each in await case.project.book.chapters()
    ]


async def test_nothing_writes_a_locked_chapter_or_takes_it_out(case: Case) -> None:
    run = await case.run("quick-draft", 1, inputs=(("instruction", "rain"),))
    kept = OutputId(await case.project.carry_out(PersistOutput(run, "draft")))
    one, two = await lock(case, 1), await case.chapter(2)
    before = await state(case)
    version, text = before[0][1], before[0][2]
    words = text.split()[0]
    places = (TextPlace(one, version, 0), TextPlace(two, 1, 0))
    refused: tuple[Command, ...] = (
        WriteChapter(one, "x"),
        PersistOutput(run, "draft", mode="append"),
        DeleteOutput(kept),
        ReplaceText(words, "x", places[:1]),
        SplitChapter(one, len(text) // 2, "Half", version),
        MergeChapters(one, two),
        EditChapter(one, deleted=True),
        Purge(chapter=one),
    )
    for command in refused:
        with pytest.raises(ChapterLocked, match=r"Chapter 1, .*, is locked") as caught:
            await case.project.carry_out(command)
        assert "unlock PROJECT 1" in caught.value.advice
        assert await state(case) == before, command
    await case.project.carry_out(EditChapter(one, title="The First"))
    await lock(case, 1, locked=False)
    await case.project.carry_out(WriteChapter(one, "x"))
    assert (await state(case))[0][2] == "x"


async def test_a_chapter_before_a_locked_one_takes_it_in_no_more_than_it_is_taken_in(case: Case) -> None:
    await lock(case, 2)
    with pytest.raises(ChapterLocked, match="Chapter 2"):
        await case.project.carry_out(MergeChapters(await case.chapter(1), await case.chapter(2)))
    assert [title for title, _version, _text in await state(case)][:2] == ["The Glove", "Two"]


async def test_the_locked_state_can_be_compared_with_after_unlocking(case: Case) -> None:
    one = await lock(case, 1)
    await lock(case, 1)
    await lock(case, 1, locked=False)
    await case.project.carry_out(WriteChapter(one, TEXT + " She waited."))
    then = (await case.project.revision.locks())[one]
    assert (then.locked, await case.project.book.chapter_text(one, then.version)) == (False, TEXT)


async def test_unsaved_text_is_saved_before_a_lock(case: Case) -> None:
    one = await case.chapter(1)
    await case.project.drafts.put(one, TEXT + " She waited.", 1)
    with pytest.raises(RunError, match="The Glove"):
        await lock(case, 1)
    assert await case.project.revision.locks() == {}


async def test_a_file_of_a_locked_chapter_that_was_changed_outside_stays_a_question(case: Case, folder: Path) -> None:
    await case.settled()
    one = await lock(case, 1)
    file = next(path for path in (folder / "manuscript").rglob("*.md") if "Glove" in path.name)
    file.write_text(render_mirror("The Glove", TEXT + " The end."), encoding="utf-8")
    await case.until(OutsideEdit)
    outside = await case.project.book.outside_text(one)
    for text in (str(outside), TEXT):
        with pytest.raises(ChapterLocked):
            await case.project.carry_out(WriteChapter(one, text, expected_version=1))
    assert await case.project.book.outside_text(one) == outside
    assert "The end." in file.read_text(encoding="utf-8")


async def test_a_pass_counts_what_is_left_and_says_what_changed_since(case: Case) -> None:
    one, two = await case.chapter(1), await case.chapter(2)
    proof = PassId("proof")
    await case.project.carry_out(TickPass(proof, one))
    await case.project.carry_out(from_message(to_message(TickPass(proof, two, ("x", WHOLE)))))
    await case.project.carry_out(WriteChapter(one, TEXT + " As an AI language model, I cannot say."))
    await case.settled()
    told = await case.project.revision.pass_progress(proof)
    assert [(row.done, row.outdated, row.findings, row.items) for row in told.chapters] == [
        (True, True, 1, frozenset()),
        (True, False, 0, frozenset({"x"})),
    ]
    assert told.done == 1
    await case.project.carry_out(TickPass(proof, one))
    assert (await case.project.revision.pass_progress(proof)).done == 2
    await case.project.carry_out(TickPass(proof, one, on=False))
    assert (await case.project.revision.pass_progress(proof)).done == 1
    assert case.told(RevisionChanged)
    with pytest.raises(UnknownName):
        await case.project.carry_out(TickPass(PassId("none"), one))


async def test_the_writer_chooses_the_passes(case: Case) -> None:
    known = await case.project.revision.passes()
    await case.project.carry_out(TickPass(known[0].id, await case.chapter(1)))
    own = RevisionPass(PassId("rain"), "下雨", ("ages",), ("todo",), ("一", "二"))
    await case.project.carry_out(from_message(to_message(PutPasses((own, known[1])))))
    assert await case.project.revision.passes() == (own, known[1])
    await case.project.carry_out(PutPasses(known))
    assert (await case.project.revision.pass_progress(known[0].id)).done == 0, "its ticks went with it"
    for wrong in ((), (own, own), (RevisionPass(PassId("x"), " "),)):
        with pytest.raises(RunError):
            await case.project.carry_out(PutPasses(wrong))
