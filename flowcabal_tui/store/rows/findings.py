"""Findings as rows of the proposals, in the writer's thread: storing each once, and updating them with the quoted
texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import DECIDED, Difference, Proposal, ProposalId, ProposalPlace
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.text import clean, nearest
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.store.file.connection import Row
from flowcabal_tui.store.rows.proposals import FIELDS, insert_proposal, new_id, proposal_of, values_of

_FIRST: Final = 1
_SECOND: Final = 2
_LAPSED: Final = ("resolved", "withdrawn")
_OPEN: Final = ("waiting", "later")


@dataclass(frozen=True, slots=True)
class _Known:
    """A row: its proposal, which of its quotations are gone, and its state before its last change."""

    proposal: Proposal
    lost: int = 0
    was: str = ""


def raise_findings(connection: sqlite3.Connection, findings: Iterable[Proposal], at: str) -> tuple[Proposal, ...]:
    """Stores new findings, and returns all with the id and state of their rows, each row once.

    A decision of the writer is kept.
    """
    given = [_cleaned(each) for each in findings]
    known: dict[str, list[_Known]] = {}
    stored: dict[str, Proposal] = {}
    for each in given:
        chapter = each.place.chapter if each.place else ""
        rows = known.setdefault(chapter, _of_chapter(connection, chapter))
        same = next((row for row in rows if _is_same(row.proposal, each)), None)
        row = _insert(connection, each, at) if same is None else _raised_again(connection, same, each)
        if same is None:
            rows.append(_Known(row))
        stored[row.id] = row
    return tuple(stored.values())


def withdraw_findings(connection: sqlite3.Connection, chapter: str, replaced: Callable[[Proposal], bool]) -> None:
    """Withdraws the waiting rows of a chapter for which `replaced` is true: the check no longer raises them."""
    rows = [row.proposal for row in _of_chapter(connection, chapter)]
    gone = [(row.id,) for row in rows if row.state == "waiting" and replaced(row)]
    connection.executemany("UPDATE proposal SET state='withdrawn' WHERE id=?", gone)


def settle_findings(connection: sqlite3.Connection, chapter: str, text: str, *, output: bool) -> None:
    """Updates findings after a new text of a chapter: places move, and a finding with a missing quotation is resolved.

    It waits again when its words return. What the writer has decided stays so; an undo of it resolves a finding whose
    words are gone. `output`: a run's output was kept, so findings on drafts that are not in it
    are withdrawn.
    """
    rows = connection.execute(
        f"SELECT {FIELDS}, lost, was FROM proposal WHERE kind='finding' AND (chapter=:chapter OR against=:chapter)"
        " AND state<>'withdrawn'",
        {"chapter": chapter},
    ).fetchall()
    for row in rows:
        _settle(connection, _known(row), chapter, text, output=output)


def _settle(connection: sqlite3.Connection, row: _Known, chapter: str, text: str, *, output: bool) -> None:
    proposal, finding, lost = row.proposal, row.proposal.finding, row.lost
    if proposal.place is not None and proposal.place.chapter == chapter:
        start = nearest(text, proposal.quotation, proposal.place.start)
        if start < 0 and finding.draft and not output:
            return
        lost = lost & ~_FIRST if start >= 0 else lost | _FIRST
        if start >= 0:
            place = ProposalPlace(ChapterId(chapter), start, start + len(proposal.quotation))
            proposal, finding = replace(proposal, place=place), replace(finding, draft="")
    if finding.against == chapter:
        start = nearest(text, finding.source.text, finding.source.start)
        lost = lost & ~_SECOND if start >= 0 else lost | _SECOND
        if start >= 0:
            finding = replace(finding, source=_moved(finding.source, start))
    state, was = proposal.state, row.was
    if lost and state in _OPEN:
        state, was = "resolved", state
    elif not lost and state == "resolved":
        state = "later" if was == "later" else "waiting"
    _update(connection, replace(proposal, difference=Difference(finding), state=state), lost, was)


def forget_findings(connection: sqlite3.Connection, repeats: Callable[[str], bool]) -> None:
    """Deletes the rows with text for which `repeats` is true."""
    rows = connection.execute("SELECT id, quotation, body, word FROM proposal WHERE kind='finding'").fetchall()
    gone = [(row[0],) for row in rows if any(repeats(words) for words in row[1:])]
    connection.executemany("DELETE FROM proposal WHERE id=?", gone)


def _is_same(known: Proposal, new: Proposal) -> bool:
    """True for the same finding, or one about the same places by another check that has not lapsed."""
    if known.identity == new.identity:
        return True
    one, other = known.finding.source, new.finding.source
    same_check = known.origin == new.origin
    if bool(one.text) != bool(other.text) or not (same_check or (one.text and known.state not in _LAPSED)):
        return False
    return _meet(_quoted(known), _quoted(new)) and (not one.text or _meet(one, other))


def _quoted(proposal: Proposal) -> Quotation:
    place = proposal.place or ProposalPlace(ChapterId(""))
    draft = proposal.finding.draft
    return Quotation(proposal.quotation, f"{place.chapter}/{draft}", place.start, place.end)


def _meet(one: Quotation, other: Quotation) -> bool:
    return one.uri == other.uri and one.start < other.end and other.start < one.end


def _of_chapter(connection: sqlite3.Connection, chapter: str) -> list[_Known]:
    rows = connection.execute(
        f"SELECT {FIELDS}, lost, was FROM proposal WHERE kind='finding' AND chapter=? ORDER BY number", (chapter,)
    )
    return [_known(row) for row in rows.fetchall()]


def _known(row: Row) -> _Known:
    return _Known(proposal_of(row[:-2]), row[-2], row[-1])


def _insert(connection: sqlite3.Connection, new: Proposal, at: str) -> Proposal:
    stored = replace(new, id=ProposalId(new_id(connection, new)))
    (raised,) = connection.execute("SELECT coalesce(max(id), 0) FROM generation").fetchone()
    insert_proposal(connection, values_of(stored) | {"raised": raised, "at": at})
    finding = stored.finding
    connection.execute(
        "UPDATE proposal SET against=?, sure=? WHERE id=?", (finding.against or "", finding.sure, stored.id)
    )
    return stored


def _raised_again(connection: sqlite3.Connection, known: _Known, new: Proposal) -> Proposal:
    """The row of a repeated finding; a waiting, resolved or withdrawn row takes the new form of the check."""
    row = known.proposal
    if row.state in (*DECIDED, "later") or (row.state == "waiting" and row.origin != new.origin):
        return row
    if new.finding.draft and not row.finding.draft and row.state == "waiting":
        return row  # the text of a kept chapter contains it
    stored = replace(new, id=row.id, state="waiting")
    _update(connection, stored, 0, "")
    return stored


def _update(connection: sqlite3.Connection, proposal: Proposal, lost: int, was: str) -> None:
    finding = proposal.finding
    values = values_of(proposal) | {"lost": lost, "was": was, "against": finding.against or "", "sure": finding.sure}
    connection.execute(
        "UPDATE proposal SET state=:state, start=:start, end=:end, quotation=:quotation, body=:body, words=:words,"
        " against=:against, sure=:sure, lost=:lost, was=:was WHERE id=:id",
        values,
    )


def _moved(quotation: Quotation, start: int) -> Quotation:
    return replace(quotation, start=start, end=start + len(quotation.text))


def _cleaned(proposal: Proposal) -> Proposal:
    finding = proposal.finding
    source = replace(finding.source, text=clean(finding.source.text))
    difference = Difference(replace(finding, source=source))
    return replace(proposal, quotation=clean(proposal.quotation), difference=difference)
