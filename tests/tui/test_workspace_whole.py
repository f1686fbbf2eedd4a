"""The workspace and the screens over the whole book: what is opened where, which commands are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from textual.pilot import Pilot

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.book import (
    EditChapter,
    MergeChapters,
    ReplaceText,
    RevertChange,
    SplitChapter,
    WriteChapter,
)
from flowcabal_tui.protocol.memory import CancelBackground, RetryBackground
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.book.browser import BrowserScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.replace import ReplaceScreen
from flowcabal_tui.tui.book.search import SearchScreen
from flowcabal_tui.tui.runs.origin import BlameScreen
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

NOW = datetime(2026, 11, 21, 9, 41)
FIRST, SECOND = books.chapter_id(1), books.chapter_id(2)


@asynccontextmanager
async def opened(tmp_path: Path, language: str = "en", **how: bool) -> AsyncIterator[tuple[FakeProject, Pilot[int]]]:
    project = FakeProject(language, **how)

    async def opener(folder: Path, read_only: bool) -> FakeProject:
        return project

    doors = replace(invented_access(language), opener=opener)
    app = FlowCabalApp(
        doors, ScreenSettings(language=language), path=Path("lamp"), state_folder=tmp_path, clock=lambda: NOW
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        yield project, pilot


async def press(pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def workspace(pilot: Pilot[int]) -> WorkspaceScreen:
    return next(screen for screen in pilot.app.screen_stack if isinstance(screen, WorkspaceScreen))


async def test_a_hit_is_opened_in_its_chapter_with_the_words_marked_and_the_search_comes_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_project, pilot):
        await press(pilot, "f11", *"bell", "enter")
        assert pilot.app.screen is workspace(pilot)
        assert workspace(pilot).view.chapter == books.chapter_id(3)
        reader = workspace(pilot).query_one(ManuscriptPane).query_one("#read", StreamView)
        start, end = reader._text_marks.span or (0, 0)
        assert reader.text[start:end] == "bell"
        await press(pilot, "F")
        page = pilot.app.screen
        assert isinstance(page, SearchScreen)
        assert page.words == "bell"


async def test_words_are_replaced_at_the_chosen_places_and_taken_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        places = tuple(each.place for each in await project.book.occurrences("Mara"))
        project.results[ReplaceText] = "17"
        await press(pilot, "F", *"Mara", "ctrl+r", "y", "enter")
        assert isinstance(pilot.app.screen, ReplaceScreen)
        await press(pilot, "space", "ctrl+s")
        assert project.sent == [ReplaceText("Mara", "y", places[1:])]
        assert isinstance(pilot.app.screen, SearchScreen), "back where it was asked for"
        (told,) = [notice.words for notice in pilot.app.announcer.notices.listed]
        assert told.endswith("The old words are still in 1 listed name.")
        await press(pilot, "ctrl+z", "ctrl+z")
        assert project.sent[1:] == [RevertChange(Generation(17))], "once only"


async def test_the_preview_of_a_replacement_names_the_chapters_with_unsaved_text(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        await project.drafts.put(SECOND, "Mara, typed", 1)
        await press(pilot, "F", *"Mara", "ctrl+r", "y", "enter")
        assert "Unsaved text in: 2 " in "\n".join(shown(pilot.app))


async def test_w_shows_where_the_paragraph_comes_from_and_its_run_can_be_opened(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_project, pilot):
        await press(pilot, "up", "up", "up", "enter", "w")
        page = pilot.app.screen
        assert isinstance(page, BlameScreen)
        assert page.line is not None and page.line.number == 1
        await press(pilot, "G", "o")
        await until(pilot, lambda: workspace(pilot).view.pane == "output")
        assert pilot.app.screen is workspace(pilot)
        assert (workspace(pilot).view.run, workspace(pilot).view.node) == (books.RUN, books.DRAFT)


async def test_from_the_manuscript_as_a_whole_chapters_are_split_merged_put_into_volumes_and_restored(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (project, pilot):
        scenes = await project.book.scenes(FIRST)
        await press(pilot, "M", "g", "l", "j", "j", "s", "2", "enter")
        await press(pilot, "h", "m", "y", "u", *"One", "enter")
        assert project.sent == [
            SplitChapter(FIRST, scenes[1].body.start, "2", 1),
            MergeChapters(FIRST, SECOND),
            EditChapter(FIRST, volume="One"),
        ]
        ((newest, text),) = project.version_rows[FIRST]
        older = replace(newest, version=0, digest=digest("As it was."))
        project.version_rows[FIRST] = ((newest, text), (older, "As it was."))
        await press(pilot, "V")
        assert isinstance(pilot.app.screen, VersionsScreen)
        await press(pilot, "a")
        assert project.sent[3:] == [WriteChapter(FIRST, "As it was.", 1, "version 0 restored", is_older=True)]
        assert isinstance(pilot.app.screen, BrowserScreen)


async def test_background_work_is_retried_and_cancelled_step_by_step(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        await press(pilot, "Q", "r", "x", "y", "X", "y")
        assert project.sent == [RetryBackground(1), CancelBackground(1), CancelBackground()]
        assert any("3 Empty City" in row for row in shown(pilot.app))


async def test_the_work_on_summaries_is_cancelled_without_files_and_index(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        await press(pilot, "shift+f9", "y")
        assert project.sent == [CancelBackground(only_model=True)]
        project.tasks = [replace(project.tasks[0], kind="mirror")]
        await press(pilot, "shift+f9")
        assert project.sent == [CancelBackground(only_model=True)]
        assert [notice.words for notice in pilot.app.announcer.notices.listed][-1] == "There is nothing left to cancel."


async def test_a_receipt_is_compared_with_that_of_a_run_or_with_one_for_another_chapter(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_project, pilot):
        workspace(pilot).query_one(ReceiptPane).show(replace(books.receipt(books.EN), used=100), "Draft, now")
        await press(pilot, "6", "o")
        assert isinstance(pilot.app.screen, ChooseScreen)
        await press(pilot, "j", "enter", "enter")
        head = workspace(pilot).query_one("#context .head")
        compared = "compared with the previous receipt (Draft, attempt 2, 2,310 tokens)"
        assert compared in " ".join(str(head.render()).split())
        await press(pilot, "o", "enter", "enter")
        assert "as it would be now: 1 Rain" in " ".join(str(head.render()).split())
