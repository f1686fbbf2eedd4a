"""The theme in use: what a terminal is sent, files that change while the program runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.widget import Widget

from flowcabal_tui.locale import use_language
from flowcabal_tui.settings.paths import config_folder
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.app.themes import theme_words
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickTree
from tests.snapshots.test_shell import app
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown as rows_shown
from tests.tui.test_workspace import workspace
from tests.tui.waiting import settled, until


def styles(shown: FlowCabalApp) -> list[Style]:
    """What the terminal is sent: each widget has filtered its own rows."""
    return [segment.style for strip in shown.screen._compositor.render_strips() for segment in strip if segment.style]


@pytest.fixture
def user_themes() -> Path:
    folder = config_folder() / "themes"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def changed(path: Path, words: str, at: int) -> None:
    path.write_text(words, encoding="utf-8")
    os.utime(path, (at, at))


LISTS = [("2",), ("6",), ("7",), ("8",)]


async def opened_with(theme: str, *keys: str) -> list[Style]:
    shown = app(opened=True)
    async with shown.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        shown.looks.use(theme)
        for key in ("end", "enter", *keys):
            await pilot.press(key)
            await settled(pilot)
        return styles(shown)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
@pytest.mark.parametrize("keys", [*LISTS, (), ("3", "e"), ("4",), ("f8",)])
async def test_the_terminals_themes_send_its_colours_on_its_ground_and_never_dim(
    theme: str, keys: tuple[str, ...]
) -> None:
    found = await opened_with(theme, *keys)
    assert {style.bgcolor.type for style in found if style.bgcolor} <= {ColorType.DEFAULT}
    assert {style.color.type for style in found if style.color} <= {ColorType.DEFAULT, ColorType.STANDARD}
    assert not any(style.dim for style in found)
    if keys in LISTS:
        assert any(style.reverse for style in found), "the cursor is seen"


async def test_without_colour_none_is_sent_and_the_cursor_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    for keys in (LISTS[0], (), ("4",), ("f8",)):
        found = await opened_with("paper", *keys)
        assert {style.color.type for style in found if style.color} <= {ColorType.DEFAULT}
        assert {style.bgcolor.type for style in found if style.bgcolor} <= {ColorType.DEFAULT}
        assert not any(style.dim for style in found)
        assert keys not in LISTS or any(style.reverse for style in found), "a list shows its cursor"


def reversed_rows(shown: FlowCabalApp) -> list[list[Segment]]:
    """The reversed pieces of each row that has some letters reversed."""
    rows = shown.screen._compositor.render_strips(shown.size)
    found = [[piece for piece in row if piece.style and piece.style.reverse] for row in rows]
    return [pieces for pieces in found if len("".join(piece.text for piece in pieces).strip()) > 1]


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_the_row_under_the_cursor_has_one_colour(theme: str) -> None:
    shown = app(opened=True)
    async with shown.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        shown.looks.use(theme)
        for key in ("end", "enter", "9"):
            await pilot.press(key)
            await settled(pilot)
        (row,) = reversed_rows(shown)
        assert len({(piece.style.color, piece.style.bgcolor) for piece in row}) == 1


async def test_without_colour_the_list_of_an_input_shows_its_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = app(opened=True)
    async with shown.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for key in ("end", "enter", "ctrl+p"):
            await pilot.press(key)
            await settled(pilot)
        assert reversed_rows(shown)


async def test_without_colour_a_tree_marks_its_row_only_while_it_has_the_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = app(opened=True)
    async with shown.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        marked = []
        for key in ("end", "enter", "7", "1"):
            await pilot.press(key)
            await settled(pilot)
            trees = [tree for tree in shown.screen.query(PickTree) if tree.region and tree.cursor_node]
            marked.append([reversed_words(shown, tree) != "" for tree in trees])
        assert any(marked[-2])
        assert not any(marked[-1])


def reversed_words(shown: FlowCabalApp, widget: Widget) -> str:
    """The letters of a widget that are reversed, its scroll bar left out."""
    region = widget.scrollable_content_region
    rows = shown.screen._compositor.render_strips(shown.size)[region.y : region.bottom]
    cut = [piece for row in rows for piece in row.crop(region.x, region.right)]
    return "".join(piece.text for piece in cut if piece.style and piece.style.reverse).strip()


async def test_without_colour_the_first_steps_show_their_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = app()
    async with shown.run_test(size=(80, 24)) as pilot:
        await pilot.press("w")
        await settled(pilot)
        assert reversed_rows(shown)


@pytest.mark.parametrize("key", ["$", "#"])
async def test_nothing_of_the_page_below_is_seen_through_a_page(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = app(opened=True)
    async with shown.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for each in ("end", "enter", "2"):
            await pilot.press(each)
            await settled(pilot)
        below = {row.text.strip() for row in shown.screen._compositor.render_strips(shown.size)} - {""}
        await pilot.press(key)
        await settled(pilot)
        above = {row.text.strip() for row in shown.screen._compositor.render_strips(shown.size)}
        assert not {row for row in below & above if len(row) > 20}


async def test_a_theme_of_the_user_is_read_again_and_a_bad_one_changes_nothing(user_themes: Path) -> None:
    mine = user_themes / "mine.toml"
    changed(mine, '[roles]\nfocus = "#ffff00"', 1)
    shown = app()
    async with shown.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        shown.looks.use("mine")
        await settled(pilot)
        assert shown.theme_variables["role-focus"] == "#ffff00"
        changed(mine, '[roles]\nfocus = "#00ffff"', 2)
        shown.looks.look()
        await settled(pilot)
        assert shown.theme_variables["role-focus"] == "#00ffff"
        changed(mine, '[roles]\nfocus = "#111111"', 3)
        shown.looks.look()
        await settled(pilot)
        assert shown.theme_variables["role-focus"] == "#00ffff"
        told = [notice.line for notice in shown.announcer.notices.listed]
        assert any(re.search("mine.toml.*`focus` on `background`", line) for line in told), told


async def test_only_themes_that_set_roles_are_offered() -> None:
    shown = app()
    async with shown.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert {"ink", "paper", "sepia", "high-contrast", "ansi-dark", "ansi-light"} <= set(shown.available_themes)
        assert "nord" not in shown.available_themes


async def test_the_list_of_themes_has_names_in_the_language_of_the_screen(tmp_path: Path) -> None:
    use_language("zh_CN")
    assert theme_words("sepia") == "暖黄（浅色）" and theme_words("my own") == "my own"
    use_language("en")
    async with workspace(FakeProject("en"), tmp_path) as pilot:
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        assert "sepia (light)" in " ".join(rows_shown(pilot.app))
        await pilot.press("j", "enter")
        await until(pilot, lambda: pilot.app.theme == "paper")
