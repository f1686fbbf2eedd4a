from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.widgets import Static

import flowcabal_tui
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.tui.app.themes import (
    ANSI_NAMES,
    GROUNDS,
    load_theme,
    load_themes,
    pairs,
    read_palette,
    read_theme,
    themes_folder,
)
from flowcabal_tui.tui.widgets.roles import ROLES


class Gallery(App[None]):
    """Every theme that is offered."""

    def compose(self) -> ComposeResult:
        yield Static("雨", classes="error")

    def on_mount(self) -> None:
        for theme in load_themes():
            self.register_theme(theme)


def write(folder: Path, name: str, words: str) -> Path:
    path = folder / name
    path.write_text(words, encoding="utf-8")
    return path


OWN = ["high-contrast", "ink", "paper", "sepia"]
TERMINAL = ["ansi-dark", "ansi-light"]


def test_six_themes_come_with_the_program() -> None:
    assert [theme.name for theme in load_themes()] == sorted([*OWN, *TERMINAL])


@pytest.mark.parametrize("name", [*OWN, *TERMINAL])
async def test_every_theme_can_be_chosen(name: str) -> None:
    app = Gallery()
    async with app.run_test() as pilot:
        app.theme = name
        await pilot.pause()
        assert app.current_theme.name == name


@pytest.mark.parametrize("name", [*OWN, *TERMINAL])
def test_every_theme_sets_every_role(name: str) -> None:
    assert set(read_palette(themes_folder() / f"{name}.toml").roles) == set(ROLES)


@pytest.mark.parametrize("name", OWN)
def test_every_role_can_be_read_on_every_ground(name: str) -> None:
    found = list(pairs(read_palette(themes_folder() / f"{name}.toml")))
    assert len(found) == len(ROLES) * len(GROUNDS)
    for role, ground, ratio, _least in found:
        assert ratio >= (3 if role == "secondary" else 4.5), (role, ground, ratio)


@pytest.mark.parametrize("name", TERMINAL)
def test_the_terminals_themes_name_its_sixteen_colours_and_no_ground(name: str) -> None:
    palette = read_palette(themes_folder() / f"{name}.toml")
    assert not palette.grounds
    assert set(palette.roles.values()) <= set(ANSI_NAMES)
    theme = read_theme(themes_folder() / f"{name}.toml")
    assert theme.ansi
    assert {theme.background, theme.surface, theme.panel, theme.boost} == {"ansi_default"}


def test_every_role_looks_different_without_colour() -> None:
    for role, look in ROLES.items():
        assert role == "text" or look.sign or look.weight, role
        assert cell_len(look.sign) == len(look.sign) <= 1, role
        assert len(look.plain) == len(look.sign) and look.plain.isascii(), role
    signs = [look.sign for look in ROLES.values() if look.sign]
    assert len(set(signs)) == len(signs)


def test_a_theme_of_the_user_may_set_only_what_differs(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.toml", 'dark = false\n[roles]\nfocus = "#000080"')
    mine, paper = read_palette(path), read_palette(themes_folder() / "paper.toml")
    assert mine.roles["focus"] == "#000080"
    assert mine.roles["done"] == paper.roles["done"]
    assert mine.grounds == paper.grounds


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("dark = #12", "line 1"),
        pytest.param("x=" + "[" * 5_000, "too deeply", id="deep"),
        ('[roles]\nsucces = "red"\ndonee = "red"', "`succes` is unknown"),
        ('[roles]\ndonee = "red"', "Did you mean `done`"),
        ('[grounds]\nback = "red"', "`back` is unknown"),
        ('[roles]\ndone = "no such colour"', "`done` is not a colour"),
        ("[roles]\ndone = 3", "`done` is not a colour"),
        ('[roles]\ndone = "#22aa2280"', "`done` is not a colour"),
        ('dark = "yes"', "`dark`"),
        ('primary = "red"', "`primary` is unknown"),
        ('colours = "mine"', "`colours`"),
        ('colours = "terminal"\n[roles]\ndone = "#00ff00"', "`done` is not a colour"),
        ('colours = "terminal"\n[grounds]\npanel = "black"', "`panel` is unknown"),
        ('[roles]\nwaiting = "#333333"', "`waiting` on `background` has a contrast of"),
        ('[grounds]\ncursor = "#d0d0d0"', "`text` on `cursor` has a contrast of"),
    ],
)
def test_a_bad_file_is_told_with_its_name_and_passed_over(tmp_path: Path, words: str, told: str) -> None:
    path = write(tmp_path, "mine.toml", words)
    write(tmp_path, "other.toml", '[roles]\nfocus = "#ffff00"')
    with pytest.raises(SettingsError) as caught:
        read_theme(path)
    assert told in caught.value.detail
    assert "mine.toml" in caught.value.title
    errors: list[SettingsError] = []
    names = [theme.name for theme in load_themes(tmp_path, errors.append)]
    assert "other" in names
    assert "mine" not in names
    assert len(errors) == 1


def test_the_users_theme_takes_the_place_of_ours(tmp_path: Path) -> None:
    write(tmp_path, "ink.toml", '[roles]\nfocus = "#ffff00"')
    assert {theme.name: theme for theme in load_themes(tmp_path)}["ink"].primary == "#ffff00"
    assert load_theme("ink", tmp_path).primary == "#ffff00"


def test_a_theme_that_cannot_be_used_gives_way_to_the_one_that_is_always_there(tmp_path: Path) -> None:
    write(tmp_path, "mine.toml", '[roles]\nfocus = "#000000"')
    assert load_theme("mine", tmp_path).name == load_theme("../../etc/passwd", tmp_path).name == "ink"


def test_themes_are_found_in_the_installed_package_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (themes_folder() / "ink.toml").is_file()
    package = tmp_path / "flowcabal_tui"
    (package / "themes").mkdir(parents=True)
    monkeypatch.setattr(flowcabal_tui, "__file__", str(package / "__init__.py"))
    assert themes_folder() == package / "themes"
    (package / "themes").rmdir()
    assert themes_folder() == tmp_path / "themes"
