"""Comments, the decisions on them, findings and locks from the rows of a damaged database: those whose every field can
be read.

A page that was split can hold a row twice, and nothing says which is newer: an unresolved comment, a decided finding
and a decided note are taken before the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, get_args

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment, CommentId
from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import DECIDED, Finding, Proposal, ProposalState
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.store.file.connection import Row
from flowcabal_tui.store.rows.note_words import NoteWord
from flowcabal_tui.store.rows.proposals import proposal_of

_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class SalvagedFinding:
    """A finding with the writer's reason and the time of its raising."""

    proposal: Proposal
    word: str
    at: str


def salvaged_comments(rows: Iterable[Row]) -> tuple[Comment, ...]:
    """The comments, by chapter and place."""
    found: dict[tuple[Any, ...], Comment] = {}
    for row in rows:
        if (comment := _comment(row)) is not None and len(found) < _MOST:
            key = (comment.chapter, comment.kind, comment.words, comment.author, comment.at)
            known = found.get(key)
            found[key] = comment if known is None or known.resolved else known
    return tuple(sorted(found.values(), key=lambda each: (each.chapter, each.start, each.words)))


def _comment(row: Row) -> Comment | None:
    number, chapter, kind, words, quotation, start, end, lost, resolved, author, at = row
    texts, numbers = (chapter, words, quotation, author, at), (start, end, lost, resolved, number)
    if not _are(texts, str) or not _are(numbers, int) or kind not in COMMENT_KINDS or (when := _time(at)) is None:
        return None
    made = (clean_line(author), bool(resolved), bool(lost), when, CommentId(number))
    return Comment(ChapterId(chapter), clean(words), kind, clean(quotation), max(0, start), max(0, end), *made)


def salvaged_words(rows: Iterable[Row]) -> dict[CommentId, NoteWord]:
    """The writer's decisions on notes, by the ids of their comments; undone ones are left out."""
    found: dict[CommentId, NoteWord] = {}
    for number, state, _was, word, *_decision in rows:
        if not _are((state, word), str) or state not in get_args(ProposalState) or len(found) >= _MOST:
            continue
        known = found.get(CommentId(number))
        if state != "waiting" and (known is None or known.state not in DECIDED):
            found[CommentId(number)] = NoteWord(state, clean(word))
    return found


def salvaged_findings(rows: Iterable[Row]) -> tuple[SalvagedFinding, ...]:
    """The findings, by their ids; those that a later check no longer finds are left out."""
    found: dict[str, SalvagedFinding] = {}
    for row in rows:
        if (finding := _finding(row)) is not None and len(found) < _MOST:
            known = found.get(finding.proposal.id)
            if known is None or known.proposal.state not in DECIDED:
                found[finding.proposal.id] = finding
    return tuple(each for _id, each in sorted(found.items()) if each.proposal.state != "withdrawn")


def _finding(row: Row) -> SalvagedFinding | None:
    identity, kind, state, chapter, start, end, quotation, body, reason, origin = (*row[1:4], *row[7:14])
    texts = (identity, chapter, quotation, body, reason, origin, row[15], row[22])
    if not _are(texts, str) or not _are((start, end), int) or state not in get_args(ProposalState):
        return None
    try:
        proposal = proposal_of((identity, kind, state, chapter, start, end, quotation, body, reason, origin))
    except ProjectDamaged:
        return None
    return (
        SalvagedFinding(proposal, clean(row[22]), row[15]) if isinstance(proposal.difference.after, Finding) else None
    )


def salvaged_locks(rows: Iterable[Row]) -> frozenset[ChapterId]:
    """The locked chapters."""
    newest: dict[str, tuple[datetime, bool]] = {}
    for chapter, version, locked, at in rows:
        when = _time(at) if isinstance(chapter, str) and isinstance(version, int) and locked in (0, 1) else None
        if when is not None and (chapter not in newest or newest[chapter][0] <= when):
            newest[chapter] = when, bool(locked)
    return frozenset(ChapterId(chapter) for chapter, (_when, locked) in newest.items() if locked)


def _are(values: Iterable[object], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None
