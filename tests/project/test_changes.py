"""Undo of changes of the book: each leaves the book exactly as it was, or changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from flowcabal_tui.domain.comments import CommentFilter
from flowcabal_tui.domain.errors import ChapterLocked, RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.project.change_words import change_words
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import (
    AddChapter,
    AssignOutline,
    DeleteOutput,
    EditChapter,
    ImportManuscript,
    MergeChapters,
    ReplaceText,
    RevertChange,
    SplitChapter,
    WriteChapter,
    WriteMeta,
)
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.revision import AddComment, LockChapters
from tests.project.case import Case, demo_at, make, opened, write_chapters

Shape = list[tuple[ChapterId, int, str, str, str]]


@pytest.fixture
async def case(folder: Path) -> AsyncIterator[Case]:
    """A book of three chapters, as imported."""
    await make(folder)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        await case.settled()
        yield case


async def shape(case: Case) -> Shape:
    """Id, place, title, volume and text of each chapter."""
    book = case.project.book
    return [(at.id, at.position, at.title, at.volume, await book.chapter_text(at.id)) for at in await book.chapters()]


async def words_replaced(case: Case) -> Command:
    found = await case.project.book.occurrences("Saltreach")
    return ReplaceText("Saltreach", "Tarn", tuple(each.place for each in found))


async def split(case: Case) -> Command:
    first = await case.chapter(1)
    return SplitChapter(first, (await case.project.book.chapter_text(first)).index("Ines Marlow did"), "The River", 1)


async def merged(case: Case) -> Command:
    return MergeChapters(await case.chapter(1), await case.chapter(2))


async def moved(case: Case) -> Command:
    return EditChapter(await case.chapter(3), position=1)


async def renamed(case: Case) -> Command:
    return EditChapter(await case.chapter(2), title="Another title", volume="Book II")


async def deleted(case: Case) -> Command:
    return EditChapter(await case.chapter(2), deleted=True)


async def added(_case: Case) -> Command:
    return AddChapter("Between", position=2)


async def imported(case: Case) -> Command:
    return ImportManuscript(str(write_chapters(case.project.info.path.parent / "more")), again=True)


async def older_restored(case: Case) -> Command:
    first = await case.chapter(1)
    imported = await case.project.book.chapter_text(first)
    await case.project.carry_out(WriteChapter(first, "Typed over it."))
    return WriteChapter(first, imported, expected_version=2, is_older=True)


CHANGES = [words_replaced, split, merged, moved, renamed, deleted, added, imported, older_restored]


async def last(case: Case) -> Generation:
    change = await case.project.book.last_change()
    assert change is not None
    return change.generation


@pytest.mark.parametrize("change", CHANGES)
async def test_an_undo_leaves_the_book_as_it_was_and_an_undo_of_it_as_the_change_did(
    case: Case, change: Callable[[Case], Awaitable[Command]]
) -> None:
    command = await change(case)
    before = await shape(case)
    await case.project.carry_out(command)
    after = await shape(case)
    assert after != before
    undone = Generation(int(await case.project.carry_out(RevertChange(await last(case)))))
    assert await shape(case) == before
    await case.project.carry_out(RevertChange(undone))
    assert await shape(case) == after
    await case.project.carry_out(RevertChange(await last(case)))
    assert await shape(case) == before
    await case.settled()


async def test_several_changes_are_undone_from_the_last_to_the_first(case: Case) -> None:
    shapes = []
    for change in (moved, words_replaced, added, merged, deleted):
        shapes.append(await shape(case))
        await case.project.carry_out(await change(case))
    for before in reversed(shapes):
        await case.project.carry_out(RevertChange(await last(case)))
        assert await shape(case) == before


async def test_a_version_that_is_the_newest_already_is_no_change(case: Case) -> None:
    await case.project.carry_out(await older_restored(case))
    (made,) = (change for change in await case.project.book.changes() if change.kind == "older")
    assert change_words(made) == f"older version restored: {made.title}"
    first = await case.chapter(1)
    newest = await case.project.book.chapter_text(first)
    await case.project.carry_out(WriteChapter(first, newest, expected_version=3, is_older=True))
    assert await last(case) == made.generation


async def test_what_was_changed_since_is_not_undone(case: Case) -> None:
    await case.project.carry_out(await moved(case))
    first = await last(case)
    await case.project.carry_out(EditChapter(await case.chapter(1), title="Renamed"))
    before = await shape(case)
    with pytest.raises(VersionConflict):
        await case.project.carry_out(RevertChange(first))
    await case.project.carry_out(await imported(case))
    chapters = await case.project.book.chapters()
    await case.project.carry_out(WriteChapter(chapters[-1].id, "Typed by hand."))
    with pytest.raises(VersionConflict):
        await case.project.carry_out(RevertChange(await last(case)))
    assert (await shape(case))[: len(before)] == before


async def test_a_change_is_undone_once(case: Case) -> None:
    await case.project.carry_out(await deleted(case))
    made = await last(case)
    await case.project.carry_out(RevertChange(made))
    before = await shape(case)
    with pytest.raises(RunError):
        await case.project.carry_out(RevertChange(made))
    with pytest.raises(RunError):
        await case.project.carry_out(RevertChange(Generation(999_999)))
    assert await shape(case) == before


async def test_beats_go_back_to_their_chapter_when_a_merge_is_undone(case: Case) -> None:
    first, second = await case.chapter(1), await case.chapter(2)
    await case.project.carry_out(WriteMeta("outline", "# Ferry\n\nShe waits.\n\n# Ledger\n\nHe counts."))
    for title, chapter in (("Ferry", first), ("Ledger", second)):
        await case.project.carry_out(AssignOutline(title, 1, chapter))
    outline, _version = await case.project.book.outline()
    await case.project.carry_out(await merged(case))
    joined, _version = await case.project.book.outline()
    assert "He counts." in joined.beats(first) and "He counts." not in outline.beats(first)
    await case.project.carry_out(RevertChange(await last(case)))
    back, _version = await case.project.book.outline()
    assert (back.beats(first), back.beats(second)) == (outline.beats(first), outline.beats(second))


async def test_an_undone_keep_is_kept_again(folder: Path, demos: dict[str, Path]) -> None:
    async with opened(demo_at(folder, demos)) as case:
        chapter = (await case.project.book.chapters())[-1]
        output = await case.keep(await case.run("chapter", chapter.position), "polish", chapter=chapter.id)
        before = await shape(case)
        await case.project.carry_out(DeleteOutput(output))
        assert await shape(case) != before
        await case.project.carry_out(RevertChange(await last(case)))
        assert await shape(case) == before


async def test_the_log_names_what_was_changed_and_where(case: Case) -> None:
    await case.project.carry_out(await words_replaced(case))
    await case.project.carry_out(await renamed(case))
    await case.project.carry_out(RevertChange(await last(case)))
    listed = await case.project.book.changes()
    title = listed[1].title
    assert [change_words(change, listed) for change in listed] == [
        f"undone: chapter renamed: {title}",
        f"chapter renamed: {title}",
        "replaced: Saltreach with Tarn",
        "chapters imported",
    ]
    assert title != "Another title" and [change.undone for change in listed] == [False, True, False, False]
    assert [change.chapters for change in listed[2:]] == [3, 3]


async def test_a_purged_chapter_leaves_the_log(case: Case) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(EditChapter(chapter, title="A secret"))
    await case.project.carry_out(Purge(chapter=chapter))
    assert all("secret" not in change_words(change) for change in await case.project.book.changes())
    assert {change.kind for change in await case.project.book.changes()} == {"import"}
    with pytest.raises((VersionConflict, RunError)):
        await case.project.carry_out(RevertChange(await last(case)))


@pytest.mark.parametrize("change", [split, merged])
async def test_comments_are_at_their_passages_again(case: Case, change: Callable[[Case], Awaitable[Command]]) -> None:
    for number in (1, 2):
        chapter = await case.chapter(number)
        words = (await case.project.book.chapter_text(chapter)).strip().rpartition("\n")[2]
        await case.project.carry_out(AddComment(chapter, f"why {number}", quotation=words, start=10))
    before = await case.project.revision.comments(CommentFilter())
    await case.project.carry_out(await change(case))
    after = await case.project.revision.comments(CommentFilter())
    assert [each.chapter for each in after] != [each.chapter for each in before]
    undone = Generation(int(await case.project.carry_out(RevertChange(await last(case)))))
    assert await case.project.revision.comments(CommentFilter()) == before
    await case.project.carry_out(RevertChange(undone))
    assert await case.project.revision.comments(CommentFilter()) == after


async def test_a_chapter_that_was_locked_since_does_not_leave(case: Case) -> None:
    await case.project.carry_out(await imported(case))
    await case.project.carry_out(LockChapters((await case.chapter(5),)))
    before = await shape(case)
    with pytest.raises(ChapterLocked):
        await case.project.carry_out(RevertChange(await last(case)))
    assert await shape(case) == before
