"""The card of a name beside the text: its names above, and rows that Enter opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import DescendantBlur, DescendantFocus
from textual.reactive import var
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_rows import HangingRow

WIDTH: Final = 30
BESIDE: Final = 72
"""Columns that a pane needs at least, so that the card is beside the text; in less it is below."""


@dataclass(frozen=True, slots=True)
class CardRow:
    """A row of the card: `target` is the place that Enter opens, `label` the kind of the words."""

    target: str
    label: str
    words: str


class NameCardPanel(Vertical):
    """Shows one card; visible only while it is open."""

    help = HelpData(
        mark("Card of a name"),
        mark("Who or what the name at the cursor is, as of the open chapter; it follows the cursor. Tab moves into "
             "it: Enter opens the place, the profile or the other name, Ctrl+k renames, Esc goes back to the text."),
    )  # fmt: skip
    DEFAULT_CSS = f"""
    NameCardPanel {{
        display: none; dock: right; width: {WIDTH}; height: 1fr; border-left: vkey $panel; padding: 0 0 0 1;
    }}
    NameCardPanel.-open {{ display: block; }}
    NameCardPanel.-below {{
        dock: bottom; width: 1fr; height: 9; border-left: none; border-top: solid $panel; padding: 0 1;
    }}
    NameCardPanel > .who {{ height: auto; max-height: 6; text-style: bold; }}
    NameCardPanel > PickList {{ height: 1fr; }}
    NameCardPanel > PickList > .option-list--option-highlighted {{ background: transparent; text-style: none; }}
    NameCardPanel > PickList:focus > .option-list--option-highlighted {{
        color: $block-cursor-foreground; background: $block-cursor-background;
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+k", "rename", mark("Rename"), id="card.rename",
                tooltip=mark("Rename it everywhere: texts, titles, outline, records.")),
        Binding("escape", "leave", mark("Back to the text"), id="card.leave"),
    ]  # fmt: skip
    is_open = var(False, toggle_class="-open")

    class Opened(Request):
        """A row was chosen; `target` is its target."""

        target: str

    class RenameRequested(Request):
        """The writer asks to rename the entity on the card everywhere."""

    class Left(Request):
        """The focus returns to the text."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[CardRow, ...] = ()

    def compose(self) -> ComposeResult:
        """Yields the name, and the rows."""
        yield Static(_("No name is at the cursor."), markup=False, classes="who")
        yield PickList()

    def show(self, who: str, rows: Sequence[CardRow]) -> None:
        """Shows another card, from its first row."""
        self._rows = tuple(rows)
        self.query_one(".who", Static).update(who)
        options = [Option(_row(row), id=str(number)) for number, row in enumerate(self._rows)]
        self.query_one(PickList).set_options(options)
        self._mark_row()

    def fit(self, width: int) -> None:
        """Places the card beside a text in a pane of this width, or below it."""
        self.set_class(width < BESIDE, "-below")

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _mark_row(self) -> None:
        """Marks the selected row while the panel has the focus."""
        rows = self.query_one(PickList)
        if not rows.has_focus:
            rows.highlighted = None
        elif rows.highlighted is None:
            rows.action_first()

    @on(OptionList.OptionSelected)
    def _open(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.post_message(self.Opened(self._rows[message.option_index].target))

    def action_rename(self) -> None:
        """Asks for another name."""
        self.post_message(self.RenameRequested())

    def action_leave(self) -> None:
        """Goes back to the text."""
        self.post_message(self.Left())


def _row(row: CardRow) -> HangingRow:
    return HangingRow("", row.words, label=row.label)
