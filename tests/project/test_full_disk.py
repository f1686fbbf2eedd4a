"""What waits for something ends with a typed error when the disk takes nothing, and goes on when there is room."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import ImportManuscript, WriteChapter
from flowcabal_tui.protocol.memory import BootstrapChanged, StartBootstrap
from flowcabal_tui.settings.project_file import OFFLINE
from tests.faultserver import FaultServer
from tests.project.case import PATIENCE, Case, both, calls, endpoint, make, make_one, opened, write_chapters
from tests.project.test_project_faults import LITTLE_DISK


async def disk(case: Case, *, full: bool) -> None:
    """The store takes nothing any more, or takes everything again."""
    database = case.project._parts.store._database
    await case.project._engine.call(
        database.alone(lambda connection: connection.execute(f"PRAGMA query_only={full}").close())
    )


async def test_who_waits_for_the_memory_hears_that_there_is_no_room_and_it_follows_later(
    folder: Path, tmp_path: Path
) -> None:
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        parts = case.project._parts
        await case.project._engine.call(parts.memory.background.close())
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await disk(case, full=True)
        case.project._engine.soon(parts.memory.background.start)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(DiskFull):
                await case.project.memory.settled()
        await case.until(Status, lambda status: status.status == "error")
        with pytest.raises(DiskFull):
            await case.project.carry_out(WriteChapter(await case.chapter(1), "Not this."))
        await disk(case, full=False)
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await case.project.memory.settled()
                    break
                except DiskFull:  # until the lane has tried again
                    await asyncio.sleep(0.05)
        assert len(await case.project.book.chapters()) == 3
        assert len(list((folder / "manuscript").glob("*.md"))) == 3


async def test_who_waits_for_a_file_that_cannot_be_written_hears_it_and_the_next_opening_writes_it(
    folder: Path,
) -> None:
    await make_one(folder, both(OFFLINE))
    (folder / "manuscript").rmdir()
    (folder / "manuscript").write_text("in the way")
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), "Safe."))
        with pytest.raises(DiskFull, match="0001-The-Glove"):
            await case.settled()
        await case.settled()
    (folder / "manuscript").unlink()
    async with opened(folder) as case:
        await case.settled()
    assert [file.name for file in (folder / "manuscript").iterdir()] == ["0001-The-Glove.md"]


async def test_a_reading_that_cannot_be_written_down_pauses_with_the_error_and_pays_no_more(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server, concurrency=1)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.settled()
        server.push({"stall_after": 0})
        await case.project.carry_out(StartBootstrap())
        async with asyncio.timeout(PATIENCE):
            while not calls(server):  # noqa: ASYNC110  # the server is polled
                await asyncio.sleep(0.005)
        await disk(case, full=True)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(DiskFull):
                await case.project.memory.bootstrap_ended()
        paused = await case.until(BootstrapChanged, lambda event: event.status.state == "paused")
        assert paused.status.reason
        assert calls(server) == 1
        await disk(case, full=False)
        await case.project.carry_out(StartBootstrap())
        await case.project.memory.bootstrap_ended()
        await case.until(BootstrapChanged, lambda event: event.status.state == "done")


@pytest.mark.parametrize("room", [30_000, 150_000, 400_000])
async def test_an_import_on_a_little_disk_ends_with_the_error_and_all_or_nothing(
    folder: Path, tmp_path: Path, room: int
) -> None:
    await make(folder, both(OFFLINE))
    texts = {
        f"Chapter {n} Of It": "\n\n".join(f"Ines Marlow counted {n} {k}." * 8 for k in range(40)) for n in range(9)
    }
    words = ("import", str(folder), str(write_chapters(tmp_path / "texts", texts)))
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", LITTLE_DISK, str(room), *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(ran.communicate(), PATIENCE)
    except TimeoutError:
        ran.kill()
        raise
    assert ran.returncode == 1, out + err
    assert b"Free space" in err and b"Traceback" not in err
    async with opened(folder) as case:
        assert len(await case.project.book.chapters()) == (9 if b"Imported" in out else 0)
        await case.project.check()
        await case.settled()
