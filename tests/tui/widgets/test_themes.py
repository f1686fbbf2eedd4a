from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import Static

import flowcabal_tui
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.tui.app.themes import load_themes, read_theme, themes_folder


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


@pytest.mark.parametrize("name", ["ink", "paper", "ansi-dark", "ansi-light"])
async def test_our_themes_and_the_terminals_own_colours_can_be_chosen(name: str) -> None:
    app = Gallery()
    async with app.run_test() as pilot:
        app.theme = name
        await pilot.pause()
        assert app.current_theme.name == name


@pytest.mark.parametrize("theme", load_themes(), ids=lambda theme: theme.name)
def test_words_can_be_read_on_every_ground(theme: object) -> None:
    for ground in ("background", "surface", "panel"):
        for words in ("foreground", "primary", "accent", "warning", "error", "success"):
            one, other = Color.parse(getattr(theme, ground)), Color.parse(getattr(theme, words))
            least = 7 if words == "foreground" else 4
            assert contrast(one, other) >= least, (ground, words, contrast(one, other))


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: Color) -> float:
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("primary = #12\ndark = true", "line 1"),
        ('primary = "#777"\nsucces = "red"', "Did you mean `success`"),
        ('primary = "no such colour"', "`primary`"),
        ("primary = 3", "`primary`"),
        ('dark = "yes"\nprimary = "red"', "`dark`"),
        ('primary = "red"\ntext_alpha = true', "`text_alpha`"),
        ('primary = "red"\n[variables]\nborder = 3', "`variables`"),
        ("dark = true", "`primary` is missing"),
    ],
)
def test_a_bad_file_is_told_with_its_name_and_passed_over(tmp_path: Path, words: str, told: str) -> None:
    path = write(tmp_path, "mine.toml", words)
    write(tmp_path, "other.toml", 'primary = "red"')
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
    write(tmp_path, "ink.toml", 'primary = "#ff0000"')
    assert {theme.name: theme for theme in load_themes(tmp_path)}["ink"].primary == "#ff0000"


def test_themes_are_found_in_the_installed_package_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (themes_folder() / "ink.toml").is_file()
    package = tmp_path / "flowcabal_tui"
    (package / "themes").mkdir(parents=True)
    monkeypatch.setattr(flowcabal_tui, "__file__", str(package / "__init__.py"))
    assert themes_folder() == package / "themes"
    (package / "themes").rmdir()
    assert themes_folder() == tmp_path / "themes"


async def test_without_colour_everything_is_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Gallery()
    app.CSS = ".error { color: $error; }"
    async with app.run_test() as pilot:
        app.theme = "ink"
        await pilot.pause()
        colours = [
            piece.style.color.triplet
            for line in app.screen._compositor.render_strips()
            for piece in line
            if piece.style and piece.style.color and piece.style.color.triplet
        ]
        assert colours
        assert all(red == green == blue for red, green, blue in colours)
