from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ManuscriptError, RunError, SettingsError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.protocol.book import (
    AddChapter,
    EditChapter,
    ImportManuscript,
    MergeChapters,
    ReplaceText,
    RevertChange,
    SetGoals,
    SplitChapter,
    WriteChapter,
)
from flowcabal_tui.protocol.memory import CancelBackground
from tests.project.case import CHAPTERS, Case, change, make, opened, write_chapters


@pytest.fixture
async def case(folder: Path) -> AsyncIterator[Case]:
    """A book of three chapters, as imported."""
    await make(folder)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        await case.settled()
        yield case


async def texts(case: Case) -> list[str]:
    return [await case.project.book.chapter_text(chapter.id) for chapter in await case.project.book.chapters()]


async def replace(case: Case, words: str, by: str, *, only: int | None = None) -> Generation:
    found = [each.place for each in await case.project.book.occurrences(words)]
    return Generation(int(await case.project.carry_out(ReplaceText(words, by, tuple(found[:only])))))


async def test_words_are_replaced_at_the_chosen_places_as_one_new_version_of_each_chapter(case: Case) -> None:
    before = await texts(case)
    await replace(case, "Ines Marlow", "Ines Marlowe")
    assert await texts(case) == [text.replace("Ines Marlow", "Ines Marlowe") for text in before]
    assert {chapter.version for chapter in await case.project.book.chapters()} == {2}
    version = (await case.project.book.chapter_versions(await case.chapter(1)))[0]
    assert (version.author, version.note) == ("human", "replaced: Ines Marlow with Ines Marlowe")


async def test_only_what_was_chosen_is_replaced_and_the_files_follow(case: Case, folder: Path) -> None:
    await replace(case, "Tobias Crane", "Tobias Heron", only=1)
    assert [text.count("Tobias Heron") for text in await texts(case)] == [1, 0, 0]
    await case.settled()
    files = [file.read_text(encoding="utf-8") for file in (folder / "manuscript").glob("*.md")]
    assert sum("Tobias Heron" in text for text in files) == 1


async def test_a_replacement_is_taken_back_in_one_go(case: Case) -> None:
    before = await texts(case)
    made = await replace(case, "Saltreach", "Tarn")
    await case.project.carry_out(RevertChange(made))
    assert await texts(case) == before
    assert {chapter.version for chapter in await case.project.book.chapters()} == {3}


async def test_nothing_is_taken_back_or_replaced_when_one_chapter_was_changed_since(case: Case) -> None:
    made = await replace(case, "Saltreach", "Tarn")
    places = tuple(each.place for each in await case.project.book.occurrences("Tarn"))
    await case.project.carry_out(WriteChapter(await case.chapter(2), "Another text."))
    before = await texts(case)
    with pytest.raises(VersionConflict):
        await case.project.carry_out(RevertChange(made))
    with pytest.raises(VersionConflict):
        await case.project.carry_out(ReplaceText("Tarn", "Mere", places))
    wrong = TextPlace(places[0].chapter, places[0].version, places[0].start + 1)
    with pytest.raises(VersionConflict):
        await case.project.carry_out(ReplaceText("Tarn", "Mere", (places[0], wrong)))
    assert await texts(case) == before
    with pytest.raises(RunError):
        await case.project.carry_out(RevertChange(Generation(999_999)))


async def test_a_replacement_without_places_is_refused_and_logs_no_change(case: Case) -> None:
    before = await case.project.book.changes()
    with pytest.raises(ManuscriptError, match="No place was chosen"):
        await case.project.carry_out(ReplaceText("Tarn", "Mere", ()))
    assert await case.project.book.changes() == before


async def test_a_chapter_is_split_behind_itself_and_keeps_its_id(case: Case) -> None:
    first = await case.chapter(1)
    text = await case.project.book.chapter_text(first)
    at = text.index("Ines Marlow did not wave")
    new = ChapterId(await case.project.carry_out(SplitChapter(first, at, "The River", 1)))
    found = await case.project.book.chapters()
    assert [chapter.title for chapter in found] == [next(iter(CHAPTERS)), "The River", *list(CHAPTERS)[1:]]
    assert [chapter.position for chapter in found] == [1, 2, 3, 4]
    assert (found[0].id, found[1].id) == (first, new)
    assert (await texts(case))[:2] == [text[:at].rstrip(), text[at:]]


async def test_a_split_with_an_empty_part_or_of_a_changed_text_changes_nothing(case: Case) -> None:
    first = await case.chapter(1)
    for at, version, error in ((0, 1, ManuscriptError), (10_000, 1, ManuscriptError), (20, 7, VersionConflict)):
        with pytest.raises(error):
            await case.project.carry_out(SplitChapter(first, at, "New", version))
    assert len(await case.project.book.chapters()) == 3


async def test_chapters_are_merged_and_the_second_can_come_back(case: Case) -> None:
    first, second = await case.chapter(1), await case.chapter(2)
    one, two, three = await texts(case)
    with pytest.raises(ManuscriptError):
        await case.project.carry_out(MergeChapters(first, await case.chapter(3)))
    await case.project.carry_out(MergeChapters(first, second))
    assert await texts(case) == [f"{one}\n\n***\n\n{two}", three]
    assert [chapter.position for chapter in await case.project.book.chapters()] == [1, 2]
    await case.project.carry_out(EditChapter(second, deleted=False))
    assert (await texts(case))[1] == two


async def test_the_overview_tells_lengths_goals_and_what_was_written_today(folder: Path) -> None:
    now = datetime(2026, 3, 14, 12, tzinfo=UTC)
    await make(folder)
    change(folder, "goals", book=500, day=10)
    async with opened(folder, clock=lambda: now) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        seen = await case.project.book.overview()
        assert (seen.today, seen.goals.book, seen.goals.day) == (0, 500, 10), "what is imported was not written today"
        chapter = ChapterId(await case.project.carry_out(AddChapter("New")))
        await case.project.carry_out(WriteChapter(chapter, "one two three"))
        assert (await case.project.book.overview()).today == 3
        now += timedelta(days=1)
        await case.project.carry_out(WriteChapter(chapter, "one two"))
        seen = await case.project.book.overview()
        assert seen.today == -1
        assert seen.length == sum(status.chapter.length for status in seen.chapters)
        log = await case.project.book.writing_log()
        assert [(each.hand, each.model, each.saves) for each in log.days] == [(3, 0, 1), (-1, 0, 1)]
        now += timedelta(days=26_000)  # a clock that is wrong, and then right again
        await case.project.carry_out(WriteChapter(chapter, "one two three four five"))
        now -= timedelta(days=26_000)
        assert (await case.project.book.overview()).today == -1
        assert (log.length, log.streak, log.today - log.days[0].day) == (seen.length, 2, timedelta(days=1))


async def test_goals_are_set_and_stay(folder: Path) -> None:
    await make(folder)
    goals = Goals(80_000, 3_000, 500, "word", 20_000, date(2027, 3, 31), 4, hand_only=True)
    async with opened(folder) as case:
        await case.project.carry_out(SetGoals(goals))
        assert (await case.project.book.overview()).goals == goals
        with pytest.raises(SettingsError):
            await case.project.carry_out(SetGoals(Goals(day=-1)))
    async with opened(folder) as case:
        assert (await case.project.book.writing_log()).goals == goals
        await case.project.carry_out(SetGoals(Goals(day=100)))
    assert "until" not in (folder / "flowcabal.toml").read_text("utf-8")
    async with opened(folder) as case:
        assert (await case.project.book.overview()).goals == Goals(day=100)


async def test_a_chapter_whose_memory_has_not_followed_says_so(case: Case) -> None:
    assert all(not status.left for status in (await case.project.book.overview()).chapters)
    await case.project.carry_out(WriteChapter(await case.chapter(2), "A new text about Ines Marlow."))
    assert [bool(status.left) for status in (await case.project.book.overview()).chapters] == [False, True, False]


async def test_a_chapter_says_so_when_a_summary_was_made_from_words_that_it_no_longer_has(case: Case) -> None:
    assert not any(status.is_stale for status in (await case.project.book.overview()).chapters)
    await case.project.carry_out(WriteChapter(await case.chapter(2), "Ines Marlow left Saltreach for ever."))
    await case.project.carry_out(CancelBackground())
    assert [status.is_stale for status in (await case.project.book.overview()).chapters] == [False, True, False]


async def test_a_chapter_goes_into_another_volume(case: Case) -> None:
    await case.project.carry_out(EditChapter(await case.chapter(2), volume="Part Two"))
    assert [chapter.volume for chapter in await case.project.book.chapters()] == ["", "Part Two", ""]
    assert [chapter.title for chapter in await case.project.book.chapters()] == list(CHAPTERS)
