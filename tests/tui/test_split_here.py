"""A chapter is split at the cursor of the editor: unsaved text comes along, and the new chapter opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.test_build_tour import project, shows, typed
from tests.tui.waiting import settled, until


async def written(pilot) -> None:
    """Two paragraphs in a new chapter, not saved, the cursor before the second."""
    await pilot.press("plus")
    await shows(pilot, PromptLine)
    await typed(pilot, "Dawn")
    await pilot.press("enter")
    await settled(pilot)
    await pilot.press("f2")
    await until(pilot, lambda: pilot.app.screen.query_one(ManuscriptPane).face == "edit")
    await typed(pilot, "One was here.")
    await pilot.press("enter", "enter")
    await typed(pilot, "Two came later.")
    await pilot.press("home")


async def texts(opened) -> list[tuple[str, str]]:
    return [(each.title, await opened.book.chapter_text(each.id)) for each in await opened.book.chapters()]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_text_behind_the_cursor_becomes_a_chapter(tmp_path: Path, size):
    async with project(tmp_path, "en", size) as (pilot, opened):
        await written(pilot)
        await pilot.press("shift+f2")
        await shows(pilot, PromptLine)
        await pilot.press("ctrl+u")
        await typed(pilot, "Noon")
        await pilot.press("enter")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2 and pilot.app.screen.view.position == 2)
        await settled(pilot)
        assert await texts(opened) == [("Dawn", "One was here."), ("Noon", "Two came later.")]
        pane = pilot.app.screen.query_one(ManuscriptPane)
        assert pane.face == "read" and pane.text == "Two came later."


async def test_leaving_the_question_saves_the_text_and_splits_nothing(tmp_path: Path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, opened):
        await written(pilot)
        await pilot.press("shift+f2")
        await shows(pilot, PromptLine)
        await pilot.press("escape")
        await shows(pilot, WorkspaceScreen)
        assert await texts(opened) == [("Dawn", "One was here.\n\nTwo came later.")]


async def test_an_empty_part_and_the_reader_are_no_place_to_split(tmp_path: Path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, opened):
        await written(pilot)
        await pilot.press("ctrl+home", "shift+f2")
        await settled(pilot)
        assert "Put the cursor" in pilot.app.announcer.notices.listed[-1].words
        await pilot.press("escape", "shift+f2")
        await settled(pilot)
        assert pilot.app.screen.query_one(ManuscriptPane).face == "edit", "the editor opens, for the cursor is there"
        assert len(await texts(opened)) == 1
