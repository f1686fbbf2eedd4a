"""The command palette: every command of the program, found by its name or a synonym."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.app.command_search import ranked, searched
from flowcabal_tui.tui.app.commands import PaletteCommand, all_commands
from flowcabal_tui.tui.app.effects import EFFECT_WORDS, effect_of
from flowcabal_tui.tui.shared.lists import MovesList, PickList
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns

_LISTED: Final = 60
"""The most rows that are listed for what is typed."""


class PaletteScreen(ModalScreen[PaletteCommand | None], MovesList):
    """An input over the matching commands, those available here first; returns the chosen one."""

    DEFAULT_CSS = """
    PaletteScreen { align: center top; }
    PaletteScreen > Vertical {
        width: 90%; max-width: 100; height: 80%; margin-top: 1; border: round $role-focus; background: $surface;
        padding: 0 1;
    }
    PaletteScreen Input, PaletteScreen Input:focus { height: 1; border: none; padding: 0; background: $boost; }
    PaletteScreen PickList { height: 1fr; background: $surface; margin-top: 1; }
    PaletteScreen PickList > .option-list--option-highlighted {
        color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
    }
    PaletteScreen .command-words { height: 3; color: $role-secondary; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p", "dismiss(None)", mark("Back"), priority=True, id="palette.back"),
        Binding("enter", "choose", mark("Run"), priority=True, id="palette.choose"),
        Binding("down", "go('cursor_down')", mark("Down"), show=False, priority=True, id="palette.down"),
        Binding("up", "go('cursor_up')", mark("Up"), show=False, priority=True, id="palette.up"),
        Binding("pagedown", "go('page_down')", mark("Page down"), show=False, priority=True, id="palette.page-down"),
        Binding("pageup", "go('page_up')", mark("Page up"), show=False, priority=True, id="palette.page-up"),
    ]

    def __init__(self, here: Mapping[str, int], own_keys: Mapping[str, str]) -> None:
        """`here` are the ids of the available commands, the nearest first; `own_keys` the keys set by the user."""
        super().__init__()
        rows = sorted(all_commands(), key=lambda each: here.get(each.id, len(here)))
        self._here, self._own_keys = here, own_keys
        self._searched = [searched(each, is_near=each.id in here) for each in rows]
        self._shown: dict[str, PaletteCommand] = {}

    def compose(self) -> ComposeResult:
        """Yields the input, the list, and the explanation of the row under the cursor."""
        with Vertical():
            yield Input(placeholder=_("a command, in your own words"))
            yield PickList()
            yield Static(markup=False, classes="command-words")

    def on_mount(self) -> None:
        """Focuses the input."""
        self.query_one(Input).focus()
        self._fill("")

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Shows the matching commands."""
        event.stop()
        self._fill(event.value)

    def _fill(self, typed: str) -> None:
        columns = Columns(
            Column(least=12, fill=True), Column(rank=1, least=6, role="secondary"), Column(least=3, role="key")
        )
        found = ranked(typed, self._searched)[: None if not typed.strip() else _LISTED]
        self._shown = {each.id: each for each in found}
        rows = self.query_one(PickList)
        rows.set_options(Option(columns.row(*self._cells(each)), id=each.id) for each in found)
        rows.action_first()
        if not found:
            self.query_one(".command-words", Static).update(_("No command matches. Type fewer letters."))

    def _cells(self, command: PaletteCommand) -> tuple[str | Cell, ...]:
        title = Cell(_(command.title), is_bold=command.id in self._here)
        return title, _(command.place), command.shown_key(self._own_keys)

    @on(OptionList.OptionHighlighted)
    def explain(self, event: OptionList.OptionHighlighted) -> None:
        """Shows the effect and the place of the row under the cursor."""
        event.stop()
        if (command := self._shown.get(event.option_id or "")) is None:  # further letters came before this message
            return
        words = _(command.words) or _(command.title)
        if (effect := effect_of(command.id)) != "shows":
            words += "\n" + _(EFFECT_WORDS[effect])
        self.query_one(".command-words", Static).update(words)

    @on(OptionList.OptionSelected)
    def choose_row(self, event: OptionList.OptionSelected) -> None:
        """Runs the clicked row."""
        event.stop()
        self.dismiss(self._shown.get(event.option_id or ""))

    def action_choose(self) -> None:
        """Returns the command under the cursor."""
        if (picked := self.query_one(PickList).picked) is not None:
            self.dismiss(self._shown[picked])
