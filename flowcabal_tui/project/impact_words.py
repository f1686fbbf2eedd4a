"""The user's words for impact reviews, for every caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.impact import (
    BookChange,
    ChapterChanged,
    ChapterMoved,
    Directness,
    FactChanged,
    Impact,
    ImpactRow,
    Rename,
)
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Finding, TextEdit, TitleEdit
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, wording
from flowcabal_tui.domain.text import clean_line, shared_start
from flowcabal_tui.locale import _, mark, ngettext, sentences
from flowcabal_tui.project.words import unsaved_words

_DIRECTNESS: Final[Mapping[Directness, str]] = {
    "name": mark("name"),
    "record": mark("record"),
    "value": mark("same value"),
    "subject": mark("same subject"),
    "receipt": mark("written from it"),
}


def change_words(change: BookChange) -> str:
    """A change on one line."""
    match change:
        case Rename(name=name, to=to):
            return _("rename: {name} to {to}").format(name=name, to=to)
        case ChapterChanged():
            return _("followed the change of a chapter")
        case ChapterMoved():
            return _("followed the move of a chapter")
        case FactChanged(text=text):
            return _("changed: {words}").format(words=text)


def directness(row: ImpactRow) -> str:
    """The label for how directly a place depends on the change."""
    return _(_DIRECTNESS[row.directness])


def answer(row: ImpactRow) -> str:
    """The proposal for a place, or the writer's decision."""
    if row.word == "holds":
        return _("still holds")
    if row.answer == "patch":
        return _("patch by the model") if row.is_by_model else _("patch")
    return _("you decide")


def proposed(row: ImpactRow) -> str:
    """The difference of a patch, or the reason why a place waits for the writer, on one line."""
    after = row.proposal.difference.after
    if isinstance(after, Finding):
        return clean_line(after.explanation)
    before, new = _sides(row)
    return difference(before, new) if isinstance(after, TextEdit) else _trimmed(before, new)


def marked(row: ImpactRow, before: int = 0) -> str:
    """The passage of a place with its difference; `before` limits the characters before it."""
    start, end = row.start, row.start + len(row.proposal.quotation)
    if not isinstance(row.proposal.difference.after, TextEdit) or row.line[start:end] != row.proposal.quotation:
        words = row.line if row.answer == "decide" else proposed(row)
        at = words.find("[-")
        head, rest = (words[:at], words[at:]) if at > 0 else ("", words)
    else:
        head, rest = row.line[:start], proposed(row) + row.line[end:]
    if before and len(head) > before:
        head = "…" + head[-before:]
    return clean_line(head + rest)


def place_words(row: ImpactRow) -> str:
    """The kind of a place outside of the chapters: the outline, a name, a record; "" for one in a chapter."""
    if row.position and not isinstance(row.proposal.difference.after, TitleEdit):
        return ""
    match row.proposal.difference.after:
        case TextEdit():
            return clean_line(row.title)
        case TitleEdit():
            return _("title")
        case Entity():
            return _("names")
    return _("record")


def _sides(row: ImpactRow) -> tuple[str, str]:
    match row.proposal.difference.after:
        case TextEdit(before=before, after=after) | TitleEdit(before=before, after=after):
            return before, after
        case Entity(name=name, aliases=aliases):
            return row.line, " = ".join((name, *aliases))
        case (Relation() | Fact() | Promise() | Moment()) as record:
            return row.line, wording(record)
    return row.line, row.line


def _trimmed(before: str, after: str) -> str:
    """The difference with the unchanged words around it."""
    head = shared_start(before, after)
    tail = shared_start(before[head:][::-1], after[head:][::-1])
    while head and before[head - 1].isascii() and before[head - 1].isalnum():
        head -= 1
    while tail and before[len(before) - tail].isascii() and before[len(before) - tail].isalnum():
        tail -= 1
    end, new_end = len(before) - tail, len(after) - tail
    return before[:head] + difference(before[head:end], after[head:new_end]) + before[end:]


def difference(before: str, after: str) -> str:
    """Old and new words on one line."""
    return f"[-{clean_line(before)}-]{{+{clean_line(after)}+}}"


def impact_words(found: Impact, ticked: int | None = None) -> str:
    """The number of places that depend on the change, and of ticked ones (None: as initially ticked)."""
    settled = ngettext("You have settled {n} place.", "You have settled {n} places.", len(found.settled))
    settled = settled.format(n=len(found.settled)) if found.settled else ""
    if found.is_same and not settled:
        return _("It still says the same: nothing depends on the change.")
    if not found.rows:
        return settled or _("Nothing in the book depends on the change.")
    n = len(found.rows)
    ticked = sum(row.chosen for row in found.rows) if ticked is None else ticked
    places = ngettext("{n} place", "{n} places", n).format(n=n)
    chapters = ngettext("{n} chapter", "{n} chapters", found.chapters).format(n=found.chapters)
    message = _("{places} in {chapters}, {n} ticked. Patches by rule cost nothing.")
    parts = [message.format(places=places, chapters=chapters, n=ticked), settled]
    if found.kept:
        parts.append(_("Names that are not changed: {names}.").format(names=_(", ").join(found.kept)))
    if found.taken:
        parts.append(_("Already a name in the book: {names}.").format(names=_(", ").join(found.taken)))
    if found.unsaved:
        parts += [unsaved_words(found.unsaved), _("Save it first: until then, nothing is applied there.")]
    return sentences(*parts)


def unread_words(n: int) -> str:
    """The number of answers of the model that could not be read."""
    return ngettext("{n} answer could not be read.", "{n} answers could not be read.", n).format(n=n)
