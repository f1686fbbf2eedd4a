"""What readers noted, as rows of the list of findings; the comments themselves stay where they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from flowcabal_tui.domain.comments import Comment, CommentId, CommentWish
from flowcabal_tui.domain.findings import FindingPage, FindingRow, FindingWish
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

Findings = Callable[[FindingWish, int, int], Awaitable[FindingPage]]
_PREFIX: Final = "note-"
_UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)


def split(ids: Sequence[ProposalId]) -> tuple[tuple[ProposalId, ...], tuple[CommentId, ...]]:
    """The ids of findings, and of the comments behind those of notes."""
    found = tuple(each for each in ids if not _is_note(each))
    return found, tuple(CommentId(int(each.removeprefix(_PREFIX))) for each in ids if _is_note(each))


class ReaderNotes:
    """Notes stand before the findings of checks, in story order or the newest first, and are never folded."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments

    async def page(self, wish: FindingWish, offset: int, limit: int, found: Findings) -> FindingPage:
        """The rows from `offset` on; `found` gives those of checks."""
        notes = await self.rows(wish)
        shown = notes[offset : offset + limit]
        page = await found(wish, max(0, offset - len(notes)), limit - len(shown))
        counts = {**page.counts, "waiting": page.counts.get("waiting", 0) + await self._waiting(wish)}
        return replace(page, rows=(*shown, *page.rows), offset=offset, total=page.total + len(notes), counts=counts)

    async def rows(self, wish: FindingWish) -> list[FindingRow]:
        """The notes that a wish lists."""
        if not wish.notes or wish.checks:
            return []
        asked = {state: state in wish.states or not wish.states for state in ("waiting", "resolved")}
        rows = [_row(each) for each in await self._of(wish, None) if asked["resolved" if each.resolved else "waiting"]]
        return sorted(rows, key=lambda row: row.at, reverse=True) if wish.newest else rows

    async def _waiting(self, wish: FindingWish) -> int:
        return len(await self._of(wish, False)) if wish.notes and not wish.checks else 0

    async def _of(self, wish: FindingWish, resolved: bool | None) -> list[Comment]:
        fits = CommentWish(wish.chapters, words=wish.words, resolved=resolved).fits
        return [each for each in await self._comments.all() if each.author and fits(each)]


def _row(comment: Comment) -> FindingRow:
    finding = Finding(comment.kind, comment.words, Quotation("", "", 0, 0), 1.0)
    state: ProposalState = "resolved" if comment.resolved else "waiting"
    place = ProposalPlace(comment.chapter, comment.start, comment.end)
    identity = ProposalId(f"{_PREFIX}{comment.id}")
    origin = Origin("reader", comment.author)
    note = Proposal("finding", place, comment.quotation, Difference(finding), origin=origin, state=state, id=identity)
    return FindingRow(note, comment.at or _UNDATED)


def _is_note(identity: str) -> bool:
    return identity.startswith(_PREFIX) and identity.removeprefix(_PREFIX).isdecimal()
