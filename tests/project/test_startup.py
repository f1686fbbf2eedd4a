"""What a project starts by itself ends before its store is closed, however early that is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.project import project as project_module
from flowcabal_tui.project.memory.purging import Purging
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.base import Status
from tests.project.case import make, opened
from tests.waiting import until


async def test_a_project_that_is_closed_while_it_starts_ends_the_start_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[bool] = []
    read: list[tuple[Chapter, ...]] = []

    async def slow(purging: Purging) -> None:
        began.append(True)
        try:
            await asyncio.Event().wait()
        finally:
            read.append(await purging._store.book.chapters())

    monkeypatch.setattr(Purging, "begin", slow)
    await make(folder)
    project = await Project.open(folder)
    await until(lambda: began)
    await project.close()
    assert read == [()], "the store could still be read when the start was cancelled"


async def test_a_network_file_system_is_reported_at_opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await make(folder)
    async with opened(folder) as case:
        await case.until(Status, lambda event: event.status == "connected")
    assert [event for event in case.events if isinstance(event, Status) and event.status == "warning"] == []
    monkeypatch.setattr("flowcabal_tui.store.file.filesystem.mounts", lambda: "1 0 0:1 / / rw - cifs //server/x rw")
    async with opened(folder) as case:
        warning = await case.until(Status, lambda event: event.status == "warning")
    assert "network file system (cifs)" in warning.message and "disk of this machine" in warning.message


async def test_a_project_that_is_opened_to_be_shown_first_begins_nothing_until_it_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[Purging] = []

    async def begin(purging: Purging) -> None:
        began.append(purging)

    monkeypatch.setattr(Purging, "begin", begin)
    await make(folder)
    project = await Project.open(folder, begin=False)
    try:
        await project.book.chapters()
        assert not began
        assert project._parts.base.trust.state == "restricted", "nothing is sent before the confirmations are read"
        await project.complete()
        assert project.info.trust == "trusted" and not began
        project.begin()
        project.begin()
        await until(lambda: began)
    finally:
        await project.close()
    assert len(began) == 1


async def test_a_project_whose_work_does_not_end_in_time_is_closed_and_can_be_opened_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(folder)
    project = await Project.open(folder)

    async def never() -> None:
        await asyncio.Event().wait()

    project._parts.base.closes_first.append(never)
    with monkeypatch.context() as patched:
        patched.setattr(project_module, "CLOSE_SECONDS", 0.05)
        await project.close()
    async with await Project.open(folder) as again:
        assert await again.book.chapters() == ()
