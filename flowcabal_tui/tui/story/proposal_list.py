"""The list of proposals: rows of any kind, loaded by the page as the cursor approaches the end."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final

from textual import on
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.proposals import Proposal, ProposalId, ProposalState
from flowcabal_tui.domain.story import Story
from flowcabal_tui.locale import _
from flowcabal_tui.project.proposal_words import KINDS, proposal_line, state_words
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.roles import Role

PAGE: Final = 100
_NEAR: Final = 20
"""Rows before the last one at which further ones are read."""
_SIGNS: Final[dict[ProposalState, tuple[str, Role]]] = {
    "waiting": ("?", "waiting"),
    "applied": ("", "text"),
    "confirmed": ("=", "done"),
    "corrected": ("~", "hand"),
    "dropped": ("x", "secondary"),
    "resolved": ("-", "done"),
    "withdrawn": ("-", "secondary"),
    "later": (".", "secondary"),
    "intended": ("=", "hand"),
    "useless": ("x", "secondary"),
    "changed": ("~", "stale"),
}
"""State -> its sign and its role; what is in use says nothing."""


def start() -> tuple[Column, ...]:
    """The columns for state, mark and chapter, before the words of a row."""
    signs = Column(most=1, least=1)
    return signs, signs, Column(_("ch."), is_number=True, role="secondary")


class ProposalList(PickList):
    """One row per proposal. It shows rows and posts `MoreWanted`; it reads and decides nothing."""

    @dataclass
    class MoreWanted(Message):
        """Asks for the rows from `offset` on."""

        offset: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._listed: dict[str, Proposal] = {}
        self._marks: set[str] = set()
        self._total_rows = 0
        self._requested = 0
        self._people = Cast((), (), Story(), ())
        self.columns = Columns()
        """The columns of the displayed rows."""

    @property
    def proposal(self) -> Proposal | None:
        """The proposal under the cursor."""
        return self._listed.get(self.picked or "")

    @property
    def listed(self) -> tuple[Proposal, ...]:
        """All loaded rows."""
        return tuple(self._listed.values())

    @property
    def marked(self) -> tuple[Proposal, ...]:
        """The marked proposals, in the order of the list."""
        return tuple(each for identity, each in self._listed.items() if identity in self._marks)

    @property
    def chosen(self) -> tuple[Proposal, ...]:
        """The marked proposals, else the one under the cursor."""
        under = self.proposal
        return self.marked or ((under,) if under is not None else ())

    def show_rows(self, rows: Sequence[Proposal], total: int, cast: Cast, cursor: str | None = None) -> None:
        """Shows the first rows of `total`; marks of missing rows are removed."""
        self._people, self._total_rows, self._requested = cast, total, len(rows)
        self._listed = {each.id: each for each in rows}
        self._marks &= self._listed.keys()
        self.columns = self._new_columns()
        self.refill([Option(self._row(each), id=each.id) for each in rows], cursor)

    def add_rows(self, rows: Sequence[Proposal]) -> None:
        """Adds further rows at the end."""
        fresh = [each for each in rows if each.id not in self._listed]
        self._listed |= {each.id: each for each in fresh}
        self._requested = len(self._listed)
        self.add_options([Option(self._row(each), id=each.id) for each in fresh])

    async def await_more(self, reading: Awaitable[None]) -> None:
        """Awaits the addition of rows; after an error they are requested again when the cursor moves."""
        try:
            await reading
        except FlowCabalError:
            self._requested = len(self._listed)
            raise

    def mark_row(self) -> None:
        """Marks the row under the cursor or removes its mark, and moves to the next one."""
        if (proposal := self.proposal) is not None:
            self._turn([proposal], off=proposal.id in self._marks)
            self.action_cursor_down()

    def mark_all(self) -> None:
        """Marks all loaded rows, or none if all are marked."""
        self._turn(self.listed, off=self._listed.keys() <= self._marks)

    def unmark(self) -> None:
        """Removes all marks."""
        self._turn(self.marked, off=True)

    def after(self, gone: Sequence[ProposalId]) -> str | None:
        """The row to select when these rows are removed."""
        ids, row = list(self._listed), self.highlighted or 0
        return next((each for each in (*ids[row:], *reversed(ids[:row])) if each not in gone), None)

    @on(OptionList.OptionHighlighted)
    def ask_for_more(self, message: OptionList.OptionHighlighted) -> None:
        """Requests more rows when the cursor is near the end of the loaded ones."""
        if message.option_index >= self._requested - _NEAR and self._requested < self._total_rows:
            offset, self._requested = self._requested, self._total_rows
            self.post_message(self.MoreWanted(offset))

    def _turn(self, rows: Sequence[Proposal], *, off: bool) -> None:
        turned = {each.id for each in rows}
        self._marks = self._marks - turned if off else self._marks | turned
        for each in rows:
            self.replace_option_prompt(each.id, self._row(each))

    def _new_columns(self) -> Columns:
        return Columns(
            *start(),
            Column(_("proposal"), fill=True, least=16),
            Column(_("kind"), rank=2, least=12, role="secondary"),
            Column(rank=1, least=6),
        )

    def _start(self, proposal: Proposal) -> tuple[Cell, ...]:
        """The state, the mark and the chapter of a row."""
        position = self._people.position(proposal.place.chapter) if proposal.place else 0
        sign, role = _SIGNS[proposal.state]
        marked = Cell("*" if proposal.id in self._marks else "", "focus")
        return Cell(sign, role), marked, Cell(f"{position}" if position else "—")

    def _state(self, proposal: Proposal, unsaid: ProposalState) -> Cell:
        """The word for a state, but for one that most rows have."""
        words = "" if proposal.state == unsaid else state_words(proposal)
        return Cell(words, _SIGNS[proposal.state][1])

    def _row(self, proposal: Proposal) -> ColumnRow:
        words = one_line(proposal_line(proposal, self._people.name), 200)
        return self.columns.row(
            *self._start(proposal), words, _(KINDS[proposal.kind]), self._state(proposal, "applied")
        )
