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
from tests.project.desk import Desk, make_one, opened

TEXT = "The rain stopped.\n\nMara opened the door."


@pytest.fixture
async def desk(folder: Path):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as desk:
        await desk.project.carry_out(AddChapter("Two"))
        for number in (1, 2):
            await desk.project.carry_out(WriteChapter(await desk.chapter(number), TEXT))
        yield desk


async def lock(desk: Desk, number: int, *, locked: bool = True) -> ChapterId:
    chapter = await desk.chapter(number)
    await desk.project.carry_out(LockChapters((chapter,), locked))
    return chapter


async def state(desk: Desk) -> list[tuple[str, int, str]]:
    return [
        (each.title, each.version, await desk.project.book.chapter_text(each.id))
        for each in await desk.project.book.chapters()
    ]


async def test_nothing_writes_a_locked_chapter_or_takes_it_out(desk: Desk) -> None:
    run = await desk.run("quick-draft", 1, inputs=(("instruction", "rain"),))
    kept = OutputId(await desk.project.carry_out(PersistOutput(run, "draft")))
    one, two = await lock(desk, 1), await desk.chapter(2)
    before = await state(desk)
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
            await desk.project.carry_out(command)
        assert "unlock PROJECT 1" in caught.value.advice
        assert await state(desk) == before, command
    await desk.project.carry_out(EditChapter(one, title="The First"))
    await lock(desk, 1, locked=False)
    await desk.project.carry_out(WriteChapter(one, "x"))
    assert (await state(desk))[0][2] == "x"


async def test_a_chapter_before_a_locked_one_takes_it_in_no_more_than_it_is_taken_in(desk: Desk) -> None:
    await lock(desk, 2)
    with pytest.raises(ChapterLocked, match="Chapter 2"):
        await desk.project.carry_out(MergeChapters(await desk.chapter(1), await desk.chapter(2)))
    assert [title for title, _version, _text in await state(desk)][:2] == ["The Glove", "Two"]


async def test_the_locked_state_can_be_compared_with_after_unlocking(desk: Desk) -> None:
    one = await lock(desk, 1)
    await lock(desk, 1)
    await lock(desk, 1, locked=False)
    await desk.project.carry_out(WriteChapter(one, TEXT + " She waited."))
    then = (await desk.project.revision.locks())[one]
    assert (then.locked, await desk.project.book.chapter_text(one, then.version)) == (False, TEXT)


async def test_unsaved_text_is_saved_before_a_lock(desk: Desk) -> None:
    one = await desk.chapter(1)
    await desk.project.drafts.put(one, TEXT + " She waited.", 1)
    with pytest.raises(RunError, match="The Glove"):
        await lock(desk, 1)
    assert await desk.project.revision.locks() == {}


async def test_a_file_of_a_locked_chapter_that_was_changed_outside_stays_a_question(desk: Desk, folder: Path) -> None:
    await desk.settled()
    one = await lock(desk, 1)
    file = next(path for path in (folder / "manuscript").rglob("*.md") if "Glove" in path.name)
    file.write_text(render_mirror("The Glove", TEXT + " The end."), encoding="utf-8")
    await desk.until(OutsideEdit)
    outside = await desk.project.book.outside_text(one)
    for text in (str(outside), TEXT):
        with pytest.raises(ChapterLocked):
            await desk.project.carry_out(WriteChapter(one, text, expected_version=1))
    assert await desk.project.book.outside_text(one) == outside
    assert "The end." in file.read_text(encoding="utf-8")


async def test_a_pass_counts_what_is_left_and_says_what_changed_since(desk: Desk) -> None:
    one, two = await desk.chapter(1), await desk.chapter(2)
    proof = PassId("proof")
    await desk.project.carry_out(TickPass(proof, one))
    await desk.project.carry_out(from_message(to_message(TickPass(proof, two, ("x", WHOLE)))))
    await desk.project.carry_out(WriteChapter(one, TEXT + " As an AI language model, I cannot say."))
    await desk.settled()
    told = await desk.project.revision.pass_progress(proof)
    assert [(row.done, row.outdated, row.findings, row.items) for row in told.chapters] == [
        (True, True, 1, frozenset()),
        (True, False, 0, frozenset({"x"})),
    ]
    assert told.done == 1
    await desk.project.carry_out(TickPass(proof, one))
    assert (await desk.project.revision.pass_progress(proof)).done == 2
    await desk.project.carry_out(TickPass(proof, one, on=False))
    assert (await desk.project.revision.pass_progress(proof)).done == 1
    assert desk.told(RevisionChanged)
    with pytest.raises(UnknownName):
        await desk.project.carry_out(TickPass(PassId("none"), one))


async def test_the_writer_chooses_the_passes(desk: Desk) -> None:
    known = await desk.project.revision.passes()
    await desk.project.carry_out(TickPass(known[0].id, await desk.chapter(1)))
    own = RevisionPass(PassId("rain"), "下雨", ("ages",), ("todo",), ("一", "二"))
    await desk.project.carry_out(from_message(to_message(PutPasses((own, known[1])))))
    assert await desk.project.revision.passes() == (own, known[1])
    await desk.project.carry_out(PutPasses(known))
    assert (await desk.project.revision.pass_progress(known[0].id)).done == 0, "its ticks went with it"
    for wrong in ((), (own, own), (RevisionPass(PassId("x"), " "),)):
        with pytest.raises(RunError):
            await desk.project.carry_out(PutPasses(wrong))
