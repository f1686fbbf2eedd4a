"""Unsaved chapters are marked wherever chapters are listed, and named before the project is left or written out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flowcabal_tui.domain.revision import ChapterLock
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.book import MergeChapters, PersistOutput
from flowcabal_tui.protocol.revision import LockChapters
from flowcabal_tui.tui.shared.diff import ReplacedScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_maintenance import said
from tests.tui.test_workspace import screen_of, settled, until, workspace

SECOND, FOURTH = books.chapter_id(2), books.chapter_id(4)


def unsaved_book() -> FakeProject:
    project = FakeProject()
    project.drafts.texts[SECOND] = ("Typed and not saved.", 1)
    return project


def words(app) -> str:
    return " ".join("\n".join(shown(app)).split())


def asked_words(app) -> str:
    return str(app.screen.query_one(".confirm-words").render())


async def test_the_list_of_chapters_marks_what_is_unsaved_until_it_is_saved(tmp_path: Path) -> None:
    project = unsaved_book()
    async with workspace(project, tmp_path) as pilot:
        row = next(row for row in shown(pilot.app) if "The Ferry" in row)
        assert "*" in row
        await screen_of(pilot).book.save(SECOND, "Typed and not saved.", 1)
        await settled(pilot)
        assert "*" not in next(row for row in shown(pilot.app) if "The Ferry" in row)


async def test_leaving_names_the_unsaved_chapters_and_no_stays(tmp_path: Path) -> None:
    project = unsaved_book()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "Unsaved text in: 2 The Ferry." in asked_words(pilot.app)
        await pilot.press("n")
        await settled(pilot)
        assert not project.closed
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.return_code is not None)
    assert project.closed
    assert project.drafts.texts == {SECOND: ("Typed and not saved.", 1)}


async def test_exporting_and_backing_up_name_the_unsaved_chapters_first(tmp_path: Path) -> None:
    project = unsaved_book()
    async with workspace(project, tmp_path) as pilot:
        screen_of(pilot).action_key("book.export")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "Unsaved text in: 2 The Ferry.\nThe export has the saved text." in asked_words(pilot.app)
        await pilot.press("n")
        await settled(pilot)
        assert project.exported == []
        screen_of(pilot).action_key("book.backup")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "The backup contains it as unsaved text" in asked_words(pilot.app)
        await pilot.press("n")


async def test_a_chapter_with_unsaved_text_is_not_merged_out_of_sight(tmp_path: Path) -> None:
    project = unsaved_book()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.browser.merge(project.chapter_rows[0], project.chapter_rows[1])
        await settled(pilot)
        assert ["has unsaved text. Save or discard it first" in told for told in said(pilot)] == [True]
    assert not any(isinstance(command, MergeChapters) for command in project.sent)


def written_by_hand(project: FakeProject) -> None:
    """Chapter 4, for which the run was, has words of the writer."""
    project.chapter_rows = [
        replace(row, version=1, digest=digest("My own words."), author="human") if row.id == FOURTH else row
        for row in project.chapter_rows
    ]
    project._write(FOURTH, "My own words.", "")
    project.put_node(books.RUN, books.POLISH, "done", books.attempts(project.words))


async def test_keeping_over_text_by_hand_shows_what_would_be_replaced_and_asks(tmp_path: Path) -> None:
    project = FakeProject()
    written_by_hand(project)
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        screen = screen_of(pilot)
        asked = screen.run_worker(screen.controllers.keeping.keep(books.RUN, books.POLISH, 1, FOURTH))
        await until(pilot, lambda: isinstance(pilot.app.screen, ReplacedScreen))
        await pilot.pause()
        assert "My own words." in words(pilot.app)
        assert "as an older version; Esc: no." in " ".join(words(pilot.app).split()), "the whole hint"
        assert "a Keep it" in words(pilot.app).splitlines()[-1]
        await pilot.press("escape")
        assert await asked.wait() == ""
        assert project.sent == []
        asked = screen.run_worker(screen.controllers.keeping.keep(books.RUN, books.POLISH, 1, FOURTH))
        await until(pilot, lambda: isinstance(pilot.app.screen, ReplacedScreen))
        await pilot.press("a")
        assert await asked.wait()
    assert project.sent == [PersistOutput(books.RUN, books.POLISH, 1, chapter=FOURTH)]


async def test_keeping_over_what_a_model_wrote_asks_nothing(tmp_path: Path) -> None:
    project = FakeProject()
    written_by_hand(project)
    project.chapter_rows = [replace(row, author="model") for row in project.chapter_rows]
    async with workspace(project, tmp_path) as pilot:
        assert await screen_of(pilot).controllers.keeping.keep(books.RUN, books.POLISH, 1, FOURTH)


async def test_keeping_in_a_locked_chapter_asks_to_unlock_it(tmp_path: Path) -> None:
    project = FakeProject()
    written_by_hand(project)
    project.chapter_rows = [replace(row, author="model") for row in project.chapter_rows]
    project.revision.locked[FOURTH] = ChapterLock(FOURTH, 1, True, books.NOW)
    async with workspace(project, tmp_path) as pilot:
        for key in ("n", "y"):
            asked = screen_of(pilot).run_worker(
                screen_of(pilot).controllers.keeping.keep(books.RUN, books.POLISH, 1, FOURTH)
            )
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            assert "stays with its run" in asked_words(pilot.app)
            await pilot.press(key)
            assert bool(await asked.wait()) == (key == "y")
    assert project.sent == [
        LockChapters((FOURTH,), locked=False),
        PersistOutput(books.RUN, books.POLISH, 1, chapter=FOURTH),
    ]
