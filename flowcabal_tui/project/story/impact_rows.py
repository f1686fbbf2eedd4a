"""Rows of an impact review: the places found, as proposals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from flowcabal_tui.agents.impact.moving import EarlyUse
from flowcabal_tui.agents.impact.renaming import NamePlace, RenamePlan, renamed
from flowcabal_tui.agents.impact.statements import Lost, SamePlace, Value
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.impact import Directness, ImpactRow, PatchQuestion
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    Change,
    Difference,
    Finding,
    Origin,
    Proposal,
    ProposalId,
    ProposalKind,
    ProposalPlace,
    Reason,
    TextEdit,
    TitleEdit,
    plain_quotation,
)
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.story import Relation, Sequel, StoryRecord, wording
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.matching import around

MAKER: Final = "impact"
_LEAST_SURE: Final = 1.0
_LEAST_CONFIDENCE: Final = 0.1
_ENDS: Final = "。！？!?….\n"
_LONGEST: Final = 300
"""Characters of a sentence on each side of a place, by which the place is known again."""
R = TypeVar("R", StoryRecord, StoryRecord | Sequel)


@dataclass(frozen=True, slots=True)
class BookText:
    """A text of the book: a chapter's, or one about the book (position 0)."""

    subject: str
    position: int
    title: str
    text: str
    version: int


def name_row(source: BookText, place: NamePlace) -> ImpactRow:
    """The row of a name in a text, with its replacement."""
    edit = TextEdit(_id(source, place.start), ChapterId(source.subject), place.before, place.after)
    key = _key(source, place.start, "name", place.before, place.after)
    return _row(source, place.start, place.before, edit, "name", key, chosen=place.sure)


def title_row(chapter: Chapter, title: str) -> ImpactRow:
    """The row of a chapter's new title."""
    edit = TitleEdit(f"title:{chapter.id}", chapter.id, chapter.title, title)
    proposal = _proposal("title", edit.id, chapter.title, Difference(edit), ProposalPlace(chapter.id))
    key = digest_of([edit.id, chapter.title, title])
    return ImpactRow(proposal, "name", chapter.position, chapter.title, chapter.title, 0, key=key)


def entity_row(before: Entity, after: Entity) -> ImpactRow:
    """The row of a changed entry in the list of names."""
    proposal = _proposal("entity", f"entity:{before.id}", before.name, Difference(after))
    values = [proposal.id, before.names, after.names, before.note, after.note]
    key = digest_of([*values, before.fields, after.fields] if before.fields != after.fields else values)
    return ImpactRow(proposal, "name", 0, before.name, " = ".join(before.names), 0, key=key)


def record_row(before: StoryRecord, after: StoryRecord) -> ImpactRow:
    """The row of a record with changed words."""
    kind: ProposalKind = {"Relation": "relation", "Fact": "fact", "Promise": "promise", "Moment": "moment"}[
        type(before).__name__
    ]  # type: ignore[assignment]  # the four types of a record
    words = wording(before)
    proposal = _proposal(kind, f"record:{before.id}", words, Difference(after, before))
    return ImpactRow(proposal, "record", 0, "", words, 0, key=digest_of([proposal.id, words, wording(after)]))


def _proposal(
    kind: ProposalKind, identity: str, words: str, change: Difference, place: ProposalPlace | None = None
) -> Proposal:
    return Proposal(kind, place, words, change, origin=Origin("rule", MAKER), id=ProposalId(identity))


def record_doubt(record: StoryRecord, source: Quotation) -> ImpactRow:
    """The row of a record whose quoted words were removed."""
    words = wording(record)
    finding = Finding("", _("Its supporting words have changed."), source, 0.5, sure=False)
    proposal = _proposal("finding", f"record:{record.id}", words, Difference(finding))
    key = digest_of([proposal.id, words, plain_quotation(source.text)])
    return ImpactRow(proposal, "record", 0, "", words, 0, chosen=False, key=key)


def value_row(source: BookText, place: SamePlace, changed: Quotation) -> ImpactRow:
    """The row of a place with a value that the changed text no longer contains."""
    instead, lost = _written(place.value, place.lost.instead), place.lost
    values = (*sorted(lost.subjects), str(place.value.key), str(lost.instead.key) if lost.instead else "")
    if instead:
        edit = TextEdit(_id(source, place.at), ChapterId(source.subject), place.value.words, instead)
        sure = place.named and place.score > _LEAST_SURE
        key = _key(source, place.at, "value", *values)
        return _row(source, place.at, place.value.words, edit, "value", key, chosen=sure)
    words = _("It contains {words}, which the changed text no longer contains.").format(words=place.value.words)
    finding = Finding("", words, changed, min(1.0, place.score / 3), False, tuple(sorted(lost.subjects)))
    quoted, key = source.text[place.start : place.end], _key(source, place.start, "value", *values)
    asks = PatchQuestion("changed", lost.text, lost.now)
    return _row(source, place.start, quoted, finding, "value", key, asks)


def use_row(source: BookText, explaining: BookText, use: EarlyUse) -> ImpactRow:
    """The row of a sentence about something that a later chapter introduces."""
    words = explaining.text[use.source.start : use.source.end]
    quotation = Quotation(words, f"manuscript/{explaining.subject}", use.source.start, use.source.end, explaining.title)
    explanation = _("A later chapter is the first to mention this.")
    about = (use.about,) if use.about else ()
    finding = Finding("", explanation, quotation, min(1.0, use.score / 2), False, about)
    key = _key(source, use.start, "subject", explaining.subject, plain_quotation(words))
    asks = PatchQuestion("moved", words)
    return _row(source, use.start, source.text[use.start : use.end], finding, "subject", key, asks)


def receipt_row(source: BookText, place: Span, lost: Lost, changed: Quotation) -> ImpactRow:
    """The row of a chapter whose context contained the changed words; `place` is the sentence that most probably
    depends on them."""
    quoted = source.text[place.start : place.end]
    explanation = _("The context of this chapter contained the changed words.")
    finding = Finding("", explanation, changed, _LEAST_CONFIDENCE, False, tuple(sorted(lost.subjects)))
    key = _key(source, place.start, "receipt", plain_quotation(lost.text))
    return _row(source, place.start, quoted, finding, "receipt", key, PatchQuestion("changed", lost.text, lost.now))


def moved_receipt_row(source: BookText, place: Span, moved: BookText, words: Span) -> ImpactRow:
    """The row of a chapter whose context contained a chapter that now comes later.

    `place` is the sentence that most probably depends on it, and `words` are the nearest of its sentences.
    """
    quoted_words = moved.text[words.start : words.end]
    quotation = Quotation(quoted_words, f"manuscript/{moved.subject}", words.start, words.end, moved.title)
    explanation = _("The context of this chapter contained a chapter that now comes later.")
    finding = Finding("", explanation, quotation, _LEAST_CONFIDENCE, False)
    key = _key(source, place.start, "receipt", moved.subject)
    quoted = source.text[place.start : place.end]
    return _row(source, place.start, quoted, finding, "receipt", key, PatchQuestion("moved", quoted_words))


def lost_quotation(source: BookText, lost: Lost) -> Quotation:
    """The changed words, as they were."""
    return Quotation(lost.text, f"manuscript/{source.subject}", lost.start, lost.end, source.title)


def reworded(record: R, words: str) -> R:
    """The record with other words."""
    if isinstance(record, Sequel):
        return record
    return replace(record, kind=words) if isinstance(record, Relation) else replace(record, text=words)


def renamed_entity(entity: Entity, plan: RenamePlan, holding: Collection[str]) -> Entity:
    """The entity with every name that contains a form of the plan changed; no name occurs twice. `holding` are texts
    that certainly name it."""

    def changed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(plan.forms.get(name, name) for name in names))

    name = plan.forms.get(entity.name, entity.name)
    aliases = tuple(each for each in changed(entity.aliases) if each != name)
    note, *values = (
        renamed(plan, text) if text in holding else text
        for text in (entity.note, *(value for _field, value in entity.fields))
    )
    fields = tuple((field, value) for (field, _value), value in zip(entity.fields, values, strict=True))
    return replace(
        entity, name=name, aliases=aliases, proposed=changed(entity.proposed), note=note, fields=fields, by="hand"
    )


def edits_of(rows: Sequence[ImpactRow]) -> Mapping[str, list[tuple[int, str, str]]]:
    """Start, words and new words of the edits of each text, in order."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for row in rows:
        edit, place = row.proposal.difference.after, row.proposal.place
        if isinstance(edit, TextEdit) and place is not None:
            found.setdefault(edit.chapter, []).append((place.start, edit.before, edit.after))
    return {subject: sorted(edits) for subject, edits in found.items()}


def moved_span(edits: Sequence[tuple[int, str, str]], start: int, end: int) -> tuple[int, int]:
    """The new place of the characters from `start` to `end` after the edits."""

    def moved(place: int, *, is_end: bool) -> int:
        shift = 0
        for at, before, after in edits:
            if at + len(before) <= place:
                shift += len(after) - len(before)
            elif at < place:
                return at + shift + (len(after) if is_end else 0)
        return place + shift

    return moved(start, is_end=False), moved(end, is_end=True)


def replaced(text: str, edits: Sequence[tuple[int, str, str]]) -> str | None:
    """The text after the edits; None when their words are not there."""
    parts: list[str] = []
    at = 0
    for start, before, after in edits:
        if start < at or not text.startswith(before, start):
            return None
        parts += text[at:start], after
        at = start + len(before)
    return "".join((*parts, text[at:]))


def _key(source: BookText, at: int, *values: str) -> Digest:
    """Identifies a place of a change as long as its sentence says the same; see `PlaceWord`."""
    text = source.text
    start = max(max(text.rfind(end, max(0, at - _LONGEST), at) for end in _ENDS) + 1, at - _LONGEST, 0)
    ends = (text.find(end, at, at + _LONGEST) for end in _ENDS)
    sentence = text[start : min((end for end in ends if end >= 0), default=at + _LONGEST)]
    before = len(plain_quotation(text[start:at]))
    again = text.count(sentence, 0, start)
    return digest_of([*values, source.subject, plain_quotation(sentence), before, again])


def _row(
    source: BookText,
    at: int,
    words: str,
    change: Change,
    directness: Directness,
    key: Digest,
    asks: PatchQuestion | None = None,
    *,
    chosen: bool = False,
) -> ImpactRow:
    start, end = source.text.rfind("\n", 0, at) + 1, source.text.find("\n", at)
    line, begin = around(source.text, start, end if end >= 0 else len(source.text), at)
    kind: ProposalKind = "edit" if isinstance(change, TextEdit) else "finding"
    place = ProposalPlace(ChapterId(source.subject), at, at + len(words))
    proposal = replace(_proposal(kind, _id(source, at), words, Difference(change), place), reason=Reason("worded"))
    return ImpactRow(proposal, directness, source.position, source.title, line, at - begin, chosen, key, asks)


def _id(source: BookText, at: int) -> str:
    return f"{source.subject}:{at}"


def _written(value: Value, instead: Value | None) -> str:
    """The new value as the old one is written: in digits, or with a capital; "" when there is none."""
    if instead is None:
        return ""
    if value.amount is not None and value.words.isdigit() and instead.amount is not None:
        return str(int(instead.amount))
    return instead.words.capitalize() if value.words[:1].isupper() else instead.words
