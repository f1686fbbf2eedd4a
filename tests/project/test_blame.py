from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.origin import BlamedLine
from flowcabal_tui.protocol.book import AddChapter, MergeChapters, PersistOutput, SplitChapter, WriteChapter
from tests.project.case import Case, demo_at, make_one, opened

FIRST = "The lamp burned.\n\nInes counted the dead.\nThe rain stopped."


async def write(case: Case, chapter: ChapterId, *texts: str) -> None:
    for text in texts:
        await case.project.carry_out(WriteChapter(chapter, text))


async def lines(case: Case, chapter: ChapterId) -> dict[str, BlamedLine]:
    return {line.text: line for line in await case.project.book.blame(chapter)}


async def test_each_line_is_laid_to_the_version_that_brought_it(folder: Path) -> None:
    async with opened(await make_one(folder)) as case:
        chapter = await case.chapter(1)
        await write(case, chapter, FIRST, FIRST.replace("The rain stopped.", "The rain went on.\nNobody came."))
        found = await lines(case, chapter)
        assert [(line.number, line.origin.version) for line in found.values()] == [(1, 1), (3, 1), (4, 2), (5, 2)]
        text = await case.project.book.chapter_text(chapter)
        assert all(text[line.start :].startswith(words) for words, line in found.items())


async def test_a_changed_line_remembers_what_it_was(folder: Path) -> None:
    async with opened(await make_one(folder)) as case:
        chapter = await case.chapter(1)
        await write(case, chapter, FIRST, FIRST.replace("counted the dead", "counted the living"))
        origin = (await lines(case, chapter))["Ines counted the living."].origin
        assert [(step.version, step.text) for step in origin.chain] == [
            (2, "Ines counted the living."),
            (1, "Ines counted the dead."),
        ]


async def test_a_line_that_was_restored_is_not_laid_to_the_restoring(folder: Path) -> None:
    async with opened(await make_one(folder)) as case:
        chapter = await case.chapter(1)
        await write(case, chapter, FIRST, "Nothing of it is left.", FIRST)
        assert {line.origin.version for line in await case.project.book.blame(chapter)} == {1}


async def test_a_line_is_followed_from_one_chapter_into_another(folder: Path) -> None:
    async with opened(await make_one(folder)) as case:
        chapter = await case.chapter(1)
        await write(case, chapter, FIRST)
        new = ChapterId(await case.project.carry_out(SplitChapter(chapter, FIRST.index("The rain"), "The Rain", 1)))
        await write(case, new, "The rain stopped.\nAt last.")
        assert {
            words: (line.origin.chapter, line.origin.version) for words, line in (await lines(case, new)).items()
        } == {
            "The rain stopped.": (chapter, 1),
            "At last.": (new, 2),
        }
        await case.project.carry_out(MergeChapters(chapter, new))
        found = await lines(case, chapter)
        assert (found["At last."].origin.chapter, found["At last."].origin.version) == (new, 2)
        assert found["The lamp burned."].origin.version == 1


async def test_a_model_s_line_leads_to_the_attempt_that_wrote_it_first_and_what_it_was_given(
    folder: Path, demos: dict[str, Path]
) -> None:
    async with opened(demo_at(folder, demos)) as case:
        last = (await case.project.book.chapters())[-1]
        run = await case.run("chapter", last.position)
        await case.project.carry_out(PersistOutput(run, NodeId("polish"), chapter=last.id))
        draft = (await case.view(run, "draft")).attempts
        kept = await case.project.book.blame(last.id)
        assert {(line.origin.run, line.origin.node, line.origin.author) for line in kept} == {(run, "polish", "model")}
        same = next(line for line in kept if line.text in draft[0].text.split("\n"))
        provenance = await case.project.book.provenance(last.id, same.number)
        assert provenance.written is not None
        assert (provenance.written.run, provenance.written.node) == (run, "draft")
        assert provenance.written.receipt is not None and provenance.written.receipt.sources
        only = next((line for line in kept if line.text not in draft[0].text.split("\n")), None)
        if only is not None:
            found = await case.project.book.provenance(last.id, only.number)
            assert found.written is not None and found.written.node == "polish"


async def test_what_was_typed_has_no_run_and_a_line_that_is_not_there_is_refused(folder: Path) -> None:
    async with opened(await make_one(folder)) as case:
        chapter = await case.chapter(1)
        await write(case, chapter, FIRST)
        assert (await case.project.book.provenance(chapter, 1)).written is None
        with pytest.raises(RunError):
            await case.project.book.provenance(chapter, 2)
        empty = ChapterId(await case.project.carry_out(AddChapter("Empty")))
        assert await case.project.book.blame(empty) == ()
