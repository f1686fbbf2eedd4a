"""A page of proposals by state, whose rows are marked and decided together."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen
from flowcabal_tui.tui.story.proposal_list import PAGE, ProposalList
from flowcabal_tui.tui.story.story_page import FilteredPage


class StatesPage(FilteredPage):
    """A page with PaneTabs of states and a ProposalList; further rows are loaded as the cursor approaches the end."""

    def __init__(self, project: Project, chapter: ChapterId | None, states: str) -> None:
        """`chapter` is the open one; initially, rows of all chapters in `states` are listed."""
        super().__init__(project)
        self._open_chapter, self._states_shown, self._only_open = chapter, states, False
        self._cursor_wanted: str | None = None

    @property
    def rows(self) -> ProposalList:
        """The list."""
        return self.query_one(ProposalList)

    @property
    def wanted_rows(self) -> int:
        """The number of rows to read, so that the row under the cursor is among them."""
        row = self.rows.highlighted or 0
        return (row // PAGE + 1) * PAGE + PAGE if row else PAGE

    async def add_more(self, offset: int) -> None:
        """Reads and adds the rows from `offset` on."""
        raise NotImplementedError

    def refill(self) -> None:
        """Lists the rows that match the words, states and chapter."""
        self.work(self.reload(), exclusive=True)

    @on(ProposalList.MoreWanted)
    def read_more(self, message: ProposalList.MoreWanted) -> None:
        """Loads further rows after the cursor."""
        message.stop()
        self.work(self.rows.await_more(self.add_more(message.offset)))

    @on(PaneChosen)
    def choose_states(self, message: PaneChosen) -> None:
        """Shows the states of the clicked tab."""
        self.action_states(message.pane)

    def action_states(self, name: str) -> None:
        """Shows rows of other states."""
        self._states_shown = name
        self.refill()

    def action_chapter(self) -> None:
        """Switches between the open chapter and all."""
        self._only_open = not self._only_open and self._open_chapter is not None
        self.refill()

    def action_mark(self) -> None:
        """Marks the row under the cursor."""
        self.rows.mark_row()
        self.show_details()

    def action_mark_all(self) -> None:
        """Marks all listed rows, or none."""
        self.rows.mark_all()
        self.show_details()

    async def decide(self, command: Command, gone: Sequence[ProposalId] = ()) -> None:
        """Carries out the command, and moves the cursor to the row after those that leave the list."""
        if gone and self._states_shown != "all":
            self._cursor_wanted = self.rows.after(gone)
        await self.project.carry_out(command)
        self.rows.unmark()
        await self.reload()
