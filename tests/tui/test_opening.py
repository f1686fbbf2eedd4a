"""While a book opens the screen says so, and what is typed then is dropped, not carried out later."""

from __future__ import annotations

import asyncio
from pathlib import Path

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.fakes import FakeWorkbench
from tests.tui.hosts import shown
from tests.tui.test_workspace import app_over, settled
from tests.tui.waiting import until


class SlowBook(FakeWorkbench):
    """Its chapters come when `there` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.there = asyncio.Event()

    async def chapters(self) -> tuple[Chapter, ...]:
        await self.there.wait()
        return await super().chapters()


async def test_keys_wait_for_no_book_that_opens(tmp_path: Path) -> None:
    workbench = SlowBook()
    app = app_over(workbench, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen))
        screen = app.screen
        assert isinstance(screen, WorkspaceScreen)
        assert "opening" in screen.status.words
        assert not workbench.has_begun, "nothing runs behind a book that is not shown yet"
        await pilot.press("2", "5", "n")
        workbench.there.set()
        await settled(pilot)
        assert app.screen is screen and "[1 Chapters]" in shown(app)[0], "nothing of it was carried out"
        assert "opening" not in screen.status.words
        assert workbench.has_begun
        await pilot.press("2")
        await settled(pilot)
        assert "[2 Workflow]" in shown(app)[0], "the first key after it is used"
