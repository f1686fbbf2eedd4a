"""The user's words for a logged change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.changes import ChangeKind, LoggedChange
from flowcabal_tui.domain.manuscript import ChapterVersion
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import AUTHORS

_KINDS: Final[Mapping[ChangeKind, str]] = {
    "replace": mark("words replaced"),
    "split": mark("chapter split: {title}"),
    "merge": mark("chapters merged: {title}"),
    "add": mark("chapter added: {title}"),
    "move": mark("chapter moved: {title}"),
    "rename": mark("chapter renamed: {title}"),
    "delete": mark("chapter deleted: {title}"),
    "undelete": mark("chapter restored: {title}"),
    "import": mark("chapters imported"),
    "forget": mark("keep undone"),
    "restore": mark("output kept again"),
    "review": mark("names or texts changed in the whole book"),
    "undo": mark("undo"),
    "older": mark("older version restored: {title}"),
}


def version_words(version: ChapterVersion) -> str:
    """The origin of a version: its author, or the change of a kept output that rebuilt it."""
    return _(_KINDS[version.rebuilt]) if version.rebuilt else _(AUTHORS[version.author])


def change_words(change: LoggedChange, listed: Sequence[LoggedChange] = ()) -> str:
    """A description of the change, without its extent. For an undo, `listed` holds the change that it undid."""
    undid = next((each for each in listed if change.kind == "undo" and str(each.generation) == change.subject), None)
    if undid is not None:
        return _("undone: {change}").format(change=change_words(undid))
    if change.kind in ("replace", "review") and change.note:
        return clean_line(change.note)
    return _(_KINDS[change.kind]).format(title=clean_line(change.title))


def change_extent(change: LoggedChange) -> str:
    """The number of chapters in which the change wrote or moved something."""
    return ngettext("{n} chapter", "{n} chapters", change.chapters).format(n=change.chapters)
