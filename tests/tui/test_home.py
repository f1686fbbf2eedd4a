"""The first page shows how books were left; Enter goes on there; a book that cannot be opened says so."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from textual.widgets import OptionList, Static

from flowcabal_tui.domain.errors import ProjectNotFound
from flowcabal_tui.settings.book_summary import BookState, BookSummary
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.app.entry import Recent
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.known_books import KnownBooks
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

NOW = datetime(2026, 11, 21, 9, 41)
LAMP, RIVER = Path("/books/lamp"), Path("/books/river")
LEFT = BookSummary(
    "The Lamp at Harrow Point", "en", 48_210, 21, fake_books.chapter_id(2), 2, "The Ferry", 40, is_editing=True,
    day="2026-11-21", today=320, goal=1000, decisions=2, findings=1, unsaved=1, seen_at="2026-11-20T21:05:00",
)  # fmt: skip


class Books:
    """Summaries, states, and what was kept and forgotten."""

    def __init__(self, left: BookSummary | None = None) -> None:
        self.left = left
        self.states: dict[Path, BookState] = {}
        self.listed = [
            Recent(LEFT.name, LAMP, datetime(2026, 11, 20, 21, 5), LEFT), Recent("长河旧事", RIVER),
        ]  # fmt: skip
        self.kept: list[BookSummary] = []

    def access(self) -> KnownBooks:
        return KnownBooks(
            lambda _folder: self.left,
            lambda _folder, summary: self.kept.append(summary),
            lambda folder: self.states.get(folder, "there"),
            lambda folder: self.listed.remove(next(each for each in self.listed if each.path == folder)),
        )


def app_over(
    books: Books, project: FakeProject | None = None, *, opened: bool = False, now: datetime | None = None
) -> FlowCabalApp:
    async def opener(_folder: Path, _read_only: bool) -> FakeProject:
        if project is None:
            raise ProjectNotFound("There is no project here.", "", "")
        return project

    access = replace(
        invented_access("en"), opener=opener, recents=lambda: tuple(books.listed), books=books.access()
    )  # fmt: skip
    return FlowCabalApp(
        access, ScreenSettings(language="en", theme="ink", wizard_done=True),
        path=Path("book") if opened else None, state_folder=Path("state"), clock=lambda: now or NOW,
    )  # fmt: skip


def rows(app: FlowCabalApp) -> list[str]:
    return [str(option.prompt) for option in app.screen.query_one(OptionList).options]


def detail(app: FlowCabalApp) -> str:
    return str(app.screen.query_one("DetailText > Static", Static).render())


async def test_a_recent_book_shows_its_words_chapter_and_what_waits():
    app = app_over(Books())
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        assert rows(app)[0] == "The Lamp at Harrow Point 48,210 words 2 The Ferry +320 3 waiting"
        for words in ("48,210 words in 21 chapters", "chapter 2 The Ferry", "today 320 of 1,000",
                      "2 decisions wait for you", "1 finding waits", "1 chapter is not saved"):  # fmt: skip
            assert words in detail(app)


async def test_every_line_about_a_book_is_in_view_in_a_small_terminal():
    books = Books()
    books.listed[0] = replace(books.listed[0], summary=replace(LEFT, proposals=3, decisions=2, findings=1, unsaved=1))
    app = app_over(books)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        panel = app.screen.query_one(DetailText)
        lines = panel.query_one(Static)
        assert lines.region.bottom <= panel.content_region.bottom
        assert "Enter continues" in detail(app) and "last open" in detail(app)


async def test_states_of_books_that_come_after_the_page_was_left_change_nothing():
    app = app_over(Books())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        home = pilot.app.screen
        await home.query_one(OptionList).remove()
        await home.run_worker(home._look_at_books()).wait()


async def test_words_of_another_day_are_not_those_of_today():
    books = Books()
    books.listed[0] = replace(books.listed[0], summary=replace(LEFT, day="2026-11-20"))
    app = app_over(books)
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        assert "+320" not in rows(app)[0] and "today" not in detail(app)


@pytest.mark.parametrize(("hour", "is_counted"), [(3, True), (4, False)])
async def test_a_late_writers_day_ends_at_its_own_hour(hour: int, is_counted: bool):
    books = Books()
    books.listed[0] = replace(books.listed[0], summary=replace(LEFT, day_begins=4))
    app = app_over(books, now=datetime(2026, 11, 22, hour, 59 if is_counted else 1))
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        assert ("+320" in rows(app)[0], "today 320" in detail(app)) == (is_counted, is_counted)


@pytest.mark.parametrize(
    ("state", "row", "words"),
    [("missing", "folder not found", "removes the book"), ("damaged", "damaged", "doctor"),
     ("open", "open elsewhere", "for reading")],
)  # fmt: skip
async def test_a_book_that_cannot_be_opened_as_usual_says_so_before_enter(state, row, words):
    books = Books()
    books.states[LAMP] = state
    app = app_over(books)
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        assert rows(app)[0].endswith(row) and "waiting" not in rows(app)[0]
        assert words in detail(app)


async def test_what_is_written_in_a_summary_is_shown_in_one_row_without_its_control_characters():
    books = Books()
    books.listed[0] = replace(books.listed[0], name="A\x1b[31m\nB [bold]c", summary=replace(LEFT, title="\x07x\ny"))
    app = app_over(books)
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        assert "\x1b" not in rows(app)[0] and "\n" not in rows(app)[0] and "2 x y" in rows(app)[0]
        assert "B [bold]c" in detail(app)


async def test_delete_takes_a_book_from_the_list_and_the_cursor_stays_in_its_row():
    books = Books()
    app = app_over(books)
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        await pilot.press("delete")
        await settled(pilot)
        assert [each.path for each in books.listed] == [RIVER] and rows(app)[0].startswith("长河旧事")
        assert app.screen.query_one(OptionList).highlighted == 0
        await pilot.press("end", "delete")
        await settled(pilot)
        assert [each.path for each in books.listed] == [RIVER]


async def test_a_book_whose_folder_is_gone_leaves_the_writer_on_the_first_page():
    app = app_over(Books())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert any("There is no project here." in line for line in shown(app))
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, HomeScreen)


async def opened(app: FlowCabalApp, pilot) -> ManuscriptPane:
    await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
    await settled(pilot)
    return app.screen.query_one(ManuscriptPane)


async def test_enter_goes_on_at_the_chapter_and_the_cursor():
    app = app_over(Books(LEFT), FakeProject())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        pane = await opened(app, pilot)
        await until(pilot, lambda: pane.face == "edit")
        assert app.screen.view.chapter == LEFT.chapter and app.screen.view.pane == "manuscript"
        assert pane.query_one(ProseArea).selected_span == (40, 40)


@pytest.mark.parametrize(
    ("left", "read_only"), [(replace(LEFT, is_editing=False), False), (LEFT, True), (replace(LEFT, place=-5), True)]
)
async def test_who_was_reading_or_may_only_read_goes_on_reading(left, read_only):
    app = app_over(Books(left), FakeProject(read_only=read_only), opened=True)
    async with app.run_test(size=(80, 24)) as pilot:
        pane = await opened(app, pilot)
        assert (pane.face, app.screen.view.chapter) == ("read", LEFT.chapter)
        assert app.screen.view.pane == "manuscript"


async def test_a_chapter_that_is_gone_and_a_cursor_behind_the_end_do_no_harm():
    app = app_over(Books(replace(LEFT, chapter="gone")), FakeProject(), opened=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert app.screen.view.chapter == fake_books.chapter_id(4), "the one that is written next, as without a summary"
    app = app_over(Books(replace(LEFT, place=10**9)), FakeProject(), opened=True)
    async with app.run_test(size=(80, 24)) as pilot:
        pane = await opened(app, pilot)
        await until(pilot, lambda: pane.face == "edit")
        assert pane.place == len(pane.text)


async def test_closing_keeps_the_place_and_a_full_disk_keeps_nobody_from_leaving():
    books = Books()
    app = app_over(books, FakeProject(), opened=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await app.screen.save_drafts()
        await app.screen.save_drafts()
        assert [(each.chapter, each.position, each.chapters) for each in books.kept] == [
            (fake_books.chapter_id(4), 4, 4)
        ], "what has not changed is not written again"
        assert books.kept[0].decisions == 1
        kept = books.kept[0]
        assert (kept.day, kept.today) == ("2026-03-18", 120), "the day that was counted, whatever the clock says since"

    def full(_folder: Path, _summary: BookSummary) -> None:
        raise OSError(28, "No space left on device")

    books = Books()
    access = replace(books.access(), keep=full)
    app = app_over(books, FakeProject(), opened=True)
    app._access = replace(app._access, books=access)
    app.front._access = app._access
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await app.screen.save_drafts()


async def test_a_book_that_is_only_read_keeps_no_summary():
    books = Books()
    app = app_over(books, FakeProject(read_only=True), opened=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await app.screen.save_drafts()
        assert books.kept == []
