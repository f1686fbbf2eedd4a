"""Colour themes from TOML files: those of the program, and the user's own.

A file sets colours for roles (`widgets.roles`) and for backgrounds; Textual's names are derived from them.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from textual.color import Color, ColorParseError
from textual.theme import Theme

import flowcabal_tui
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark
from flowcabal_tui.settings.file_text import read_toml
from flowcabal_tui.tui.widgets.roles import ROLES

OURS: Final = ("ink", "paper", "sepia", "high-contrast", "ansi-dark", "ansi-light")
"""The themes that come with the program, in the order in which they are offered."""
THEME_WORDS: Final[Mapping[str, str]] = {
    "ink": mark("ink (dark)"),
    "paper": mark("paper (light)"),
    "sepia": mark("sepia (light)"),
    "high-contrast": mark("high contrast (dark)"),
    "ansi-dark": mark("colours of the terminal (dark)"),
    "ansi-light": mark("colours of the terminal (light)"),
}
DEFAULT_THEME: Final = "ink"
LIGHT_THEME: Final = "paper"
TERMINAL_THEME: Final = "ansi-dark"
GROUNDS: Final = ("background", "surface", "panel", "cursor")
"""Grounds that words lie on; lines between panels have the colour `edge`."""
TEXT_CONTRAST: Final = 4.5
SECONDARY_CONTRAST: Final = 3.0
_ANSI: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI_NAMES: Final = ("default", *_ANSI, *(f"bright_{name}" for name in _ANSI))
_KINDS: Final[dict[str, type]] = {"name": str, "dark": bool, "colours": str, "grounds": dict, "roles": dict}


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme; a terminal theme (`is_terminal`) has names of ANSI colours and no backgrounds."""

    name: str
    dark: bool
    is_terminal: bool
    roles: Mapping[str, str]
    grounds: Mapping[str, str]


def theme_words(name: str) -> str:
    """The name of a theme for the user; a theme of the user's own is named after its file."""
    return _(THEME_WORDS[name]) if name in THEME_WORDS else name


def themes_folder() -> Path:
    """The folder of the program's themes: inside the installed package, or at the top level of a source checkout."""
    package = Path(flowcabal_tui.__file__).parent
    installed = package / "themes"
    return installed if installed.is_dir() else package.parent / "themes"


def load_themes(
    user_folder: Path | None = None, on_error: Callable[[SettingsError], None] | None = None
) -> tuple[Theme, ...]:
    """The program's themes and those in `user_folder`, by name; a user's theme replaces ours of the same name.

    A file that cannot be used is passed to `on_error` and skipped.
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


def load_theme(name: str, user_folder: Path | None = None) -> Theme:
    """The theme in the file of that name, the user's first; the default theme if neither can be used."""
    for folder in (user_folder, themes_folder()):
        path = folder / f"{name}.toml" if folder and name.replace("-", "").isalnum() else None
        try:
            if path is not None and path.is_file():
                return read_theme(path)
        except SettingsError:  # shown when all themes are read
            continue
    return read_theme(themes_folder() / f"{DEFAULT_THEME}.toml")


def read_theme(path: Path) -> Theme:
    """The theme in one file, for Textual. Raises SettingsError with the file and the line, role or pair."""
    return textual_theme(read_palette(path))


def read_palette(path: Path) -> Palette:
    """The colours in one file; its name is the file's unless it gives one. Raises SettingsError.

    Roles and backgrounds that it does not set come from `ink`, or from `paper` for a light theme.
    """
    try:
        entries = read_toml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(path, str(error)) from error
    for key, value in entries.items():
        _check_known(path, key, _KINDS)
        if not isinstance(value, _KINDS[key]):
            raise _refused(path, _("`{key}` has a value of the wrong kind.").format(key=key))
    kind, dark = entries.get("colours", "own"), entries.get("dark", True)
    if kind not in ("own", "terminal"):
        raise _refused(path, _("`{key}` has a value of the wrong kind.").format(key="colours"))
    is_terminal = kind == "terminal"
    roles, grounds = entries.get("roles", {}), entries.get("grounds", {})
    _check_colours(path, roles, ROLES, is_terminal=is_terminal)
    _check_colours(path, grounds, () if is_terminal else (*GROUNDS, "edge"), is_terminal=is_terminal)
    base = themes_folder() / f"{DEFAULT_THEME if dark else LIGHT_THEME}.toml"
    if not is_terminal and path != base and not (len(roles) == len(ROLES) and len(grounds) > len(GROUNDS)):
        rest = read_palette(base)
        roles, grounds = {**rest.roles, **roles}, {**rest.grounds, **grounds}
    palette = Palette(str(entries.get("name", path.stem)), dark, is_terminal, roles, grounds)
    for role, ground, found, least in pairs(palette):
        if found < least:
            words = _("`{role}` on `{ground}` has a contrast of {found}; at least {least} is needed.")
            raise _refused(path, words.format(role=role, ground=ground, found=f"{found:.2f}", least=least))
    return palette


def pairs(palette: Palette) -> Iterator[tuple[str, str, float, float]]:
    """Every role on every background: (role, background, contrast, required contrast); none if the terminal defines the
    colours."""
    for role, colour in palette.roles.items() if not palette.is_terminal else ():
        least = SECONDARY_CONTRAST if role == "secondary" else TEXT_CONTRAST
        for ground in GROUNDS:
            yield role, ground, contrast(Color.parse(colour), Color.parse(palette.grounds[ground])), least


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG 2 (1 to 21)."""

    def luminance(colour: Color) -> float:
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def textual_theme(palette: Palette) -> Theme:
    """The theme for Textual, with a variable `role-...` for each role."""
    found: dict[str, str] = {role: palette.roles.get(role, "default") for role in ROLES}
    roles = {role: f"ansi_{name}" for role, name in found.items()} if palette.is_terminal else found
    plain = dict.fromkeys((*GROUNDS, "edge"), "ansi_default")
    grounds = plain if palette.is_terminal else palette.grounds
    return Theme(
        palette.name,
        primary=roles["focus"],
        secondary=roles["secondary"],
        accent=roles["key"],
        warning=roles["waiting"],
        error=roles["failed"],
        success=roles["done"],
        foreground=roles["text"],
        background=grounds["background"],
        surface=grounds["surface"],
        panel=grounds["panel"],
        boost=grounds["surface"],
        dark=palette.dark,
        ansi=palette.is_terminal,
        variables=_variables(roles, grounds, "reverse" if palette.is_terminal else "none"),
    )


def _variables(roles: Mapping[str, str], grounds: Mapping[str, str], marked: str) -> dict[str, str]:
    """Textual's variables beside the main colours; `marked` is the text style of what is selected."""
    text, focus, edge, cursor = roles["text"], roles["focus"], grounds["edge"], grounds["cursor"]
    same = {
        **{f"role-{role}": colour for role, colour in roles.items()},
        **{f"text-{name}": roles[role] for name, role in _TEXTS.items()},
        **dict.fromkeys(("border", "scrollbar-active", "scrollbar-hover", "link-color", "link-color-hover"), focus),
        **dict.fromkeys(("border-blurred", "scrollbar", "edge"), edge),
        **{f"scrollbar-{part}": grounds["background"] for part in _SCROLLBAR},
        "surface": grounds["surface"], "panel": grounds["panel"], "boost": grounds["surface"],
        "ansi-background": grounds["background"], "ansi-foreground": text,
        "text": text, "marked": marked, "cursor": cursor,
    }  # fmt: skip
    for name, blurred in (("block-cursor", False), ("block-cursor-blurred", True)):
        same[f"{name}-foreground"] = text
        same[f"{name}-background"] = grounds["panel"] if blurred else cursor
        same[f"{name}-text-style"] = "none" if blurred else f"bold {marked}" if marked != "none" else "bold"
    same["block-hover-background"] = grounds["surface"]
    same |= {"input-cursor-foreground": grounds["background"], "input-cursor-background": text}
    same |= {"input-cursor-text-style": marked, "input-selection-background": cursor}
    same |= {"input-selection-foreground": text, "screen-selection-background": cursor}
    same |= {"footer-key-foreground": roles["key"], "footer-background": grounds["background"]}
    return same


_TEXTS: Final = {
    "muted": "secondary", "disabled": "secondary", "primary": "focus", "secondary": "secondary", "accent": "key",
    "warning": "waiting", "error": "failed", "success": "done",
}  # fmt: skip
_SCROLLBAR: Final = ("background", "background-hover", "background-active", "corner-color")


def _check_known(path: Path, key: str, known: Any) -> None:
    if key in known:
        return
    near = difflib.get_close_matches(key, known, n=1)
    hint = " " + _("Did you mean `{key}`?").format(key=near[0]) if near else ""
    raise _refused(path, _("`{key}` is unknown.").format(key=key) + hint)


def _check_colours(path: Path, entries: Mapping[str, Any], known: Any, *, is_terminal: bool) -> None:
    for key, value in entries.items():
        _check_known(path, key, known)
        try:
            if is_terminal and value not in ANSI_NAMES:
                raise ColorParseError("no name of the terminal")
            colour = Color.parse(f"ansi_{value}" if is_terminal else value if isinstance(value, str) else "")
            if not is_terminal and (colour.ansi is not None or colour.a < 1):
                raise ColorParseError("its contrast cannot be known")
        except ColorParseError as error:
            words = _("`{key}` is not a colour: {value}").format(key=key, value=repr(value))
            raise _refused(path, words) from error


def _refused(path: Path, detail: str) -> SettingsError:
    return SettingsError(
        _("The theme {file} cannot be used.").format(file=path.name),
        detail,
        _("The other themes still work. Correct the file: {path}").format(path=path),
    )
