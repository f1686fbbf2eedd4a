"""The leader key: after `,`, one letter runs a command of the workspace; after a short wait, the letters are
displayed."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.actions import ACTIONS, shown_key
from flowcabal_tui.tui.widgets.cells import cell_width, padded
from flowcabal_tui.tui.widgets.roles import role_style

PAUSE: Final = 0.5
"""Seconds after which the letters are shown."""
PREFIX: Final = "leader."
_GAP: Final = 2


class LeaderScreen(ModalScreen[str | None]):
    """Returns the id of the action whose letter is pressed; None for Esc or a letter without one."""

    HIDES_NOTICES: ClassVar[bool] = True
    DEFAULT_CSS = """
    LeaderScreen { align: left bottom; background: transparent; }
    LeaderScreen > Static {
        display: none; height: auto; max-height: 100%; padding: 0 1; background: $surface;
        border-top: solid $role-focus; border-title-color: $role-focus;
    }
    LeaderScreen > Static.-tight { border-top: none; }
    LeaderScreen.-shown > Static { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                action.after, f"choose('{action.id}')", action.label, show=False, priority=True,
                id=PREFIX + action.id, tooltip=action.description,
            )
            for action in ACTIONS if action.after
        ),
        Binding("escape", "choose('')", mark("Leave"), show=False, priority=True, id="leader.leave"),
    ]  # fmt: skip

    def compose(self) -> ComposeResult:
        """Yields the letters, hidden at first."""
        yield Static(markup=False)

    def on_mount(self) -> None:
        """Hides the letters for a moment, for those who know them."""
        self.set_timer(PAUSE, self.action_show_keys)

    def action_show_keys(self) -> None:
        """Shows the letters and their commands at once, when the leader key is pressed again."""
        panel = self.query_one(Static)
        panel.border_title = _("After the leader key; Esc leaves")
        letters = self._letters(max(1, self.app.size.width - 2))
        panel.set_class(letters.plain.count("\n") + 2 > self.app.size.height, "-tight")
        panel.update(letters)
        self.add_class("-shown")

    def _letters(self, width: int) -> Content:
        """As many columns as fit, filled downwards, in the order of the table."""
        keys = {each.binding.id: shown_key(each.binding.key) for each in self.active_bindings.values()}
        entries = [(keys[PREFIX + each.id], _(each.label)) for each in ACTIONS if PREFIX + each.id in keys]
        space = max(cell_width(key) for key, _words in entries)
        cells = space + 1 + max(cell_width(words) for _key, words in entries) + _GAP
        height = -(-len(entries) // max(1, width // cells))
        looks = role_style("key"), role_style("text")
        lines = []
        for row in range(height):
            parts = [
                part
                for key, words in entries[row::height]
                for part in ((padded(key, space + 1), looks[0]), (padded(words, cells - space - 1), looks[1]))
            ]
            lines.append(Content.assemble(*parts))
        return Content("\n").join(lines)

    def action_choose(self, action: str) -> None:
        """Returns the action; None for ""."""
        self.dismiss(action or None)

    def on_key(self, event: Key) -> None:
        """Closes the list on any other key, which has no further effect."""
        event.stop()
        self.dismiss(None)
        self.app.notify(_("No command has the key {key} after the leader key.").format(key=shown_key(event.key)))
