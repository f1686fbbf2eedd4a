"""Names of chapters' files that another system has decomposed: Unicode NFD, as macOS and what copies from it write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from unicodedata import normalize

import pytest_asyncio

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.protocol.book import AddChapter, EditChapter, OutsideEdit, WriteChapter
from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import Case, both, make, opened
from tests.project.test_keeping import mirrored

TITLE = "Der Fährmann und der Fluß 강"
NAME = "0001-Der-Fährmann-und-der-Fluß-강.md"
DECOMPOSED = normalize("NFD", NAME)
FIRST = "Ines stieß die Fähre vom Ufer ab."
SECOND = "Niemand winkte."


@pytest_asyncio.fixture
async def closed(folder: Path) -> AsyncIterator[Path]:
    """The manuscript folder of a closed project with one chapter."""
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(ChapterId(await case.project.carry_out(AddChapter(TITLE))), FIRST))
        await case.settled()
    assert mirrored(folder) == [NAME]
    yield folder / "manuscript"


async def write(case: Case, text: str) -> None:
    await case.project.carry_out(WriteChapter(await case.chapter(1), text))
    await case.settled()


async def test_a_renamed_file_is_the_chapters_and_no_second_one_is_written(closed: Path) -> None:
    (closed / NAME).rename(closed / DECOMPOSED)
    async with opened(closed.parent) as case:
        mirror, call = case.project._parts.book.mirror, case.project._engine.call
        assert (await call(mirror.lost()), await call(mirror.left_behind())) == ((), ())
        assert await call(mirror.edited_outside()) == ()
        await write(case, SECOND)
        assert mirrored(closed.parent) == [DECOMPOSED]
        assert SECOND in (closed / DECOMPOSED).read_text("utf-8")
        assert case.told(OutsideEdit) == []
        chapter = await case.chapter(1)
        await case.project.carry_out(EditChapter(chapter, title="Le bûcher"))
        await case.settled()
        assert mirrored(closed.parent) == ["0001-Le-bûcher.md"], "a new title is a new name"
        (closed / "0001-Le-bûcher.md").rename(closed / normalize("NFD", "0001-Le-bûcher.md"))
        await case.project.carry_out(EditChapter(chapter, deleted=True))
        await case.settled()
        assert mirrored(closed.parent) == []


async def test_an_edit_in_a_renamed_file_is_shown(closed: Path) -> None:
    (closed / NAME).rename(closed / DECOMPOSED)
    (closed / DECOMPOSED).write_text(f"# {TITLE}\n\n{SECOND}\n", encoding="utf-8")
    async with opened(closed.parent) as case:
        shown = await case.until(OutsideEdit)
        assert shown.path == str(closed / DECOMPOSED)
        assert await case.project.book.outside_text(shown.chapter) == SECOND
        await write(case, SECOND)
        assert mirrored(closed.parent) == [DECOMPOSED]
        assert (await case.project.book.chapter_versions(shown.chapter))[0].author == "outside"


async def test_of_two_files_with_different_texts_both_stay_and_the_other_is_shown_once(closed: Path) -> None:
    other = f"# {TITLE}\n\nVom anderen Rechner.\n"
    (closed / DECOMPOSED).write_text(other, encoding="utf-8")
    async with opened(closed.parent) as case:
        shown = await case.until(OutsideEdit)
        assert shown.path == str(closed / DECOMPOSED)
        assert await case.project.book.outside_text(shown.chapter) == "Vom anderen Rechner."
        await write(case, SECOND)
        versions = await case.project.book.chapter_versions(shown.chapter)
        assert [version.author for version in versions] == ["human", "outside", "human"]
        assert await case.project.book.chapter_text(shown.chapter, 2) == "Vom anderen Rechner."
        assert (closed / DECOMPOSED).read_text("utf-8") == other
        assert SECOND in (closed / NAME).read_text("utf-8")
        assert mirrored(closed.parent) == sorted((NAME, DECOMPOSED))
        assert await case.project._engine.call(case.project._parts.book.mirror.edited_outside()) == ()


async def test_a_new_chapter_does_not_write_beside_a_file_whose_name_is_equal(closed: Path) -> None:
    async with opened(closed.parent) as case:
        name = normalize("NFD", "0002-Le-bûcher.md")
        (closed / name).write_text("Mine.", encoding="utf-8")
        chapter = ChapterId(await case.project.carry_out(AddChapter("Le bûcher")))
        await case.project.carry_out(WriteChapter(chapter, SECOND))
        await case.settled()
        assert sorted(map(len, mirrored(closed.parent))) == sorted(
            map(len, (NAME, name, f"0002-Le-bûcher-{chapter}.md"))
        )
        assert (closed / name).read_text("utf-8") == "Mine."
