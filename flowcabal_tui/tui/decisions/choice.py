"""An unfinished choice: equally good candidates, the taken paragraphs, and the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pydantic import ValidationError

from flowcabal_tui.agents.comparing.sources import paragraph_sources
from flowcabal_tui.domain.codec import from_json, to_json
from flowcabal_tui.domain.comparison import (
    ChoiceDraft,
    Comparison,
    Taken,
    Verdict,
    composed,
    joint,
    paragraphs_of,
    row_of,
)
from flowcabal_tui.domain.ids import Digest


def read_draft(text: str | None) -> ChoiceDraft:
    """The stored choice; an empty one when none can be read."""
    try:
        return from_json(ChoiceDraft, text) if text else ChoiceDraft()
    except ValidationError:
        return ChoiceDraft()


def written_draft(draft: ChoiceDraft) -> str | None:
    """The choice as it is stored; None for an empty one."""
    return None if draft == ChoiceDraft() else to_json(draft)


def result_of(comparison: Comparison, draft: ChoiceDraft) -> str:
    """The composed text: as edited, else as taken."""
    return composed(comparison, draft.taken) if draft.text is None else draft.text


def known(comparison: Comparison, draft: ChoiceDraft) -> ChoiceDraft:
    """The draft without paragraphs that the comparison does not contain."""
    names = {each.digest for each in comparison.candidates}
    taken = tuple(each for each in draft.taken if each.candidate in names)
    return replace(draft, equal=tuple(each for each in draft.equal if each in names), taken=taken)


def with_equal(draft: ChoiceDraft, candidate: Digest) -> ChoiceDraft:
    """Marks a candidate as equally good, or no longer."""
    equal = draft.equal
    return replace(
        draft, equal=tuple(each for each in equal if each != candidate) if candidate in equal else (*equal, candidate)
    )


def beat_at(comparison: Comparison, taken: Taken) -> tuple[Taken, ...]:
    """All paragraphs of a candidate for the same beat."""
    row = comparison.rows[row_of(comparison, taken)]
    return tuple(Taken(taken.candidate, number) for number in row.cells[comparison.place(taken.candidate)])


def with_taken(comparison: Comparison, draft: ChoiceDraft, wanted: Iterable[Taken]) -> ChoiceDraft:
    """Takes paragraphs, or leaves them out again when all of them are in.

    An edited result keeps its words: a taken paragraph is inserted before the first paragraph of a later beat, and a
    removed one disappears only where it is unchanged.
    """
    changed = tuple(wanted)
    if all(each in draft.taken for each in changed):
        taken = tuple(each for each in draft.taken if each not in changed)
    else:
        taken = (*draft.taken, *(each for each in changed if each not in draft.taken))
    if draft.text is None:
        return replace(draft, taken=taken)
    text = draft.text
    for each in changed:
        words = paragraphs_of(comparison.candidates[comparison.place(each.candidate)].text)[each.paragraph]
        if each in taken and each not in draft.taken:
            text = _put_in(comparison, text, each, words, draft.taken)
        elif each not in taken:
            text = joint(comparison).join(row for row in paragraphs_of(text) if row != words)
    return replace(draft, taken=taken, text=text)


def _put_in(comparison: Comparison, text: str, part: Taken, words: str, taken: tuple[Taken, ...]) -> str:
    rows = list(paragraphs_of(text))
    sources = paragraph_sources(text, {each.digest: each.text for each in comparison.candidates}, taken)
    row = row_of(comparison, part)
    later = (n for n, each in enumerate(sources) if each is not None and row_of(comparison, each.taken) > row)
    rows.insert(next(later, len(rows)), words)
    return joint(comparison).join(rows)


def edited(comparison: Comparison, draft: ChoiceDraft, text: str) -> ChoiceDraft:
    """The draft with the typed result; a result equal to the taken paragraphs does not count as edited."""
    return replace(draft, text=None if text == composed(comparison, draft.taken) else text)


def verdict_on(draft: ChoiceDraft, candidate: Digest) -> Verdict:
    """The verdict for a chosen candidate: alone, or as the first of equally good ones."""
    others = tuple(each for each in draft.equal if each != candidate)
    return Verdict("tie", (candidate, *others)) if others else Verdict("chosen", (candidate,))
