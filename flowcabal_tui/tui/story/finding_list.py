"""The list of findings: the list of proposals, with its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from flowcabal_tui.domain.findings import FindingRow
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.locale import _
from flowcabal_tui.project.finding_words import age, explained, finding_subject, sureness
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.proposal_list import ProposalList, start
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns


class FindingList(ProposalList):
    """One row per finding: chapter, class, words, certainty, age, number of folded ones."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._rows: dict[str, FindingRow] = {}
        self._now: datetime | None = None

    @property
    def row(self) -> FindingRow | None:
        """The finding under the cursor."""
        return self._rows.get(self.picked or "")

    def show_findings(
        self, rows: Sequence[FindingRow], total: int, cast: Cast, now: datetime, cursor: str | None = None
    ) -> None:
        """Shows the first rows of `total`."""
        self._rows, self._now = {row.proposal.id: row for row in rows}, now
        self.show_rows([row.proposal for row in rows], total, cast, cursor)

    def add_findings(self, rows: Sequence[FindingRow]) -> None:
        """Adds further rows at the end."""
        self._rows |= {row.proposal.id: row for row in rows}
        self.add_rows([row.proposal for row in rows])

    def _new_columns(self) -> Columns:
        return Columns(
            *start(),
            Column(_("finding"), least=10, most=28),
            Column(_("words of the chapter"), rank=2, fill=True, least=12, role="quoted"),
            Column(rank=3, least=5, role="secondary"),
            Column(rank=1, least=6),
            Column(_("ago"), rank=4, least=6, role="secondary"),
            Column(rank=5, least=11, role="secondary"),
        )

    def _row(self, proposal: Proposal) -> ColumnRow:
        row = self._rows[proposal.id]
        return self._columns.row(
            *self._start(proposal),
            finding_subject(proposal),
            f"“{one_line(proposal.quotation, 200)}”" if proposal.quotation else one_line(explained(proposal), 200),
            sureness(proposal),
            self._state(proposal, "waiting"),
            age(row.at, self._now) if self._now is not None else "",
            _("+{n} folded").format(n=row.folded) if row.folded else "",
        )
