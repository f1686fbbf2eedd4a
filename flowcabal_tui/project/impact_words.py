"""The user's words for impact reviews, for every caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.impact import Directness, Impact, ImpactRow
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Finding, TextEdit, TitleEdit
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, wording
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark, ngettext

_DIRECTNESS: Final[Mapping[Directness, str]] = {
    "name": mark("name"),
    "record": mark("record"),
    "value": mark("same value"),
    "subject": mark("same subject"),
}


def directness(row: ImpactRow) -> str:
    """How directly a place rests on the change."""
    return _(_DIRECTNESS[row.directness])


def answer(row: ImpactRow) -> str:
    """What is proposed for a place."""
    return _("patch") if row.answer == "patch" else _("you decide")


def proposed(row: ImpactRow) -> str:
    """The difference of a patch, or why a place waits for the writer, on one line."""
    proposal = row.proposal
    match proposal.difference.after:
        case TextEdit(before=before, after=after) | TitleEdit(before=before, after=after):
            return difference(before, after)
        case Entity(name=name, aliases=aliases):
            return difference(row.line, " = ".join((name, *aliases)))
        case Finding(explanation=explanation):
            return clean_line(explanation)
        case (Relation() | Fact() | Promise() | Moment()) as record:
            return difference(row.line, wording(record))
    return ""


def difference(before: str, after: str) -> str:
    """Old and new words on one line."""
    return f"[-{clean_line(before)}-]{{+{clean_line(after)}+}}"


def impact_words(found: Impact) -> str:
    """How many places rest on the change, and how many are ticked."""
    if found.is_same:
        return _("It still says the same: nothing depends on the change.")
    if not found.rows:
        return _("Nothing in the book depends on the change.")
    n, ticked = len(found.rows), sum(row.chosen for row in found.rows)
    places = ngettext("{n} place", "{n} places", n).format(n=n)
    chapters = ngettext("{n} chapter", "{n} chapters", found.chapters).format(n=found.chapters)
    told = _("{places} in {chapters}, {n} ticked. Patches by rule cost nothing.")
    words = told.format(places=places, chapters=chapters, n=ticked)
    if not found.taken:
        return words
    return words + " " + _("Already a name in the book: {names}.").format(names=", ".join(found.taken))
