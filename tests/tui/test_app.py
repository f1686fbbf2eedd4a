"""The first page, the wizard, the form for a new project, and what is told when something fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from flowcabal_tui.domain.errors import ProjectError
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp, TooSmallScreen
from flowcabal_tui.tui.app.entry import ProjectAccess
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.app.first_run import FirstRunScreen
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.app.new_project import NewProjectScreen
from flowcabal_tui.tui.app.opening import OpeningScreen
from flowcabal_tui.tui.shared.trouble import Trouble
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.try_out import PROPOSALS, invented_access
from tests.tui.waiting import settled, until

NOW = datetime(2026, 11, 21, 9, 41)


def app_at_home(
    tmp_path: Path, seen: list[object] | None = None, access: ProjectAccess | None = None, **settings: object
) -> FlowCabalApp:
    return FlowCabalApp(
        access or invented_access("en", seen=seen),
        ScreenSettings(language="en", **{"wizard_done": True} | settings),
        proposals=PROPOSALS,
        state_folder=tmp_path / "state",
        clock=lambda: NOW,
    )


def words_of(pilot: Pilot[int]) -> str:
    """Everything that the top screen says in Static widgets."""
    return "\n".join(str(item.render()) for item in pilot.app.screen.query(Static))


async def test_home_lists_recent_projects_then_the_ways_to_a_new_one(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        lines = [str(option.prompt) for option in pilot.app.screen.query_one(OptionList).options]
    assert lines[0].startswith("The Lamp at Harrow Point")
    assert [line[0] for line in lines[-5:]] == ["n", "i", "d", "o", "w"]


async def test_home_works_by_single_keys(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        assert isinstance(pilot.app.screen, NewProjectScreen)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, HomeScreen)
        await pilot.press("w")
        await pilot.pause()
        assert isinstance(pilot.app.screen, FirstRunScreen)


@pytest.mark.parametrize(("keys", "language"), [((), "zh"), (("tab", "tab", "tab", "j", "k", "end"), "en")])
async def test_the_language_of_a_book_is_that_of_its_manuscript_unless_another_is_chosen(tmp_path, keys, language):
    (tmp_path / "one.txt").write_text("第一章 风雪\n\n林远走进山道，风很大。", encoding="gb18030")
    made = []
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        screen = NewProjectScreen(tmp_path, "en", manuscript=True)
        pilot.app.push_screen(screen, made.append)
        await pilot.pause()
        screen.query_one("#new-manuscript", Input).value = str(tmp_path / "one.txt")
        for key in keys:
            await pilot.press(key)
        await pilot.press("ctrl+s")
        while not made:
            await pilot.pause()
    assert (made[0].language, made[0].name) == (language, "one")


async def test_every_step_of_the_wizard_has_its_own_number(tmp_path):
    titles = []
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        await pilot.press("w")
        await pilot.pause()
        for _step in range(4):
            titles.append(str(pilot.app.screen.query_one("#wizard-title", Static).render()).split("   ")[0])
            await pilot.press("enter")
            await pilot.pause()
    assert [title.split()[-1] for title in titles] == ["1/4", "2/4", "3/4", "4/4"]


async def test_the_folder_of_a_new_project_follows_its_name_until_one_is_typed(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        await pilot.press(*"My Book")
        folder = pilot.app.screen.query_one("#new-folder", Input)
        assert folder.value.endswith("/My-Book")
        await pilot.press("enter", "x")
        own = folder.value
        pilot.app.screen.query_one("#new-name", Input).focus()
        await pilot.press("s")
        assert folder.value == own


async def test_a_new_project_without_a_name_is_not_made(tmp_path):
    seen: list[object] = []
    async with app_at_home(tmp_path, seen).run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "ctrl+s")
        assert "needs a name" in words_of(pilot)
    assert seen == []


async def test_the_wizard_settles_language_theme_and_model_and_says_that_the_book_is_sent_away(tmp_path):
    seen: list[object] = []
    app = app_at_home(tmp_path, seen, wizard_done=False, theme="paper")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter", "enter")
        assert "the text of your book is sent to that address" in words_of(pilot)
        await pilot.press("up", "up", "enter", "end", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, HomeScreen)
    assert seen == [(ScreenSettings("en", "paper", wizard_done=True), PROPOSALS[1])]


async def test_the_offline_model_is_the_proposal_that_enter_takes(tmp_path):
    seen: list[object] = []
    async with app_at_home(tmp_path, seen, wizard_done=False).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter", "enter", "enter", "end", "enter")
        await pilot.pause()
    assert seen == [(ScreenSettings("en", "ink", wizard_done=True), None)]


async def test_escape_skips_the_wizard_for_good_and_keeps_the_screen_as_it_was(tmp_path):
    seen: list[object] = []
    app = app_at_home(tmp_path, seen, wizard_done=False, theme="ink")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter", "down", "escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, HomeScreen)
        assert app.theme == "ink"
    assert seen == [("en", "ink")]


async def test_backspace_goes_a_step_back_in_the_wizard(tmp_path):
    async with app_at_home(tmp_path, wizard_done=False).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        assert pilot.app.screen.query_one(OptionList).get_option_at_index(0).id == "ink"
        await pilot.press("backspace")
        assert pilot.app.screen.query_one(OptionList).get_option_at_index(0).id == "zh_CN"


@pytest.mark.parametrize("keys", [("n",), ("w", "enter", "enter", "enter", "down", "enter")], ids=["home", "wizard"])
async def test_a_project_that_takes_its_time_to_be_made_is_opened(tmp_path, keys):
    goes_on = asyncio.Event()

    async def create(folder: Path, name: str, language: str) -> Path:
        await goes_on.wait()
        return folder

    app = app_at_home(tmp_path, access=replace(invented_access("en"), create=create))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys:
            await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, NewProjectScreen))
        before = app.screen_stack[1:]
        await pilot.press(*"Book", "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, OpeningScreen))
        await until(pilot, lambda: not [each for each in before if each.is_attached])
        goes_on.set()
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen))


async def test_a_terminal_that_is_too_small_gets_a_notice_until_it_is_large_enough(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(50, 12)) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app.screen, TooSmallScreen)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert isinstance(pilot.app.screen, HomeScreen)


async def test_an_error_is_shown_with_title_detail_and_advice_and_the_app_goes_on(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        pilot.app.post_message(Trouble(ProjectError("It broke [/b].", "Nothing was lost.", "Try again.")))
        await pilot.pause()
        words = words_of(pilot)
        assert all(part in words for part in ("It broke [/b].", "Nothing was lost.", "-> Try again."))
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, HomeScreen)


async def test_an_error_that_nobody_foresaw_is_written_down_and_shown(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        pilot.app.post_message(Trouble(ValueError("odd")))
        await pilot.pause()
        assert isinstance(pilot.app.screen, ErrorScreen)
    report = next((tmp_path / "state").glob("crash-*.txt"))
    assert "ValueError: odd" in report.read_text()


async def test_the_palette_finds_an_action_by_its_words(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"sample novel")
        lines = pilot.app.screen.query_one(OptionList)
        await until(pilot, lambda: lines.option_count == 1)
        assert "Sample" in str(lines.get_option_at_index(0).prompt)


@pytest.mark.parametrize("has_room", [True, False])
async def test_a_picture_of_the_screen_is_saved_beside_the_reports(tmp_path, has_room):
    app = app_at_home(tmp_path)
    if not has_room:
        (tmp_path / "state").write_text("a file where the folder would be")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("shift+f12")
        await settled(pilot)
        pictures = list((tmp_path / "state").glob("screen-*.svg"))
        assert [picture.stat().st_mode & 0o777 for picture in pictures] == [0o600] * has_room
        assert all("FlowCabal" in picture.read_text() for picture in pictures)
        (notice,) = app.announcer.notices.listed
        assert (str(pictures[0]) if has_room else "was not saved") in notice.words
