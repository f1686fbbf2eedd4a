"""The list of an impact review: the list of proposals, with a tick and the difference of each place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from flowcabal_tui.domain.impact import ImpactRow
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.project.impact_words import answer, marked, place_words
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.proposal_list import ProposalList
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.role_words import facts_words

_BEFORE: Final = 24
"""Characters of the passage before the difference."""


class ImpactList(ProposalList):
    """One row for each place: its tick, chapter, the difference or the reason for waiting, and the proposal."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._places: dict[str, ImpactRow] = {}
        self.ticked: set[str] = set()
        self.holding: set[str] = set()
        """Places that still hold."""

    @property
    def place(self) -> ImpactRow | None:
        """The place under the cursor."""
        return self._places.get(self.picked or "")

    def show_places(self, places: Sequence[ImpactRow], total: int, cast: Cast) -> None:
        """Shows the first rows of `total`."""
        self._places = {row.proposal.id: row for row in places}
        self.show_rows([row.proposal for row in places], total, cast)

    def add_places(self, places: Sequence[ImpactRow]) -> None:
        """Adds further rows at the end."""
        self._places |= {row.proposal.id: row for row in places}
        self.add_rows([row.proposal for row in places])

    def tick(self, ids: Iterable[str]) -> None:
        """Ticks the places, or unticks them if all are ticked."""
        turned = set(ids)
        self.ticked = self.ticked - turned if turned <= self.ticked else self.ticked | turned
        self.holding -= self.ticked
        self._show(turned)

    def hold(self, identity: str) -> None:
        """Marks a place as still valid, or removes the mark."""
        self.holding ^= {identity}
        self.ticked -= self.holding
        self._show({identity})

    def point_at(self, identity: str) -> None:
        """Moves the cursor to a place, if it is among the loaded rows."""
        if identity in self._places:
            self.highlighted = self.get_option_index(identity)

    def _show(self, ids: set[str]) -> None:
        for identity in ids & self._places.keys():
            self.replace_option_prompt(identity, self._row(self._places[identity].proposal))

    def _new_columns(self) -> Columns:
        return Columns(
            Column(least=3),
            Column(is_number=True, role="secondary"),
            Column(fill=True, least=16),
            Column(rank=1, least=10, role="secondary"),
        )

    def _row(self, proposal: Proposal) -> ColumnRow:
        row = self._places[proposal.id]
        ends = (place_words(row), answer(row) if row.answer == "decide" or row.is_by_model else "")
        return self._columns.row(
            "[x]" if proposal.id in self.ticked else "[=]" if proposal.id in self.holding else "[ ]",
            f"{row.position}" if row.position else "—",
            one_line(marked(row, _BEFORE), 200),
            facts_words(*ends),
        )
