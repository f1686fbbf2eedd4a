"""All keys of the program in a list; a key is changed by pressing another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, mark
from flowcabal_tui.settings.user_file import change_user
from flowcabal_tui.tui.app.keymap import clashes
from flowcabal_tui.tui.app.keys_page import all_keys
from flowcabal_tui.tui.shared.actions import KeyRow, shown_key
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

LEAVES: Final = "escape"
"""The one key that no action can be given: it leaves the question for a key."""


class KeysScreen(ModalScreen[None]):
    """`own` are the user's own keys by action id; `use` applies new ones."""

    help = HelpData(
        mark("Keys"),
        mark("Press Enter, then the new key twice. `+` adds another key, `D` restores the default keys. `/` "
             "finds an action by its words. If another action in the same place uses the key, it is named before "
             "you confirm."),
    )  # fmt: skip
    DEFAULT_CSS = """
    KeysScreen { background: $background; }
    KeysScreen > Static { height: 1; padding: 0 1; text-style: bold; }
    KeysScreen > PickList { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="keys.back"),
        Binding("plus", "further", mark("Another key"), id="keys.add",
                tooltip=mark("Add another key for the action under the cursor.")),
        Binding("D", "default", mark("Reset"), id="keys.remove",
                tooltip=mark("Restore the default keys of the action under the cursor.")),
        Binding("slash", "find", mark("Find"), id="keys.find", tooltip=mark("Find an action by its words or its key.")),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, own: Mapping[str, str], use: Callable[[Mapping[str, str]], None]) -> None:
        super().__init__()
        self._own, self._use = dict(own), use
        self._key_rows: dict[str, KeyRow] = {}
        self._sought = ""

    def compose(self) -> ComposeResult:
        """Yields the heading and the keys, place by place."""
        yield Static(_("Keys: Enter, then press the new key"), markup=False)
        yield PickList()
        yield HintLine()

    def on_mount(self) -> None:
        """Lists every action that has an id."""
        self._key_rows = {row.id: row for row in all_keys()}
        self.query_one(PickList).focus()
        self._fill()

    def _fill(self) -> None:
        columns = Columns(Column(least=8, most=22, role="key"), Column(rank=1, least=20, fill=True),
                          Column(rank=2, least=8, role="secondary"))  # fmt: skip
        rows: list[Option] = []
        place = ""
        for row in self._key_rows.values():
            if row.place != place:
                place = row.place
                rows.append(Option(Content.styled(_(place), "bold"), disabled=True))
            is_own = row.id in self._own
            keys = " ".join(map(shown_key, keys_of(row, self._own)))
            words = Cell(_(row.words), is_bold=is_own)
            rows.append(Option(columns.row(keys, words, _("yours") if is_own else "", indent=2), id=row.id))
        self.query_one(PickList).refill(rows)

    @on(OptionList.OptionSelected)
    def press(self, event: OptionList.OptionSelected) -> None:
        """Replaces the keys of the row on Enter."""
        event.stop()
        attempt(self, self._ask(further=False), group="key", exclusive=True)

    def action_further(self) -> None:
        """Adds a key."""
        attempt(self, self._ask(further=True), group="key", exclusive=True)

    async def _ask(self, *, further: bool) -> None:
        row = self._picked()
        if row is None:
            return

        def clash_of(key: str) -> str:
            found = clashes({**self._own, row.id: key}, tuple(self._key_rows.values()))
            others = dict.fromkeys(each for clash in found if clash.key == key for each in clash.ids if each != row.id)
            return _(", ").join(_(self._key_rows[each].words) for each in others)

        key = await self.app.push_screen_wait(PressKeyScreen(_(row.words), clash_of))
        if key is not None:
            keys = [*keys_of(row, self._own), key] if further else [key]
            await self._keep({**self._own, row.id: ",".join(dict.fromkeys(keys))})

    def action_default(self) -> None:
        """Restores the default keys of the action."""
        if (row := self._picked()) is not None and row.id in self._own:
            kept = {name: keys for name, keys in self._own.items() if name != row.id}
            attempt(self, self._keep(kept), group="key", exclusive=True)

    async def _keep(self, own: dict[str, str]) -> None:
        try:
            await asyncio.to_thread(change_user, lambda user: replace(user, keys=own))
        except OSError as error:
            raise SettingsError(
                _("The settings could not be saved."), os_reason(error), _("Nothing was changed.")
            ) from error
        self._own = own
        self._use(own)
        self._fill()

    def _picked(self) -> KeyRow | None:
        return self._key_rows.get(self.query_one(PickList).picked or "")

    @attempted(group="key", exclusive=True)
    async def action_find(self) -> None:
        """Asks for words and puts the cursor on the next row with them."""
        typed = await self.app.push_screen_wait(PromptLine(_("Find"), value=self._sought))
        if typed:
            self._sought = typed
            if not self.query_one(PickList).find_row(typed):
                self.notify(_("Not found: {words}").format(words=typed), markup=False)


class PressKeyScreen(ModalScreen[str | None]):
    """Returns the key that was pressed twice, or None after Esc."""

    DEFAULT_CSS = "PressKeyScreen { align: center middle; }"

    def __init__(self, action: str, clash_of: Callable[[str], str]) -> None:
        """`clash_of` returns the names of actions with the same key in the same place, or ""."""
        super().__init__()
        self._action_words, self._clash_of = action, clash_of
        self._pressed = ""

    def compose(self) -> ComposeResult:
        """Yields the action, the pressed key, and instructions."""
        with Vertical(classes="dialog"):
            yield Static(self._action_words, markup=False, classes="dialog-title")
            yield Static(_("Press the new key."), markup=False, id="pressed")
            yield Static(_("Esc: leave the keys as they are"), markup=False, classes="dialog-keys")

    def on_key(self, event: Key) -> None:
        """Shows a key when it is first pressed, and accepts it the second time."""
        event.stop()
        event.prevent_default()
        if event.key == LEAVES:
            self.dismiss(None)
        elif event.key == self._pressed:
            self.dismiss(event.key)
        else:
            self._pressed = event.key
            others = self._clash_of(event.key)
            words = _("{key}: press it again to confirm.").format(key=shown_key(event.key))
            if others:
                words += "\n" + _("! Already used in the same place: {words}").format(words=others)
            self.query_one("#pressed", Static).update(words)


def keys_of(row: KeyRow, own: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of an action: the user's own, else the defaults."""
    return tuple(own[row.id].replace(" ", "").split(",")) if row.id in own else row.keys
