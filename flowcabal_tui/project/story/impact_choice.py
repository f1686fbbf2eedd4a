"""The writer's choices in an impact review, as one change of the book."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.impact import BookChange, ChapterChanged, ChapterMoved, Impact, ImpactRow, PlaceWord, Rename
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.proposals import Difference, Origin, Proposal, ProposalId, Review, TextEdit, TitleEdit
from flowcabal_tui.domain.story import Fact, Promise, RecordId, Sequel, StoryRecord, wording
from flowcabal_tui.domain.text import digest_of, nearest
from flowcabal_tui.locale import _
from flowcabal_tui.project.impact_words import change_words
from flowcabal_tui.project.story.impact_rows import MAKER, BookText, edits_of, moved_span, replaced, reworded
from flowcabal_tui.protocol.story import ApplyImpact
from flowcabal_tui.store.memory.reviews import Reviewed, ReviewedText

Edits = Mapping[str, Sequence[tuple[int, str, str]]]
"""Start, words and new words of the edits of each text, in order."""


@dataclass(frozen=True, slots=True)
class ImpactChoice:
    """The rows to write, those that become findings, and the decisions on places."""

    patches: Sequence[ImpactRow]
    findings: Sequence[Proposal]
    words: Sequence[PlaceWord]

    @property
    def is_empty(self) -> bool:
        """True when nothing would be written."""
        return not (self.patches or self.findings or self.words)


def chosen(impact: Impact, command: ApplyImpact) -> ImpactChoice:
    """The rows by the command's ids, and the writer's decisions on places."""
    source = _source(impact.change)
    out = {*command.leave, *command.holds}
    rows = [row for row in impact.rows if (row.chosen or row.proposal.id in command.take)]
    rows = [row for row in rows if row.proposal.id not in out]
    to_decide = [row for row in rows if row.answer == "decide"]
    words = [
        *(_word(row, "decide", source) for row in to_decide),
        *(_word(row, "holds", source) for row in impact.rows if row.proposal.id in command.holds),
        *(_word(row, "", source) for row in impact.settled if row.proposal.id in command.again),
    ]
    findings = [replace(row.proposal, id=ProposalId("")) for row in to_decide]
    return ImpactChoice([row for row in rows if row.answer == "patch"], findings, words)


def _word(row: ImpactRow, word: Literal["holds", "decide", ""], source: str) -> PlaceWord:
    place = row.proposal.place
    return PlaceWord(row.key, word, place.chapter if place else "", source)


def _source(change: BookChange) -> str:
    match change:
        case ChapterChanged(chapter=chapter) | ChapterMoved(moved=chapter):
            return chapter
    return ""


def reviewed(
    change: BookChange,
    choice: ImpactChoice,
    known: Mapping[str, BookText],
    entities: Sequence[Entity],
    model: str,
    at: datetime,
) -> Reviewed:
    """The change to write.

    `known` are the texts of its places, `model` is the author of patches that no rule made. Raises RunError when two
    differences overlap, VersionConflict when their words are no longer in the text.
    """
    rows, words = choice.patches, change_words(change)
    edits = edits_of(rows)
    _require_apart(edits, known)
    texts = []
    for subject, changes in edits.items():
        text = replaced(known[subject].text, changes)
        if text is None:
            raise VersionConflict(_("The book was changed in the meantime."), _("Nothing was changed."))
        texts.append(ReviewedText(subject, text, known[subject].version))
    chapters = len({row.proposal.place.chapter for row in rows if row.proposal.place and row.position})
    review = Review(digest_of([words, at.isoformat()])[:12], words, len(rows), chapters, isinstance(change, Rename))
    after = {row.proposal.target: row.proposal.difference.after for row in rows}
    titles = [(edit.chapter, edit.before, edit.after) for edit in after.values() if isinstance(edit, TitleEdit)]
    return Reviewed(
        Proposal("review", None, "", Difference(review), origin=Origin("rule", MAKER)),
        words[:80],
        texts,
        titles,
        [(each, new) for each in entities if isinstance(new := after.get(each.id), Entity)],
        _reword(rows, edits, {each: known[each].text for each in edits}) if rows else None,
        rewrites=list(_rewrites(rows, known, model, words, at)),
        findings=choice.findings,
        words=choice.words,
    )


def _require_apart(edits: Edits, known: Mapping[str, BookText]) -> None:
    for subject, changes in edits.items():
        for (start, before, _after), (following, words, _new) in pairwise(changes):
            if following < start + len(before):
                raise RunError(
                    _("{title}: two of the differences change the same words: {words}").format(
                        title=known[subject].title, words=words[:40]
                    ),
                    _("Nothing was changed."),
                    _("Apply one of them."),
                )


def _rewrites(
    rows: Sequence[ImpactRow], known: Mapping[str, BookText], model: str, words: str, at: datetime
) -> Iterator[Rewrite]:
    """The applied edits of a model, stored so that the origin of a line can be shown."""
    for row in rows:
        edit, place = row.proposal.difference.after, row.proposal.place
        if row.is_by_model and isinstance(edit, TextEdit) and place is not None:
            text = known[place.chapter].text
            yield Rewrite(place.chapter, text, place.start, place.end, edit.after, model, words, at)


def _reword(
    rows: Sequence[ImpactRow], edits: Mapping[str, Sequence[tuple[int, str, str]]], texts: Mapping[str, str]
) -> Callable[[StoryRecord | Sequel], StoryRecord | Sequel]:
    """Records with the words of their rows, and with quotations that follow the edits of these texts."""
    words: dict[RecordId, str] = {
        RecordId(row.proposal.target): wording(row.proposal.difference.after)  # type: ignore[arg-type]  # of a record
        for row in rows
        if row.proposal.id.startswith("record:")
    }
    new = {subject: replaced(text, edits[subject]) or "" for subject, text in texts.items()}

    def moved(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(_followed(each, edits, texts, new) for each in evidence)

    def reword(record: StoryRecord | Sequel) -> StoryRecord | Sequel:
        quoted = replace(record, evidence=moved(record.evidence))
        if isinstance(quoted, Promise):
            quoted = replace(quoted, payment=moved(quoted.payment))
        if isinstance(quoted, Fact):
            quoted = replace(
                quoted, known_by=tuple(replace(each, evidence=moved(each.evidence)) for each in quoted.known_by)
            )
        return reworded(quoted, words[quoted.id]) if quoted.id in words else quoted

    return reword


def _followed(
    each: Evidence,
    edits: Mapping[str, Sequence[tuple[int, str, str]]],
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> Evidence:
    """A quotation after the edits of its chapter; one that is not there stays as it is."""
    text = old.get(each.chapter, "")
    start = nearest(text, each.sentence, each.start) if text and each.sentence else -1
    if start < 0:
        return each
    begin, end = moved_span(edits[each.chapter], start, start + len(each.sentence))
    return replace(each, sentence=new[each.chapter][begin:end], start=begin, end=end)
