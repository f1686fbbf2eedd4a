"""A page of names or records with a filter line: the list follows the words, and the entry at the cursor is shown."""

from __future__ import annotations

from textual import on
from textual.widgets import Input, OptionList

from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.story.story_page import StoryPage


class FilteredPage(StoryPage):
    """A page with one Input and a PickList with the id `list`."""

    def on_mount(self) -> None:
        """Focuses the list."""
        self.listing.focus()

    @property
    def listing(self) -> PickList:
        """The list of matching rows."""
        return self.query_one("#list", PickList)

    def refill(self) -> None:
        """Shows the rows that match the words."""
        raise NotImplementedError

    def show_details(self) -> None:
        """Shows the entry under the cursor."""
        raise NotImplementedError

    @on(OptionList.OptionHighlighted, "#list")
    def follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        """Shows another entry."""
        message.stop()
        self.show_details()

    @on(Input.Changed)
    def narrow(self, message: Input.Changed) -> None:
        """Updates the list while the user types."""
        message.stop()
        self.refill()

    @on(Input.Submitted)
    def go_to_list(self, message: Input.Submitted) -> None:
        """Enter moves to the list."""
        message.stop()
        self.listing.focus()

    def action_filter(self) -> None:
        """Focuses the filter line."""
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Leaves the filter line, clears the filter, or closes the page, in this order."""
        line = self.query_one(Input)
        if line.value:
            line.value = ""
        elif not line.has_focus:
            self.dismiss(None)
        self.listing.focus()
