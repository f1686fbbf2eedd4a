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
from tests.project.desk import Desk, change, make, opened, write_chapters

TEXT = "It rained.\n\nMara waited.\n\n* * *\n\nThe ferry came.\n\n*** The lamp ***\n\nThe lamp went out."
OUTLINE = "# Book\n\n## Chapter 1: Rain\nMara waits.\n\n#### The lamp\nShe blows it out.\n\n## Chapter 2: Snow\nSnow."


@pytest.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """A book of three chapters, as imported."""
    await make(folder)
    async with opened(folder) as found:
        await found.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        yield found


async def written(desk: Desk, text: str = TEXT) -> ChapterId:
    chapter = await desk.chapter(1)
    await desk.project.carry_out(WriteChapter(chapter, text))
    return chapter


async def titles(desk: Desk, chapter: ChapterId) -> list[tuple[str, str]]:
    return [(scene.title, scene.text) for scene in await desk.project.book.scenes(chapter)]


async def version(desk: Desk, chapter: ChapterId) -> int:
    return next(each.version for each in await desk.project.book.chapters() if each.id == chapter)


async def test_a_change_of_scenes_is_a_version_and_the_version_before_undoes_it(desk: Desk) -> None:
    chapter = await written(desk)
    made = int(await desk.project.carry_out(EditScene(chapter, 3, await version(desk, chapter), to=1)))
    assert await titles(desk, chapter) == [
        ("The lamp", "The lamp went out."), ("", "It rained.\n\nMara waited."), ("", "The ferry came."),
    ]  # fmt: skip
    assert await desk.project.book.chapter_text(chapter, made - 1) == TEXT
    await desk.project.carry_out(EditScene(chapter, 1, made, title="Dark"))
    await desk.project.carry_out(EditScene(chapter, 2, made + 1, join=True))
    assert [title for title, _text in await titles(desk, chapter)] == ["Dark", ""]
    at = (await desk.project.book.chapter_text(chapter)).index("Mara waited.")
    await desk.project.carry_out(EditScene(chapter, 1, made + 2, at=at))
    assert len(await titles(desk, chapter)) == 3


async def test_what_cannot_be_done_changes_nothing(desk: Desk) -> None:
    chapter = await written(desk)
    known = await version(desk, chapter)
    for command, error in (
        (EditScene(chapter, 4, known, to=1), RunError),
        (EditScene(chapter, 1, known, to=0), RunError),
        (EditScene(chapter, 1, known, join=True), RunError),
        (EditScene(chapter, 1, known, beats="x"), RunError),
        (EditScene(chapter, 1, known - 1, to=2), VersionConflict),
        (EditScene(ChapterId("nobody"), 1, 1, to=2), UnknownName),
    ):
        with pytest.raises(error):
            await desk.project.carry_out(command)
    await desk.project.drafts.put(chapter, "Unsaved.", known)
    with pytest.raises(RunError):
        await desk.project.carry_out(EditScene(chapter, 1, known, to=2))
    assert await desk.project.book.chapter_text(chapter) == TEXT


async def test_beats_are_the_outlines_words_and_follow_the_title(desk: Desk) -> None:
    chapter = await written(desk)
    await desk.project.carry_out(WriteMeta("outline", OUTLINE))
    assert [scene.beats for scene in await desk.project.book.scenes(chapter)] == ["", "", "She blows it out."]
    known = await version(desk, chapter)
    await desk.project.carry_out(EditScene(chapter, 3, known, title="The last lamp"))
    await desk.project.carry_out(EditScene(chapter, 2, known + 1, title="The ferry"))
    await desk.project.carry_out(EditScene(chapter, 2, known + 2, beats="It is late."))
    assert [scene.beats for scene in await desk.project.book.scenes(chapter)] == [
        "",
        "It is late.",
        "She blows it out.",
    ]
    outline = (await desk.project.book.outline())[0]
    assert "It is late." in outline.beats(chapter), "so the prompts of the chapter have them"
    assert "## Chapter 2: Snow\nSnow." in outline.text


async def test_blank_lines_break_scenes_where_the_project_says_so(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as desk:
        await desk.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        chapter = await written(desk, "一。\n二。\n\n三。\n四。")
        assert len(await desk.project.book.scenes(chapter)) == 1
    change(folder, "project", blank_lines_break=True)
    async with opened(folder) as desk:
        assert [scene.text for scene in await desk.project.book.scenes(chapter)] == ["一。\n二。", "三。\n四。"]


@pytest.mark.parametrize("place", ["The ferry came.", "The lamp went out.", "Mara waited."])
async def test_a_split_chapter_is_merged_into_the_same_text(desk: Desk, place: str) -> None:
    chapter = await written(desk)
    new = await desk.project.carry_out(SplitChapter(chapter, TEXT.index(place), "New", await version(desk, chapter)))
    assert (await desk.project.book.chapter_text(ChapterId(new))).endswith("The lamp went out.")
    assert not (await desk.project.book.chapter_text(chapter)).endswith("*")
    await desk.project.carry_out(MergeChapters(chapter, ChapterId(new)))
    assert await desk.project.book.chapter_text(chapter) == TEXT


async def test_merged_chapters_have_a_break_in_between_and_are_split_there_into_the_same_two(desk: Desk) -> None:
    first, second = await desk.chapter(1), await desk.chapter(2)
    one, two = [(await desk.project.book.chapter_text(chapter)).strip() for chapter in (first, second)]
    await desk.project.carry_out(MergeChapters(first, second))
    scenes = await desk.project.book.scenes(first)
    assert [scene.text for scene in scenes] == [one, two]
    new = await desk.project.carry_out(SplitChapter(first, scenes[1].body.start, "Again", await version(desk, first)))
    assert [await desk.project.book.chapter_text(ChapterId(chapter)) for chapter in (first, new)] == [one, two]


@pytest.mark.parametrize("form", ["txt", "md", "docx", "epub"])
async def test_scenes_and_titles_go_through_every_file_format(desk: Desk, tmp_path: Path, form: str) -> None:
    chapter = await written(desk)
    written_to = await desk.project.book.export(tmp_path / f"book.{form}", form)
    text = read_manuscript(written_to).chapters[0].text
    text = text if "\n\n" in text else text.replace("\n", "\n\n")  # paragraphs of Word are lines
    await desk.project.carry_out(WriteChapter(chapter, text))
    assert await titles(desk, chapter) == [
        ("", "It rained.\n\nMara waited."), ("", "The ferry came."), ("The lamp", "The lamp went out."),
    ]  # fmt: skip
