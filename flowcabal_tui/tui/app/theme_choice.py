"""The theme in use: only that one is read before the first frame, then all; the user's files are watched. Pictures of
the screen."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Final

from textual.app import App
from textual.theme import BUILTIN_THEMES

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.system.files import write_whole
from flowcabal_tui.tui.app.kept_styles import KeptStyles
from flowcabal_tui.tui.app.themes import DEFAULT_THEME, OURS, TERMINAL_THEME, load_theme, load_themes, theme_words
from flowcabal_tui.tui.widgets.roles import ROLES

LOOK_SECONDS: Final = 2.0
"""Interval of checking the user's folder."""


def role_defaults() -> dict[str, str]:
    """Variables of the style sheets for a theme without roles."""
    return {**{f"role-{role}": "ansi_default" for role in ROLES}, "edge": "ansi_default", "marked": "none"}


class ThemeChoice:
    """Registers the themes of the program and of the user's `folder`, and applies one.

    With `NO_COLOR`, it is always the theme of the terminal, whose signs need no colour.
    """

    def __init__(self, app: App[Any], folder: Path) -> None:
        self._app, self._folder = app, folder
        self._seen: dict[Path, int] = {}

    def first(self, name: str) -> None:
        """Applies one theme before anything is styled; Textual's own themes have no roles and are not offered."""
        self._app.stylesheet = KeptStyles(variables=self._app.get_css_variables())
        theme = load_theme(TERMINAL_THEME if self._app.no_color else name, self._folder)
        for other in BUILTIN_THEMES:
            self._app.unregister_theme(other)
        self._app.register_theme(theme)
        if theme.ansi:
            self._app.theme = theme.name
        else:
            self._app.set_reactive(App.theme, theme.name)
            self._app.stylesheet.set_variables(self._app.get_css_variables())

    def load(self) -> tuple[str, ...]:
        """Registers all themes, shows why a file cannot be used, and returns the names."""
        self._seen = self._changes()
        for theme in load_themes(self._folder, self._warn):
            if theme != self._app.get_theme(theme.name):
                self._app.register_theme(theme)
        ours = [name for name in OURS if name in self._app.available_themes]
        return (*ours, *sorted(set(self._app.available_themes) - set(OURS)))

    def watch(self) -> None:
        """Loads all themes, and then watches the user's folder."""
        self.load()
        self._app.set_interval(LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Reads the user's files again when one has changed; a valid theme stays in use until its new file is valid."""
        if self._changes() != self._seen:
            self.load()
            self._app.refresh_css(animate=False)

    def use(self, name: str) -> None:
        """Applies the theme of that name, or the default."""
        if not self._app.no_color:
            self._app.theme = name if name in self._app.available_themes else DEFAULT_THEME

    def choose(self) -> None:
        """Lists the themes, and applies the chosen one."""
        from flowcabal_tui.tui.shared.choose import ChooseScreen  # not needed for the first frame

        themes = tuple((name, theme_words(name)) for name in self.load())
        self._app.push_screen(ChooseScreen(_("Colours"), themes), lambda name: self.use(name) if name else None)

    def save_picture(self, folder: Path, at: datetime) -> None:
        """Writes the screen as a private SVG file into the folder, and says where it is."""
        path = folder / f"screen-{at:%Y%m%d-%H%M%S}.svg"
        try:
            write_whole(path, self._app.export_screenshot().encode())
        except OSError as error:
            words = _("The picture of the screen was not saved: {reason}.").format(reason=os_reason(error))
            self._app.notify(words, severity="error", markup=False)
        else:
            self._app.notify(_("The picture of the screen is saved: {file}").format(file=path), markup=False)

    def _changes(self) -> dict[Path, int]:
        try:
            return {path: path.stat().st_mtime_ns for path in self._folder.glob("*.toml")}
        except OSError:  # one that is being replaced
            return {}

    def _warn(self, error: SettingsError) -> None:
        self._app.notify(error.detail, title=error.title, severity="warning", markup=False)
