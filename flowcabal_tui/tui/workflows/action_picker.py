"""The actions of a project, searched by words and by meaning, for use in a node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.domain.versions import ActionRow
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempted
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns

FindActions = Callable[[str], Awaitable[Sequence[ActionRow]]]
"""The actions that match a query, best first; all of them for ""."""


class ActionPicker(ModalScreen[str | None]):
    """Returns the id of an action, or None. A search makes one call of the embedder, so it starts only on Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", mark("Cancel"), priority=True, id="action-picker.cancel"),
        Binding("down", "move(1)", mark("Down"), show=False, priority=True, id="action-picker.down"),
        Binding("up", "move(-1)", mark("Up"), show=False, priority=True, id="action-picker.up"),
    ]

    def __init__(self, find: FindActions) -> None:
        super().__init__()
        self._find = find
        self._found_for = ""
        """The query that the list answers."""

    def compose(self) -> ComposeResult:
        """Yields an input for the query, the actions, and the details of the one under the cursor."""
        with Vertical(classes="dialog"):
            yield Static(_("Which action?"), markup=False, classes="dialog-title")
            yield Input(placeholder=_("what it does, in your words"), compact=True)
            yield PickList()
            yield Static(markup=False, classes="details")
            yield Static(_("Enter: search, then choose   Esc: cancel"), markup=False, classes="dialog-keys")

    def on_mount(self) -> None:
        """Shows all actions."""
        self.query_one(Input).focus()
        self._search("")

    @attempted(group="search", exclusive=True)
    async def _search(self, query: str) -> None:
        rows = await self._find(query)
        self._found_for = query
        ends = Column(rank=1, fill=True, least=12), Column(rank=2, role="secondary")
        columns = Columns(Column(), Column(rank=1), *ends)
        gate = Cell(_("asks first"), "waiting")
        options = []
        for each in rows:
            cells = (*map(clean_line, (each.id, each.name, each.description)), gate if each.gated else "")
            options.append(Option(columns.row(*cells), id=each.id))
        self.query_one(PickList).refill(options, rows[0].id if rows else None)
        none = _("Nothing was found.") if query else _("The project has no actions: flowcabal.toml names their files.")
        self.query_one(".details", Static).update("" if rows else none)

    @on(Input.Submitted)
    def search_or_take(self, event: Input.Submitted) -> None:
        """Searches for the typed words on Enter; a second Enter takes the row under the cursor."""
        event.stop()
        query = event.value.strip()
        if query != self._found_for:
            self._search(query)
        elif (picked := self.query_one(PickList).picked) is not None:
            self.dismiss(picked)

    @on(OptionList.OptionSelected)
    def take(self, event: OptionList.OptionSelected) -> None:
        """Takes the row on Enter or a click."""
        event.stop()
        self.dismiss(event.option_id)

    def action_move(self, rows: int) -> None:
        """Moves the cursor of the list while typing."""
        listed = self.query_one(PickList)
        (listed.action_cursor_down if rows > 0 else listed.action_cursor_up)()
