"""The turns of a conversation as a list whose rows wrap; the cursor follows the answer while it is at the end."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets.option_list import Option

from flowcabal_tui.tui.conversation.rows import TalkRow
from flowcabal_tui.tui.shared.lists import PickList


class TurnList(PickList):
    """Shows rows; it reads and decides nothing."""

    DEFAULT_CSS = """
    TurnList { text-wrap: wrap; scrollbar-size-vertical: 1; overflow-x: hidden; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._listed: dict[str, TalkRow] = {}

    @property
    def row(self) -> TalkRow | None:
        """The one under the cursor."""
        return self._listed.get(self.picked or "")

    @property
    def listed(self) -> tuple[TalkRow, ...]:
        """All rows."""
        return tuple(self._listed.values())

    def show_rows(self, rows: Sequence[TalkRow], *, to_end: bool = False) -> None:
        """Other rows; the cursor stays at its row, or goes to the end where it was at the end."""
        at_end = to_end or self.highlighted is None or self.highlighted >= len(self._listed) - 1
        self._listed = {each.id: each for each in rows}
        self.refill([Option(each.drawn, id=each.id) for each in rows])
        if at_end:
            self.follow()

    def show_live(self, row: TalkRow) -> None:
        """The answer has grown."""
        if row.id in self._listed:
            at_end = self.highlighted is None or self.highlighted >= len(self._listed) - 1
            self._listed[row.id] = row
            self.replace_option_prompt(row.id, row.drawn)
            if at_end:
                self.follow()

    def follow(self) -> None:
        """To the last row, and to its end."""
        self.action_last()
        self.call_after_refresh(self.scroll_end, animate=False)
