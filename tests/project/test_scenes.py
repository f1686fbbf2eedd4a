"""Scenes of chapters in a real project: edited as versions, with beats in the outline, through files and splits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError, UnknownName, VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.protocol.book import (
    EditScene,
    ImportManuscript,
    MergeChapters,
    SplitChapter,
    WriteChapter,
    WriteMeta,
)
from tests.project.case import Case, change, make, opened, write_chapters

TEXT = "It rained.\n\nMara waited.\n\n* * *\n\nThe ferry came.\n\n*** The lamp ***\n\nThe lamp went out."
OUTLINE = "# Book\n\n## Chapter 1: Rain\nMara waits.\n\n#### The lamp\nShe blows it out.\n\n## Chapter 2: Snow\nSnow."


@pytest.fixture
async def case(folder: Path) -> AsyncIterator[Case]:
    """A book of three chapters, as imported."""
    await make(folder)
    async with opened(folder) as found:
        await found.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        yield found


async def written(case: Case, text: str = TEXT) -> ChapterId:
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, text))
    return chapter


async def titles(case: Case, chapter: ChapterId) -> list[tuple[str, str]]:
    return [(scene.title, scene.text) for scene in await case.project.book.scenes(chapter)]


async def version(case: Case, chapter: ChapterId) -> int:
    return next(each.version for each in await case.project.book.chapters() if each.id == chapter)


async def test_a_change_of_scenes_is_a_version_and_the_version_before_undoes_it(case: Case) -> None:
    chapter = await written(case)
    made = int(await case.project.carry_out(EditScene(chapter, 3, await version(case, chapter), to=1)))
    assert await titles(case, chapter) == [
        ("The lamp", "The lamp went out."), ("", "It rained.\n\nMara waited."), ("", "The ferry came."),
    ]  # fmt: skip
    assert await case.project.book.chapter_text(chapter, made - 1) == TEXT
    await case.project.carry_out(EditScene(chapter, 1, made, title="Dark"))
    await case.project.carry_out(EditScene(chapter, 2, made + 1, join=True))
    assert [title for title, _text in await titles(case, chapter)] == ["Dark", ""]
    at = (await case.project.book.chapter_text(chapter)).index("Mara waited.")
    await case.project.carry_out(EditScene(chapter, 1, made + 2, at=at))
    assert len(await titles(case, chapter)) == 3


async def test_what_cannot_be_done_changes_nothing(case: Case) -> None:
    chapter = await written(case)
    known = await version(case, chapter)
    for command, error in (
        (EditScene(chapter, 4, known, to=1), RunError),
        (EditScene(chapter, 1, known, to=0), RunError),
        (EditScene(chapter, 1, known, join=True), RunError),
        (EditScene(chapter, 1, known, beats="x"), RunError),
        (EditScene(chapter, 1, known - 1, to=2), VersionConflict),
        (EditScene(ChapterId("nobody"), 1, 1, to=2), UnknownName),
    ):
        with pytest.raises(error):
            await case.project.carry_out(command)
    await case.project.drafts.put(chapter, "Unsaved.", known)
    with pytest.raises(RunError):
        await case.project.carry_out(EditScene(chapter, 1, known, to=2))
    assert await case.project.book.chapter_text(chapter) == TEXT


async def test_beats_are_the_outlines_words_and_follow_the_title(case: Case) -> None:
    chapter = await written(case)
    await case.project.carry_out(WriteMeta("outline", OUTLINE))
    assert [scene.beats for scene in await case.project.book.scenes(chapter)] == ["", "", "She blows it out."]
    known = await version(case, chapter)
    await case.project.carry_out(EditScene(chapter, 3, known, title="The last lamp"))
    await case.project.carry_out(EditScene(chapter, 2, known + 1, title="The ferry"))
    await case.project.carry_out(EditScene(chapter, 2, known + 2, beats="It is late."))
    assert [scene.beats for scene in await case.project.book.scenes(chapter)] == [
        "",
        "It is late.",
        "She blows it out.",
    ]
    outline = (await case.project.book.outline())[0]
    assert "It is late." in outline.beats(chapter), "so the prompts of the chapter have them"
    assert "## Chapter 2: Snow\nSnow." in outline.text


async def test_blank_lines_break_scenes_where_the_project_says_so(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        chapter = await written(case, "一。\n二。\n\n三。\n四。")
        assert len(await case.project.book.scenes(chapter)) == 1
    change(folder, "project", blank_lines_break=True)
    async with opened(folder) as case:
        assert [scene.text for scene in await case.project.book.scenes(chapter)] == ["一。\n二。", "三。\n四。"]


@pytest.mark.parametrize("place", ["The ferry came.", "The lamp went out.", "Mara waited."])
async def test_a_split_chapter_is_merged_into_the_same_text(case: Case, place: str) -> None:
    chapter = await written(case)
    new = await case.project.carry_out(SplitChapter(chapter, TEXT.index(place), "New", await version(case, chapter)))
    assert (await case.project.book.chapter_text(ChapterId(new))).endswith("The lamp went out.")
    assert not (await case.project.book.chapter_text(chapter)).endswith("*")
    await case.project.carry_out(MergeChapters(chapter, ChapterId(new)))
    assert await case.project.book.chapter_text(chapter) == TEXT


async def test_merged_chapters_have_a_break_in_between_and_are_split_there_into_the_same_two(case: Case) -> None:
    first, second = await case.chapter(1), await case.chapter(2)
    one, two = [(await case.project.book.chapter_text(chapter)).strip() for chapter in (first, second)]
    await case.project.carry_out(MergeChapters(first, second))
    scenes = await case.project.book.scenes(first)
    assert [scene.text for scene in scenes] == [one, two]
    new = await case.project.carry_out(SplitChapter(first, scenes[1].body.start, "Again", await version(case, first)))
    assert [await case.project.book.chapter_text(ChapterId(chapter)) for chapter in (first, new)] == [one, two]


@pytest.mark.parametrize("form", ["txt", "md", "docx", "epub"])
async def test_scenes_and_titles_go_through_every_file_format(case: Case, tmp_path: Path, form: str) -> None:
    chapter = await written(case)
    written_to = await case.project.book.export(tmp_path / f"book.{form}", form)
    text = read_manuscript(written_to).chapters[0].text
    text = text if "\n\n" in text else text.replace("\n", "\n\n")  # paragraphs of Word are lines
    await case.project.carry_out(WriteChapter(chapter, text))
    assert await titles(case, chapter) == [
        ("", "It rained.\n\nMara waited."), ("", "The ferry came."), ("The lamp", "The lamp went out."),
    ]  # fmt: skip
