"""While a book opens the screen says so, and what is typed then is dropped, not carried out later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.widgets import Static

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import app_over, settled
from tests.tui.waiting import until


class SlowBook(FakeProject):
    """Its chapters come when `there` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.there = asyncio.Event()

    async def chapters(self) -> tuple[Chapter, ...]:
        await self.there.wait()
        return await super().chapters()


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_panes_say_that_the_book_is_being_opened_until_they_are_filled(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    project = SlowBook()
    app = app_over(project, tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen))
        panes = app.screen.query_one(ManuscriptPane), app.screen.query_one(WorkflowPane)

        def heads() -> list[str]:
            return [str(pane.query_one(".head", Static).render()) for pane in panes]

        await until(pilot, lambda: all(pane.query(".head") for pane in panes))
        opening = f"Opening {project.folder.name} ..."
        assert heads() == [f"{opening}\nKeys that you press now are not used.", opening]
        project.there.set()
        await settled(pilot)
        assert not any("Opening" in head or "No workflow yet" in head for head in heads())


class EmptyBook(SlowBook):
    """It has no chapters."""

    async def chapters(self) -> tuple[Chapter, ...]:
        await super().chapters()
        return ()


async def test_an_open_book_without_chapters_says_how_one_is_added(tmp_path: Path) -> None:
    project = EmptyBook()
    app = app_over(project, tmp_path)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen))
        project.there.set()
        await settled(pilot)
        head = app.screen.query_one(ManuscriptPane).query_one(".head", Static)
        assert "No chapter is open" in str(head.render())


async def test_keys_wait_for_no_book_that_opens(tmp_path: Path) -> None:
    project = SlowBook()
    app = app_over(project, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen))
        screen = app.screen
        assert isinstance(screen, WorkspaceScreen)
        assert "opening" in screen.status.words
        assert not project.has_begun, "nothing runs behind a book that is not shown yet"
        await pilot.press("2", "5", "n")
        project.there.set()
        await settled(pilot)
        assert app.screen is screen and "[1 Chapters]" in shown(app)[0], "nothing of it was carried out"
        assert "opening" not in screen.status.words
        assert project.has_begun
        await pilot.press("2")
        await settled(pilot)
        assert "[2 Workflow]" in shown(app)[0], "the first key after it is used"


class IncompleteBook(SlowBook):
    """Its chapters can be read; what else is needed cannot, when `there` is set."""

    async def chapters(self) -> tuple[Chapter, ...]:
        return await FakeProject.chapters(self)

    async def complete(self) -> None:
        await self.there.wait()
        raise SettingsError("flowcabal.toml has a setting that cannot be used.", "line 3: name")


async def test_a_book_that_cannot_be_worked_with_is_closed_with_the_reason(tmp_path: Path) -> None:
    project = IncompleteBook()
    app = app_over(project, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen))
        workspace = app.screen
        assert isinstance(workspace, WorkspaceScreen)
        project.there.set()
        await until(pilot, lambda: isinstance(app.screen, ErrorScreen))
        assert "line 3: name" in "\n".join(shown(app))
        assert isinstance(app.screen_stack[-2], HomeScreen)
        assert workspace.is_opening, "no key was used: nothing was there to carry it out"
        assert project.closed and not project.has_begun and app.departure.workspace is None
