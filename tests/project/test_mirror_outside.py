"""What other programs do to the files of the chapters, while the project is open and while it is closed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.project.book import outside_edits
from flowcabal_tui.project.book.mirror import Edited, Mirror
from flowcabal_tui.protocol.book import AddChapter, OutsideEdit, WriteChapter
from flowcabal_tui.settings.project_file import OFFLINE
from flowcabal_tui.store.rows.tasks import no_tasks
from tests.project.case import CHAPTERS, Case, both, make, opened, write_chapters
from tests.project.test_keeping import mirrored
from tests.waiting import PATIENCE

FERRY = CHAPTERS["Chapter 1 The Ferry"]


@pytest_asyncio.fixture
async def case(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Case]:
    """Three imported chapters; the files are looked at often."""
    from flowcabal_tui.protocol.book import ImportManuscript

    monkeypatch.setattr(outside_edits, "WATCH_SECONDS", 0.02)
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.settled()
        yield case


async def there(path: Path) -> str:
    """The file's text, as soon as it is there."""
    async with asyncio.timeout(PATIENCE):
        while not path.exists():  # noqa: ASYNC110  # a file tells nobody that it came
            await asyncio.sleep(0.005)
    return path.read_text("utf-8")


async def test_a_file_that_is_deleted_outside_is_written_again(case: Case, folder: Path) -> None:
    path = folder / "manuscript" / mirrored(folder)[0]
    for _time in range(2):
        path.unlink()
        assert FERRY in await there(path)
    assert case.told(OutsideEdit) == []
    assert await case.project.book.chapter_text(await case.chapter(1)) == FERRY


async def test_a_file_that_was_deleted_while_the_project_was_closed_is_written_again(case: Case, folder: Path) -> None:
    await case.project.close()
    path = folder / "manuscript" / mirrored(folder)[1]
    path.unlink()
    async with opened(folder) as again:
        assert CHAPTERS["Chapter 2 The Ledger"] in await there(path)
        assert again.told(OutsideEdit) == []


async def test_a_file_that_is_renamed_outside_stays_where_it_went_and_the_chapter_keeps_its_own(
    case: Case, folder: Path
) -> None:
    path = folder / "manuscript" / mirrored(folder)[0]
    path.rename(path.with_name("mine.md"))
    assert FERRY in await there(path)
    assert FERRY in path.with_name("mine.md").read_text("utf-8")


async def test_when_both_were_changed_both_are_versions_and_the_writer_s_stands(case: Case, folder: Path) -> None:
    path = folder / "manuscript" / mirrored(folder)[0]
    chapter = await case.chapter(1)
    path.write_text(path.read_text("utf-8") + "\nFrom elsewhere.\n", encoding="utf-8")
    await case.until(OutsideEdit)
    await case.project.carry_out(WriteChapter(chapter, "From here.", expected_version=1))
    await case.settled()
    versions = await case.project.book.chapter_versions(chapter)
    assert [version.author for version in versions] == ["human", "outside", "import"]
    assert "From elsewhere." in await case.project.book.chapter_text(chapter, 2)
    assert "From here." in path.read_text("utf-8")


async def test_a_kill_between_the_file_and_its_note_is_no_edit_of_somebody_else(case: Case, folder: Path) -> None:
    chapter = await case.chapter(1)
    mirror, values = case.project._parts.book.mirror, case.project._parts.store.values
    before = await values.get(f"mirror/{chapter}", dict[str, str])
    await case.project.carry_out(WriteChapter(chapter, "Second."))
    await case.settled()
    await values.put(f"mirror/{chapter}", before | {"writing": (await case.project.book.chapters())[0].digest})
    await case.project.carry_out(WriteChapter(chapter, "Third."))
    await case.settled()
    assert await mirror.edited_outside() == ()
    assert "Third." in (folder / "manuscript" / mirrored(folder)[0]).read_text("utf-8")
    assert case.told(OutsideEdit) == []


async def test_a_file_that_is_being_written_is_no_half_file_of_a_kill(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        chapter = await case.project.carry_out(AddChapter("The Ferry"))
        parts, fsync, swept = case.project._parts, os.fsync, []

        def sweep_and_sync(descriptor: int) -> None:
            if not swept:
                swept.append(case.project._engine.submit(parts.book.mirror.sweep()))
                for _turn in range(50):  # more than it takes; in the end its turn is still to come
                    case.project._engine.submit(parts.book.mirror.stamps()).result()
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", sweep_and_sync)
        await case.project.carry_out(WriteChapter(chapter, FERRY))
        await case.settled()
        assert swept and FERRY in (folder / "manuscript" / mirrored(folder)[0]).read_text("utf-8")


async def test_half_files_that_a_kill_left_are_taken_away(case: Case, folder: Path) -> None:
    await case.project.close()
    (folder / "manuscript" / ".abc_9x0q.tmp").write_text("half")
    (folder / "manuscript" / ".notes.tmp").write_text("mine")
    async with opened(folder) as again:
        async with asyncio.timeout(PATIENCE):
            while (folder / "manuscript" / ".abc_9x0q.tmp").exists():  # noqa: ASYNC110  # a file tells nobody that it went
                await asyncio.sleep(0.005)
        await again.settled()
    assert (folder / "manuscript" / ".notes.tmp").read_text() == "mine"


async def test_a_chapter_that_changes_while_its_file_is_written_is_no_edit_of_somebody_else(
    case: Case, folder: Path
) -> None:
    parts, chapter = case.project._parts, await case.chapter(1)

    async def written(text: str) -> Chapter:
        await case.project._engine.call(parts.store.book.write(chapter, text, tasks=no_tasks))
        return await case.project._engine.call(parts.store.book.chapter(chapter))

    stale = await written("The ferry leaked.")
    await written("The ferry sank.")
    assert await case.project._engine.call(parts.book.mirror.write(stale)) is None
    assert await case.project._engine.call(parts.book.mirror.write(await written("The ferry was raised."))) is None
    assert "The ferry was raised." in (folder / "manuscript" / mirrored(folder)[0]).read_text("utf-8")


async def test_half_a_file_that_is_being_written_as_the_project_is_opened_is_not_offered(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await case.project.close()
    path = folder / "manuscript" / mirrored(folder)[0]
    whole, look = path.read_text("utf-8") + "\nFrom elsewhere.\n", Mirror.edited_outside

    async def look_while_it_is_written(mirror: Mirror, names: Collection[str] | None = None) -> tuple[Edited, ...]:
        if names is None:
            path.write_text("")
        found = await look(mirror, names)
        if names is None:
            path.write_text(whole, "utf-8")
        return found

    monkeypatch.setattr(Mirror, "edited_outside", look_while_it_is_written)
    async with opened(folder) as again:
        offered = await again.until(OutsideEdit)
        edited = again.project._parts.book.outside.of(offered.chapter)
        assert edited is not None and edited.text.endswith("From elsewhere.")
        assert len(again.told(OutsideEdit)) == 1


async def test_a_file_of_holes_is_not_read_and_not_overwritten(case: Case, folder: Path) -> None:
    path = folder / "manuscript" / mirrored(folder)[0]
    os.truncate(path, 1 << 30)
    assert await case.project._engine.call(case.project._parts.book.mirror.edited_outside()) == ()
    await case.project.carry_out(WriteChapter(await case.chapter(1), "Second."))
    await case.settled()
    (failed,) = await case.project.memory.background("failed")
    assert failed.kind == "mirror" and "too large to be read" in failed.error
    assert path.stat().st_size == 1 << 30
    path.unlink()
    assert "Second." in await there(path)
