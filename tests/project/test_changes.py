"""Undo of changes of the book: each leaves the book exactly as it was, or changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from flowcabal_tui.domain.comments import CommentWish
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
from tests.project.desk import Desk, make, make_demo, opened, write_chapters

Shape = list[tuple[ChapterId, int, str, str, str]]


@pytest.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """A book of three chapters, as imported."""
    await make(folder)
    async with opened(folder) as desk:
        await desk.project.carry_out(ImportManuscript(str(write_chapters(folder.parent / "texts"))))
        await desk.settled()
        yield desk


async def shape(desk: Desk) -> Shape:
    """Id, place, title, volume and text of each chapter."""
    book = desk.project.book
    return [(at.id, at.position, at.title, at.volume, await book.chapter_text(at.id)) for at in await book.chapters()]


async def words_replaced(desk: Desk) -> Command:
    found = await desk.project.book.occurrences("Saltreach")
    return ReplaceText("Saltreach", "Tarn", tuple(each.place for each in found))


async def split(desk: Desk) -> Command:
    first = await desk.chapter(1)
    return SplitChapter(first, (await desk.project.book.chapter_text(first)).index("Ines Marlow did"), "The River", 1)


async def merged(desk: Desk) -> Command:
    return MergeChapters(await desk.chapter(1), await desk.chapter(2))


async def moved(desk: Desk) -> Command:
    return EditChapter(await desk.chapter(3), position=1)


async def renamed(desk: Desk) -> Command:
    return EditChapter(await desk.chapter(2), title="Another title", volume="Book II")


async def deleted(desk: Desk) -> Command:
    return EditChapter(await desk.chapter(2), deleted=True)


async def added(_desk: Desk) -> Command:
    return AddChapter("Between", position=2)


async def imported(desk: Desk) -> Command:
    return ImportManuscript(str(write_chapters(desk.project.info.path.parent / "more")), again=True)


CHANGES = [words_replaced, split, merged, moved, renamed, deleted, added, imported]


async def last(desk: Desk) -> Generation:
    change = await desk.project.book.last_change()
    assert change is not None
    return change.generation


@pytest.mark.parametrize("change", CHANGES)
async def test_an_undo_leaves_the_book_as_it_was_and_an_undo_of_it_as_the_change_did(
    desk: Desk, change: Callable[[Desk], Awaitable[Command]]
) -> None:
    before = await shape(desk)
    await desk.project.carry_out(await change(desk))
    after = await shape(desk)
    assert after != before
    undone = Generation(int(await desk.project.carry_out(RevertChange(await last(desk)))))
    assert await shape(desk) == before
    await desk.project.carry_out(RevertChange(undone))
    assert await shape(desk) == after
    await desk.project.carry_out(RevertChange(await last(desk)))
    assert await shape(desk) == before
    await desk.settled()


async def test_several_changes_are_undone_from_the_last_to_the_first(desk: Desk) -> None:
    shapes = []
    for change in (moved, words_replaced, added, merged, deleted):
        shapes.append(await shape(desk))
        await desk.project.carry_out(await change(desk))
    for before in reversed(shapes):
        await desk.project.carry_out(RevertChange(await last(desk)))
        assert await shape(desk) == before


async def test_what_was_changed_since_is_not_undone(desk: Desk) -> None:
    await desk.project.carry_out(await moved(desk))
    first = await last(desk)
    await desk.project.carry_out(EditChapter(await desk.chapter(1), title="Renamed"))
    before = await shape(desk)
    with pytest.raises(VersionConflict):
        await desk.project.carry_out(RevertChange(first))
    await desk.project.carry_out(await imported(desk))
    chapters = await desk.project.book.chapters()
    await desk.project.carry_out(WriteChapter(chapters[-1].id, "Typed by hand."))
    with pytest.raises(VersionConflict):
        await desk.project.carry_out(RevertChange(await last(desk)))
    assert (await shape(desk))[: len(before)] == before


async def test_a_change_is_undone_once(desk: Desk) -> None:
    await desk.project.carry_out(await deleted(desk))
    made = await last(desk)
    await desk.project.carry_out(RevertChange(made))
    before = await shape(desk)
    with pytest.raises(RunError):
        await desk.project.carry_out(RevertChange(made))
    with pytest.raises(RunError):
        await desk.project.carry_out(RevertChange(Generation(999_999)))
    assert await shape(desk) == before


async def test_beats_go_back_to_their_chapter_when_a_merge_is_undone(desk: Desk) -> None:
    first, second = await desk.chapter(1), await desk.chapter(2)
    await desk.project.carry_out(WriteMeta("outline", "# Ferry\n\nShe waits.\n\n# Ledger\n\nHe counts."))
    for title, chapter in (("Ferry", first), ("Ledger", second)):
        await desk.project.carry_out(AssignOutline(title, 1, chapter))
    outline, _version = await desk.project.book.outline()
    await desk.project.carry_out(await merged(desk))
    joined, _version = await desk.project.book.outline()
    assert "He counts." in joined.beats(first) and "He counts." not in outline.beats(first)
    await desk.project.carry_out(RevertChange(await last(desk)))
    back, _version = await desk.project.book.outline()
    assert (back.beats(first), back.beats(second)) == (outline.beats(first), outline.beats(second))


async def test_an_undone_keep_is_kept_again(folder: Path) -> None:
    async with opened(await make_demo(folder)) as desk:
        chapter = (await desk.project.book.chapters())[-1]
        output = await desk.keep(await desk.run("chapter", chapter.position), "polish", chapter=chapter.id)
        before = await shape(desk)
        await desk.project.carry_out(DeleteOutput(output))
        assert await shape(desk) != before
        await desk.project.carry_out(RevertChange(await last(desk)))
        assert await shape(desk) == before


async def test_the_log_names_what_was_changed_and_where(desk: Desk) -> None:
    await desk.project.carry_out(await words_replaced(desk))
    await desk.project.carry_out(await renamed(desk))
    await desk.project.carry_out(RevertChange(await last(desk)))
    listed = await desk.project.book.changes()
    title = listed[1].title
    assert [change_words(change, listed) for change in listed] == [
        f"undone: chapter renamed: {title}",
        f"chapter renamed: {title}",
        "replaced: Saltreach with Tarn",
        "chapters imported",
    ]
    assert title != "Another title" and [change.undone for change in listed] == [False, True, False, False]
    assert [change.chapters for change in listed[2:]] == [3, 3]


async def test_a_purged_chapter_leaves_the_log(desk: Desk) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(EditChapter(chapter, title="A secret"))
    await desk.project.carry_out(Purge(chapter=chapter))
    assert all("secret" not in change_words(change) for change in await desk.project.book.changes())
    assert {change.kind for change in await desk.project.book.changes()} == {"import"}
    with pytest.raises((VersionConflict, RunError)):
        await desk.project.carry_out(RevertChange(await last(desk)))


@pytest.mark.parametrize("change", [split, merged])
async def test_comments_are_at_their_passages_again(desk: Desk, change: Callable[[Desk], Awaitable[Command]]) -> None:
    for number in (1, 2):
        chapter = await desk.chapter(number)
        words = (await desk.project.book.chapter_text(chapter)).strip().rpartition("\n")[2]
        await desk.project.carry_out(AddComment(chapter, f"why {number}", quotation=words, start=10))
    before = await desk.project.revision.comments(CommentWish())
    await desk.project.carry_out(await change(desk))
    after = await desk.project.revision.comments(CommentWish())
    assert [each.chapter for each in after] != [each.chapter for each in before]
    undone = Generation(int(await desk.project.carry_out(RevertChange(await last(desk)))))
    assert await desk.project.revision.comments(CommentWish()) == before
    await desk.project.carry_out(RevertChange(undone))
    assert await desk.project.revision.comments(CommentWish()) == after


async def test_a_chapter_that_was_locked_since_does_not_leave(desk: Desk) -> None:
    await desk.project.carry_out(await imported(desk))
    await desk.project.carry_out(LockChapters((await desk.chapter(5),)))
    before = await shape(desk)
    with pytest.raises(ChapterLocked):
        await desk.project.carry_out(RevertChange(await last(desk)))
    assert await shape(desk) == before
