"""Colour themes from TOML files: ours, which come with the program, and the user's own."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from textual.color import Color, ColorParseError
from textual.theme import Theme

import flowcabal_tui
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _

TERMINAL_THEMES: Final = ("ansi-dark", "ansi-light")
DEFAULT_THEME: Final = "ink"
_OTHER_KEYS: Final[dict[str, type | tuple[type, ...]]] = {
    "name": str,
    "dark": bool,
    "ansi": bool,
    "luminosity_spread": (int, float),
    "text_alpha": (int, float),
    "variables": dict,
}
_COLOUR_KEYS: Final = tuple(field.name for field in fields(Theme) if field.name not in _OTHER_KEYS)


def themes_folder() -> Path:
    """Where our themes lie: inside the installed package, or at the top level of a source checkout."""
    package = Path(flowcabal_tui.__file__).parent
    installed = package / "themes"
    return installed if installed.is_dir() else package.parent / "themes"


def load_themes(
    user_folder: Path | None = None, on_error: Callable[[SettingsError], None] | None = None
) -> tuple[Theme, ...]:
    """Our themes and those in `user_folder`, by name; the user's replaces ours of the same name.

    A file that cannot be used is told to `on_error` and passed over.
    """
    themes: dict[str, Theme] = {}
    for folder in (themes_folder(), user_folder):
        for path in sorted(folder.glob("*.toml")) if folder else ():
            try:
                theme = read_theme(path)
            except SettingsError as error:
                if on_error:
                    on_error(error)
            else:
                themes[theme.name] = theme
    return tuple(themes[name] for name in sorted(themes))


def read_theme(path: Path) -> Theme:
    """The theme in one file; its name is the file's unless it gives one.

    Raises SettingsError with the file and the line or key.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(path, str(error)) from error
    for key, value in entries.items():
        _check_entry(path, key, value)
    if "primary" not in entries:
        raise _refused(path, _("`primary` is missing."))
    return Theme(**{"name": path.stem, **entries})


def _check_entry(path: Path, key: str, value: Any) -> None:
    if key in _COLOUR_KEYS:
        _check_colour(path, key, value)
        return
    expected = _OTHER_KEYS.get(key)
    if expected is None:
        near = difflib.get_close_matches(key, (*_COLOUR_KEYS, *_OTHER_KEYS), n=1)
        hint = " " + _("Did you mean `{key}`?").format(key=near[0]) if near else ""
        raise _refused(path, _("`{key}` is unknown.").format(key=key) + hint)
    parts = list(value.values()) if isinstance(value, dict) else []
    is_number_like_bool = isinstance(value, bool) and expected is not bool
    if not isinstance(value, expected) or is_number_like_bool or not all(isinstance(part, str) for part in parts):
        raise _refused(path, _("`{key}` has a value of the wrong kind.").format(key=key))


def _check_colour(path: Path, key: str, value: Any) -> None:
    try:
        Color.parse(value if isinstance(value, str) else "")
    except ColorParseError as error:
        words = _("`{key}` is not a colour: {value}").format(key=key, value=repr(value))
        raise _refused(path, words) from error


def _refused(path: Path, detail: str) -> SettingsError:
    return SettingsError(
        _("The theme {file} cannot be used.").format(file=path.name),
        detail,
        _("The other themes are still there. Correct the file: {path}").format(path=path),
    )
