"""The leader key: one letter more runs a command of the workspace, and who waits sees the letters."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from flowcabal_tui.locale import use_language
from flowcabal_tui.tui.app import leader
from flowcabal_tui.tui.app.leader import LeaderScreen
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.fakes import FakeProject
from tests.tui.test_app import app_at_home
from tests.tui.test_palette import app
from tests.tui.waiting import settled, until

NEVER = 1e6


async def opened(pilot: Pilot[int]) -> None:
    await until(pilot, lambda: not getattr(pilot.app.screen, "is_opening", True))


def panel(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one(Static).render())


async def test_a_letter_after_the_leader_key_runs_its_command_and_nothing_is_painted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader, "PAUSE", NEVER)
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("comma")
        assert isinstance(pilot.app.screen, LeaderScreen) and not pilot.app.screen.query_one(Static).display
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, EntitiesScreen))


async def test_it_works_on_a_page_over_the_workspace(tmp_path: Path) -> None:
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("8")
        await until(pilot, lambda: isinstance(pilot.app.screen, EntitiesScreen))
        await pilot.press("comma", "f")
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))


@pytest.mark.parametrize(("language", "size", "words"), [("en", (60, 16), "Names"), ("zh_CN", (140, 40), "名称")])
async def test_the_letters_are_shown_after_a_pause_and_fit(
    language: str, size: tuple[int, int], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader, "PAUSE", 0.001)
    program = app(FakeProject(language), tmp_path)
    use_language(language)
    async with program.run_test(size=size) as pilot:
        await opened(pilot)
        await pilot.press("comma")
        await until(pilot, lambda: pilot.app.screen.has_class("-shown"))
        await settled(pilot)
        rows = panel(pilot).splitlines()
        region = pilot.app.screen.query_one(Static).region
        assert any(words in row for row in rows) and len(rows) <= region.height <= size[1]


async def test_the_leader_key_again_shows_the_letters_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "PAUSE", NEVER)
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("comma", "comma")
        assert "Findings" in panel(pilot)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, WorkspaceScreen)


async def test_a_letter_without_a_command_ends_it_and_does_nothing_else(tmp_path: Path) -> None:
    async with app(bench := FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("1", "comma", "D")
        await settled(pilot)
        assert isinstance(pilot.app.screen, WorkspaceScreen) and bench.sent == []
        assert "key D" in pilot.app.announcer.notices.listed[-1].words


async def test_where_one_types_it_is_a_comma_and_on_the_start_page_nothing(tmp_path: Path) -> None:
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("1", "slash", "comma")
        assert pilot.app.focused is not None and getattr(pilot.app.focused, "value", "") == ","
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        before = pilot.app.screen
        await pilot.press("comma")
        assert pilot.app.screen is before


async def test_the_letter_is_the_users_own(tmp_path: Path) -> None:
    program = app(FakeProject("en"), tmp_path)
    program.preferences.own_keys["leader.story.names"] = "9"
    async with program.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("comma", "comma")
        assert "9 Names" in panel(pilot)
        await pilot.press("9")
        await until(pilot, lambda: isinstance(pilot.app.screen, EntitiesScreen))
