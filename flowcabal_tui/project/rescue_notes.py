"""Puts rescued comments, findings and locks into the new project, whose chapters have other ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flowcabal_tui.domain.comments import Comment
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Difference, Finding, Proposal, ProposalPlace
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.text import nearest
from flowcabal_tui.project.rescue import Rescue
from flowcabal_tui.store import Store


async def put_notes(rescue: Rescue, store: Store, made_of: Mapping[ChapterId, ChapterId]) -> None:
    """Stores them; `made_of` returns the new chapter of each old one. Locks come last, since nothing can be written
    into a locked chapter."""
    texts = {new: await store.book.text(new) for new in made_of.values()}
    for comment in rescue.comments:
        if comment.chapter in made_of:
            placed = _placed(replace(comment, chapter=made_of[comment.chapter]), texts)
            await store.comments.add(placed, rescue.words.get(comment.id))
    known = {entity.identity for entity in rescue.entities}
    found = [replace(each, proposal=_moved(each.proposal, made_of, texts, known)) for each in rescue.findings
             if _chapters(each.proposal) <= made_of.keys()]  # fmt: skip
    await store.findings.restore(found)
    await store.revision.lock([made_of[chapter] for chapter in sorted(rescue.locked & made_of.keys())], locked=True)


def _placed(comment: Comment, texts: Mapping[ChapterId, str]) -> Comment:
    """The comment at its place in the rescued text, marked as lost if its words are missing."""
    if not comment.quotation:
        return comment
    at = nearest(texts[comment.chapter], comment.quotation, comment.start)
    if at < 0:
        return replace(comment, lost=True)
    return replace(comment, start=at, end=at + len(comment.quotation), lost=False)


def _finding(proposal: Proposal) -> Finding:
    after = proposal.difference.after
    if not isinstance(after, Finding):
        raise TypeError(f"{proposal.id} is no finding")
    return after


def _chapters(proposal: Proposal) -> set[ChapterId]:
    """The chapters that it names."""
    against = _finding(proposal).against
    return {*([proposal.place.chapter] if proposal.place else []), *([against] if against else [])}


def _moved(
    proposal: Proposal, made_of: Mapping[ChapterId, ChapterId], texts: Mapping[ChapterId, str], known: set[str]
) -> Proposal:
    finding, place, is_lost = _finding(proposal), proposal.place, False
    if place is not None:
        chapter = made_of[place.chapter]
        at = nearest(texts[chapter], proposal.quotation, place.start)
        is_lost = at < 0
        place = ProposalPlace(chapter, max(at, 0), max(at, 0) + len(proposal.quotation))
    source = finding.source
    if finding.against:
        chapter = made_of[finding.against]
        at = nearest(texts[chapter], source.text, source.start)
        is_lost = is_lost or at < 0
        source = _at(source, chapter, max(at, 0))
    about = tuple(each for each in finding.about if each in known)
    state = "resolved" if is_lost and proposal.state in ("waiting", "later") else proposal.state
    return replace(
        proposal, place=place, difference=Difference(replace(finding, source=source, about=about)), state=state
    )


def _at(source: Quotation, chapter: ChapterId, start: int) -> Quotation:
    return replace(source, uri=f"manuscript/{chapter}", start=start, end=start + len(source.text))
