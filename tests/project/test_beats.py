"""What the outline plans for a chapter is compared with what came, saved or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.beats import BeatCount
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.book import AddChapter, WriteChapter, WriteMeta
from flowcabal_tui.protocol.story import PutEntity
from tests.project.case import make, opened

OUTLINE = {
    "en": "# Part One\nThe war.\n## Chapter 1: Rain\n- It rains.\n#### The lamp\n- Maud meets Vera.\n- Vera is ill.\n",
    "zh": "# 第一卷\n战争。\n## 第一章 雨\n- 下雨。\n#### 灯\n- 林黛玉遇见宝玉。\n- 宝玉病了。\n",
}
TEXT = {"en": "It rained.\n\n*** The lamp ***\n\nMaud sat alone.", "zh": "雨。\n\n*** 灯 ***\n\n林黛玉独坐。"}
NAMES = {"en": ("Maud", "Vera"), "zh": ("林黛玉", "宝玉")}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_beats_of_a_chapter_say_which_names_came_and_where(folder: Path, language: str) -> None:
    await make(folder, language=language)
    async with opened(folder) as case:
        book = case.project.book
        chapter = ChapterId(await case.project.carry_out(AddChapter("Chapter 1" if language == "en" else "第一章")))
        for name in NAMES[language]:
            await case.project.carry_out(PutEntity(Entity(EntityId(name), "character", name)))
        assert (await book.beats(chapter)).parts == ()
        await case.project.carry_out(WriteMeta("outline", OUTLINE[language]))
        await case.project.carry_out(WriteChapter(chapter, TEXT[language]))
        found = await book.beats(chapter)
        assert found.volume == {"en": "The war.", "zh": "战争。"}[language]
        assert [(part.number, part.scene) for part in found.parts] == [(0, 0), (1, 2)]
        assert [beat.state for beat in found.beats] == ["unnamed", "partly", "missing"]
        assert (found.named, found.found, found.scenes) == (2, 0, 2)
        first, second = NAMES[language]
        at = TEXT[language].index(first)
        assert found.beats[1].place == Span(at, at + len(first)) and found.beats[1].scene == 2
        unsaved = await book.beats(chapter, f"{TEXT[language]} {second}")
        assert [beat.state for beat in unsaved.beats] == ["unnamed", "found", "found"]
        assert (await book.beats(chapter)).parts is found.parts, "the same text and plan are compared once"
        assert await book.beat_counts() == {chapter: BeatCount(0, 2)}
        await case.project.carry_out(WriteChapter(chapter, f"{TEXT[language]} {second}"))
        assert await book.beat_counts() == {chapter: BeatCount(2, 2)}
        with pytest.raises(UnknownName):
            await book.beats(ChapterId("nowhere"))


async def test_a_heading_for_several_chapters_is_marked_as_shared(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        chapters = [ChapterId(await case.project.carry_out(AddChapter(f"Chapter {n}"))) for n in (1, 2)]
        await case.project.carry_out(WriteMeta("outline", "## Chapters 1-2\n- Maud lands.\n"))
        assert [(await case.project.book.beats(each)).shared for each in chapters] == [True, True]
