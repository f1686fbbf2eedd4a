"""Notes of readers as rows of the list of findings; the comments themselves are stored elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from flowcabal_tui.domain.comments import Comment, CommentFilter, CommentId
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.findings import FindingFilter, FindingPage, FindingRow
from flowcabal_tui.domain.proposals import (
    Difference,
    Finding,
    Origin,
    Proposal,
    ProposalId,
    ProposalPlace,
    ProposalState,
)
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.store.book.comments import Comments
from flowcabal_tui.store.rows.note_words import NoteWord

Findings = Callable[[FindingFilter, int, int], Awaitable[FindingPage]]
_PREFIX: Final = "note-"
_DIGITS: Final = 18
"""Maximum digits of a number that the database can hold."""
_UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)


def split(ids: Sequence[ProposalId]) -> tuple[tuple[ProposalId, ...], tuple[CommentId, ...]]:
    """Divides ids into those of findings, and the comment ids behind notes."""
    found = tuple(each for each in ids if not _is_note(each))
    return found, tuple(CommentId(int(each.removeprefix(_PREFIX))) for each in ids if _is_note(each))


class ReaderNotes:
    """Notes precede the findings of checks, in story order or newest first, and are never folded."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments

    async def page(self, where: FindingFilter, offset: int, limit: int, found: Findings) -> FindingPage:
        """The rows from `offset` on; `found` returns the findings of checks."""
        every = await self._all(where)
        notes = [row for row in every if not where.states or row.proposal.state in where.states]
        shown = notes[offset : offset + limit]
        page = await found(where, max(0, offset - len(notes)), limit - len(shown))
        counts = dict(Counter(page.counts) + Counter(row.proposal.state for row in every))
        return replace(page, rows=(*shown, *page.rows), offset=offset, total=page.total + len(notes), counts=counts)

    async def row(self, note: CommentId) -> Proposal:
        """The note as a finding. Raises Gone for an unknown note."""
        for comment, word in await self._comments.of_readers():
            if comment.id == note:
                return _row(comment, word).proposal
        raise Gone(note)

    async def _all(self, where: FindingFilter) -> list[FindingRow]:
        """The notes that match a filter, in all states."""
        if not where.notes or where.checks:
            return []
        fits = CommentFilter(where.chapters, words=where.words, resolved=None).fits
        rows = [_row(comment, word) for comment, word in await self._comments.of_readers() if fits(comment)]
        return sorted(rows, key=lambda row: row.at, reverse=True) if where.newest else rows


def _row(comment: Comment, word: NoteWord | None) -> FindingRow:
    finding = Finding(comment.kind, comment.words, Quotation("", "", 0, 0), 1.0)
    state: ProposalState = word.state if word else "resolved" if comment.resolved else "waiting"
    place = ProposalPlace(comment.chapter, comment.start, comment.end)
    identity = ProposalId(f"{_PREFIX}{comment.id}")
    origin = Origin("reader", comment.author)
    note = Proposal("finding", place, comment.quotation, Difference(finding), origin=origin, state=state, id=identity)
    return FindingRow(note, comment.at or _UNDATED, word.word if word else "")


def _is_note(identity: str) -> bool:
    number = identity.removeprefix(_PREFIX)
    return identity.startswith(_PREFIX) and number.isdecimal() and len(number) <= _DIGITS
