"""The turns of a conversation as a list with wrapped rows; the cursor follows the answer while it is at the end."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets.option_list import Option

from flowcabal_tui.tui.conversation.rows import TalkRow
from flowcabal_tui.tui.shared.lists import PickList


class TurnList(PickList):
    """Shows rows; reads and decides nothing."""

    DEFAULT_CSS = """
    TurnList { text-wrap: wrap; scrollbar-size-vertical: 1; overflow-x: hidden; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._listed: dict[str, TalkRow] = {}

    @property
    def row(self) -> TalkRow | None:
        """The row under the cursor."""
        return self._listed.get(self.picked or "")

    @property
    def listed(self) -> tuple[TalkRow, ...]:
        """All rows."""
        return tuple(self._listed.values())

    def show_rows(self, rows: Sequence[TalkRow], *, to_end: bool = False) -> None:
        """Shows other rows; the cursor stays at its row, or at the end if it was there."""
        at_end = to_end or self.highlighted is None or self.highlighted >= len(self._listed) - 1
        self._listed = {each.id: each for each in rows}
        self.refill([Option(each.drawn, id=each.id) for each in rows])
        if at_end:
            self.follow()

    def show_live(self, row: TalkRow) -> None:
        """Updates the arriving answer."""
        if row.id in self._listed:
            at_end = self.highlighted is None or self.highlighted >= len(self._listed) - 1
            self._listed[row.id] = row
            self.replace_option_prompt(row.id, row.drawn)
            if at_end:
                self.follow()

    def follow(self) -> None:
        """Moves to the end of the last row."""
        self.action_last()
        self.call_after_refresh(self.scroll_end, animate=False)
