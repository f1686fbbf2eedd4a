"""Settings of the screen while it runs: the settings page, own keys, a `config.toml` changed outside."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.app import App

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _, language_in_use, use_keys
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.screen import ScreenSettings, load_screen
from flowcabal_tui.tui.app.keymap import current_ids, key_problems, usable_keymap
from flowcabal_tui.tui.shared.actions import shown_key

if TYPE_CHECKING:
    from flowcabal_tui.tui.app.departure import Departure
    from flowcabal_tui.tui.app.theme_choice import ThemeChoice

LOOK_SECONDS: Final = 2.0
"""Interval of checking the user's file."""
_FILE: Final = Path(__file__).with_name("named_keys.toml")


class Preferences:
    """Follows the user's file. `own_keys` are the keys set by the user, by action id."""

    def __init__(
        self,
        app: App[int],
        departure: Departure,
        looks: ThemeChoice,
        settings: ScreenSettings,
        use_language: Callable[[str], None],
    ) -> None:
        self._app, self._departure, self._looks = app, departure, looks
        self._settings, self._use_language = settings, use_language
        self.own_keys: dict[str, str] = current_ids(settings.keys)
        self._seen = _stamp()

    def use_keys(self, keys: Mapping[str, str]) -> None:
        """Applies these keys from now on."""
        self.own_keys.clear()
        self.own_keys.update(current_ids(keys))
        self.set_keymap()

    def set_keymap(self) -> None:
        """Sets the keys of the app, and their names in messages."""
        keymap = usable_keymap(self.own_keys)
        self._app.set_keymap(keymap)
        use_keys(named_keys(keymap))

    def watch(self) -> None:
        """Starts watching the file."""
        if self.own_keys:
            self.check_keys()
        self._app.set_interval(LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Reads the file again if it was written since; an invalid one changes nothing and is reported."""
        stamp = _stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        found = load_screen()
        if found is None:
            self._say_broken()
            return
        before, self._settings = self._settings, found
        if current_ids(found.keys) != self.own_keys:
            self.use_keys(found.keys)
            self.check_keys()
        if found.theme != before.theme and found.theme != self._app.theme:
            self._looks.use(found.theme)
        if found.language not in ("", before.language) and found.language[:2] != language_in_use()[:2]:
            self._app.notify(_("The language of config.toml takes effect when the program is restarted."), markup=False)
        if found.editor != before.editor:
            self._app.notify(_("The external editor takes effect when the book is opened again."), markup=False)

    def _say_broken(self) -> None:
        from flowcabal_tui.settings.user_file import load_user  # names the line

        try:
            load_user()
        except SettingsError as error:
            words = f"{error.detail}\n{_('The last valid settings are in use.')}"
            self._app.notify(words, title=error.title, severity="warning", markup=False)

    def check_keys(self) -> None:
        """Reports errors in the user's own keys; refuses nothing."""
        for words in key_problems(self.own_keys):
            self._app.notify(words, severity="warning", markup=False)

    def show(self) -> None:
        """Opens the settings page on top of the current screen."""
        from flowcabal_tui.tui.app.settings.page import Effects, SettingsScreen  # not needed for the first frame

        if any(isinstance(screen, SettingsScreen) for screen in self._app.screen_stack):
            return
        effects = Effects(self._looks.load(), self._looks.use, self._use_language, self.show_keys)
        self._app.push_screen(SettingsScreen(self._departure.project, effects))

    async def show_keys(self) -> None:
        """Shows every key; pressing another one changes it."""
        from flowcabal_tui.tui.app.settings.keys import KeysScreen

        await self._app.push_screen_wait(KeysScreen(self.own_keys, self.use_keys))


def _stamp() -> tuple[int, int, int] | None:
    try:
        status = paths.user_file().stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


@cache
def named_actions() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The actions of the keys that a message names, by the message in English and the usual key."""
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {words: {key: tuple(ids.split(",")) for key, ids in keys.items()} for words, keys in read.items()}


def named_keys(own: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The messages that name a key which the user has changed, with the bound key for each usual one."""
    found: dict[str, dict[str, str]] = {}
    for words, keys in named_actions().items() if own else ():
        changed = {usual: _bound(usual, ids, own) for usual, ids in keys.items()}
        if any(usual != bound for usual, bound in changed.items()):
            found[words] = changed
    return found


def _bound(usual: str, ids: tuple[str, ...], own: Mapping[str, str]) -> str:
    keys = [shown_key(own[name].split(",")[0]) if own.get(name) else usual for name in ids]
    return "/".join(dict.fromkeys(keys))
