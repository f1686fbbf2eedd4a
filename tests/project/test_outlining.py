"""An outline is edited part by part, assigned by a key, and follows its chapters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.book import (
    AddChapter,
    AssignOutline,
    EditChapter,
    MergeChapters,
    SplitChapter,
    WriteChapter,
    WriteMeta,
    WriteOutlinePart,
)
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.case import Case, make, opened

TEXT = (
    "# Book\n\nPremise.\n\n## Chapter 1\n\n- A1\n- A2\n\n## Chapter 2\n- B\n\n\n"
    "## Chapter 3: Later\n- C\n\n## Ideas\n- Someone dies.\n"
)
Change = Callable[[Case, ChapterId], Awaitable[None]]
TWO = ("## Chapter 1\n- A\n\n## Chapter 3\n- C\n", "Chapter 1\nA\nChapter 3\nC")


async def beats(case: Case) -> dict[str, str]:
    outline, _version = await case.project.book.outline()
    return {chapter.title: outline.beats(chapter.id) for chapter in outline.chapters}


async def begin(case: Case, text: str = TEXT, titles: tuple[str, ...] = ("Rain", "Snow", "Wind")) -> None:
    for title in titles:
        await case.project.carry_out(AddChapter(title))
    await case.project.carry_out(WriteMeta("outline", text))


async def test_the_text_of_an_old_project_is_kept_byte_for_byte(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case)
        assert await beats(case) == {"Rain": "- A1\n- A2", "Snow": "- B", "Wind": "- C"}
        assert await case.project.book.meta("outline") == TEXT


async def test_the_beats_of_a_chapter_are_edited_and_nothing_else(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case)
        _outline, version = await case.project.book.outline()
        await case.project.carry_out(WriteOutlinePart("- new\n", "Chapter 2", expected_version=version))
        assert await case.project.book.meta("outline") == TEXT.replace("- B", "- new")
        assert (await beats(case))["Snow"] == "- new"


async def test_another_part_may_change_meanwhile_and_the_same_part_may_not(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case)
        _outline, version = await case.project.book.outline()
        await case.project.carry_out(WriteMeta("outline", TEXT.replace("- C", "- changed")))
        await case.project.carry_out(WriteOutlinePart("- new", "Chapter 2", expected_version=version))
        assert await beats(case) == {"Rain": "- A1\n- A2", "Snow": "- new", "Wind": "- changed"}
        with pytest.raises(VersionConflict):
            await case.project.carry_out(WriteOutlinePart("- mine", "Chapter 3: Later", expected_version=version))
        assert (await beats(case))["Wind"] == "- changed"


@pytest.mark.parametrize(
    "text", ["", "Premise.", "## Chapter 1\n- A\n\n## Chapter 3\n- C\n", "Chapter 1\nA\nChapter 3\nC"]
)
async def test_a_chapter_without_beats_gets_a_heading_at_its_place(folder: Path, text: str) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case, text)
        await case.project.carry_out(WriteOutlinePart("- B", chapter=await case.chapter(2)))
        assert (await beats(case))["Snow"] == "- B"
        written = await case.project.book.meta("outline")
        assert all(line in written.split("\n") for line in text.split("\n"))
        if "Chapter 3" in text:
            assert written.index("Chapter 1") < written.index("- B") < written.index("Chapter 3")
            assert (await beats(case))["Wind"].endswith("C")


async def test_a_part_that_fits_no_chapter_is_assigned_and_let_go_again(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case)
        outline, _version = await case.project.book.outline()
        assert [each.part.title for each in outline.unassigned] == ["Ideas"]
        await case.project.carry_out(AssignOutline("Ideas", 1, await case.chapter(2)))
        assert (await beats(case))["Snow"] == "- B\n\n- Someone dies."
        await case.project.carry_out(AssignOutline("Ideas", 1, None))
        assert (await beats(case))["Snow"] == "- B"
        await case.project.carry_out(AssignOutline("Chapter 2", 1, ChapterId("")))
        assert (await beats(case))["Snow"] == ""
        assert await case.project.book.meta("outline") == TEXT
        for wrong in (AssignOutline("No", 1, None), AssignOutline("Ideas", 1, ChapterId("gone"))):
            with pytest.raises(RunError):
                await case.project.carry_out(wrong)


async def test_beats_follow_their_chapter_when_it_moves_and_when_one_comes_between(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case)
        before = await beats(case)
        await case.project.carry_out(EditChapter(await case.chapter(1), position=3))
        assert await beats(case) == before
        await case.project.carry_out(AddChapter("Between", position=2))
        assert await beats(case) == {**before, "Between": ""}
        gone = await case.chapter(1)
        await case.project.carry_out(EditChapter(gone, deleted=True))
        outline, _version = await case.project.book.outline()
        assert [each.part.title for each in outline.unassigned] == ["Chapter 2", "Ideas"]
        await case.project.carry_out(EditChapter(gone, deleted=False))
        assert await beats(case) == {**before, "Between": ""}


async def test_two_chapters_that_become_one_have_both_their_beats(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case)
        for chapter, text in ((1, "It rained."), (2, "It snowed.")):
            await case.project.carry_out(WriteChapter(await case.chapter(chapter), text))
        await case.project.carry_out(MergeChapters(await case.chapter(1), await case.chapter(2)))
        assert list((await beats(case)).values()) == ["- A1\n- A2\n\n- B", "- C"]


@pytest.mark.parametrize(
    "text",
    [
        "第一章：雪夜里，他回来了。\n第二章：他又走了，没有回头。\n",
        "1. It rained all night, and nobody came to the door of the old mill.\n2. It snowed, and then somebody came.\n",
        "## Chapter 1\n- A\n## Chapter 2\n- B\n",
    ],
)
async def test_a_part_that_was_emptied_keeps_its_heading(folder: Path, text: str) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin(case, text)
        outline, _version = await case.project.book.outline()
        part, following = outline.placed[1].part, outline.placed[2].part
        kept = outline.outline.body(following)
        for words in ("", "", "new"):
            await case.project.carry_out(WriteOutlinePart(words, part.title, part.nth))
            after, _version = await case.project.book.outline()
            assert [each.part.title for each in after.placed] == [each.part.title for each in outline.placed]
            assert [each.chapters for each in after.placed] == [each.chapters for each in outline.placed]
            assert after.outline.body(after.placed[1].part).strip() == words
            assert after.outline.body(after.placed[2].part) == kept


VOLUMES = (("Rain", "Dusk"), ("Snow", "Dusk"), ("Wind", "Dawn"), ("Sun", "Dawn"))
FORMS = {
    "nothing": "",
    "words only": "Premise.",
    "chapters": "## Chapter 1\n- A\n\n## Chapter 3\n- C\n",
    "a book with chapters": "# Book\nPremise.\n\n## Chapter 1\n- A\n\n## Chapter 4\n- D\n",
    "chapters of the first level": "# Chapter 1\n- A\n# Chapter 2\n- B\n# Chapter 3\n- C\n",
    "titles": "## Rain\n- A\n\n## Wind\n- C\n",
    "a book with titles": "# Book\n\n## Rain\n- A\n\n## Wind\n- C\n",
    "one heading": "## Rain\n- A\n",
    "no marks": "Chapter 1\nA\nChapter 3\nC",
    "the second volume": "# Volume 2: Dawn\nLate.\n\n## Chapter 3\n- C\n",
    "the first volume": "# Volume 1: Dusk\nEarly.\n\n## Chapter 1\n- A\n",
    "volumes without chapters": "# Volume 1: Dusk\nEarly.\n\n# Volume 2: Dawn\nLate.\n",
}


async def begin_volumes(case: Case, text: str) -> None:
    for title, volume in VOLUMES:
        await case.project.carry_out(AddChapter(title, volume))
    await case.project.carry_out(WriteMeta("outline", text))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
async def test_each_volume_and_chapter_without_a_part_gets_one_at_its_place(folder: Path, text: str) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin_volumes(case, text)
        outline, _version = await case.project.book.outline()
        known, lacking = await beats(case), [each for each in outline.chapters if not outline.of(each.id)]
        for volume in ("Dawn", "Dusk"):
            if outline.part_of_volume(volume) is None:
                await case.project.carry_out(WriteOutlinePart(f"{volume} comes.", volume=volume))
        for chapter in lacking:
            await case.project.carry_out(WriteOutlinePart(f"- {chapter.title}", chapter=chapter.id))
        outline, _version = await case.project.book.outline()
        assert await beats(case) == known | {each.title: f"- {each.title}" for each in lacking}
        assert all(line in outline.text.split("\n") for line in text.split("\n"))
        volumes = [outline.part_of_volume(name) for name in ("Dusk", "Dawn")]
        parts = [each for each in outline.placed if each.part.kind != "book"]
        order = [volumes[0], *(outline.of(each.id)[0] for each in outline.chapters[:2])]
        order += [volumes[1], *(outline.of(each.id)[0] for each in outline.chapters[2:])]
        assert [each.part.title for each in parts] == [each.part.title for each in order if each]
        assert [outline.volume_of(each.id) for each in outline.chapters] == [volumes[0]] * 2 + [volumes[1]] * 2
        assert [each.part.parent for each in outline.placed if each.part.kind == "volume"] == [0, 0]


async def test_words_for_a_volume_that_only_its_chapters_name_get_a_heading(folder: Path) -> None:
    text = "第一卷 第一回 雨\n甲\n\n第一卷 第二回 雪\n乙\n"
    await make(folder, language="zh")
    async with opened(folder) as case:
        for title in ("雨", "雪"):
            await case.project.carry_out(AddChapter(title, "第一卷"))
        await case.project.carry_out(WriteMeta("outline", text))
        known = await beats(case)
        await case.project.carry_out(WriteOutlinePart("总纲", "第一卷"))
        outline, _version = await case.project.book.outline()
        assert [outline.outline.body(each.part) for each in outline.placed if each.part.kind == "volume"] == ["总纲"]
        assert await beats(case) == known and outline.text.endswith(text)


async def test_a_volume_is_written_once_and_only_one_of_the_book(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin_volumes(case, "")
        await case.project.carry_out(WriteOutlinePart("Early.", volume="Dusk"))
        text = await case.project.book.meta("outline")
        for volume in ("Dusk", "Noon"):
            with pytest.raises(RunError):
                await case.project.carry_out(WriteOutlinePart("Twice.", volume=volume))
        assert await case.project.book.meta("outline") == text


async def test_a_new_heading_moves_no_other_part_to_another_chapter(folder: Path) -> None:
    text = "## Chapter 1\n- A\n\n## Chapter 2\n- C\n"
    await make(folder)
    async with opened(folder) as case:
        await begin(case, text)
        for part, place in (("Chapter 1", 1), ("Chapter 2", 3)):
            await case.project.carry_out(AssignOutline(part, 1, await case.chapter(place)))
        await case.project.carry_out(WriteOutlinePart("- B", chapter=await case.chapter(2)))
        assert await beats(case) == {"Rain": "- A", "Snow": "- B", "Wind": "- C"}


async def hand_made(case: Case) -> ChapterId:
    """Three chapters, and ideas that were assigned to the second one by hand; gives its id."""
    await begin(case)
    for place, text in ((1, "It rained.\n\nIt stopped."), (2, "It snowed.\n\nIt melted."), (3, "It blew.")):
        await case.project.carry_out(WriteChapter(await case.chapter(place), text))
    second = await case.chapter(2)
    await case.project.carry_out(AssignOutline("Ideas", 1, second))
    return second


async def split(case: Case, chapter: ChapterId) -> None:
    known = next(each for each in await case.project.book.chapters() if each.id == chapter)
    text = await case.project.book.chapter_text(chapter)
    await case.project.carry_out(SplitChapter(chapter, text.index("It melted"), "Thaw", known.version))


async def rename(case: Case, chapter: ChapterId) -> None:
    await case.project.carry_out(EditChapter(chapter, title="Chapter 3: Later"))


async def move(case: Case, chapter: ChapterId) -> None:
    await case.project.carry_out(EditChapter(chapter, position=1))


async def delete_and_undelete(case: Case, chapter: ChapterId) -> None:
    await case.project.carry_out(EditChapter(chapter, deleted=True))
    await case.project.carry_out(EditChapter(chapter, deleted=False))


async def split_and_merge(case: Case, chapter: ChapterId) -> None:
    await split(case, chapter)
    made = next(each for each in await case.project.book.chapters() if each.title == "Thaw")
    await case.project.carry_out(MergeChapters(chapter, made.id))


CHANGES = (rename, move, delete_and_undelete, split, split_and_merge)


@pytest.mark.parametrize("change", CHANGES)
async def test_an_assignment_by_hand_holds_whatever_becomes_of_the_chapter(folder: Path, change: Change) -> None:
    await make(folder)
    async with opened(folder) as case:
        second = await hand_made(case)
        await change(case, second)
        outline, _version = await case.project.book.outline()
        assert outline.beats(second) == "- B\n\n- Someone dies."
        assert outline.of(second)[-1].by == "hand"
        others = {each.title: outline.beats(each.id) for each in outline.chapters if each.id != second}
        assert others == {"Rain": "- A1\n- A2", "Wind": "- C"} | ({"Thaw": ""} if "Thaw" in others else {})


async def test_an_assignment_holds_when_first_the_words_and_then_the_heading_change(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        second = await hand_made(case)
        text = TEXT.replace("- Someone dies.", "- Nobody dies.")
        await case.project.carry_out(WriteMeta("outline", text))
        await case.project.carry_out(WriteMeta("outline", text.replace("## Ideas", "## Thoughts")))
        assert (await beats(case))["Snow"] == "- B\n\n- Nobody dies."
        await case.project.carry_out(WriteOutlinePart("- Everybody dies.", "Thoughts"))
        await case.project.carry_out(WriteMeta("outline", TEXT.replace("Ideas\n- Someone", "Ends\n- Everybody")))
        outline, _version = await case.project.book.outline()
        assert outline.beats(second) == "- B\n\n- Everybody dies."


OUTLINE = Workflow.model_validate(
    {"id": "plan", "nodes": [{"id": "whole", "kind": "end", "params": {"value": "{{input.text}}"}}]}
)
RAW = "\ufeff- A\r\n- \x1b[31mB\x00\r- C\x0c\x85\u202e\u200b.\r\n"
"""With a byte order mark, the line ends of two systems, and controls."""


@pytest.mark.parametrize(
    "command",
    [
        lambda _chapter: WriteMeta("outline", RAW),
        lambda _chapter: WriteOutlinePart(RAW),
        lambda _chapter: WriteOutlinePart(RAW, volume="Dusk"),
        lambda chapter: WriteOutlinePart(RAW, chapter=chapter),
    ],
    ids=["whole", "the book's own words", "volume", "chapter"],
)
async def test_all_ways_of_writing_give_the_same_clean_text(
    folder: Path, command: Callable[[ChapterId], WriteMeta | WriteOutlinePart]
) -> None:
    await make(folder)
    async with opened(folder) as case:
        await begin_volumes(case, "")
        await case.project.carry_out(command(await case.chapter(1)))
        outline, _version = await case.project.book.outline()
        assert [outline.outline.body(part).strip() for part in outline.outline.parts if outline.outline.body(part)] == [
            "- A\n- B\n- C."
        ]
        assert outline.text == clean(outline.text) and "\r" not in outline.text


async def test_an_assignment_follows_words_that_were_kept_from_a_run(folder: Path) -> None:
    """First a kept outline changes the words, then an edit the heading: the link is renewed in between."""
    await make(folder)
    async with opened(folder) as case:
        second = await hand_made(case)
        text = TEXT.replace("- Someone dies.", "- Nobody dies.")
        await case.project.carry_out(SaveWorkflow(OUTLINE))
        run = await case.run("plan@1", inputs=(("text", text),))
        await case.keep(run, "whole", kind="outline")
        await case.project.carry_out(WriteMeta("outline", text.replace("## Ideas", "## Thoughts")))
        outline, _version = await case.project.book.outline()
        assert outline.beats(second) == "- B\n\n- Nobody dies."
