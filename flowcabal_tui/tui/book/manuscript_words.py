"""The keys of the manuscript pane, and the line above the text: name, version, and state of the text."""

from __future__ import annotations

from typing import Final, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.book.open_text import OpenText
from flowcabal_tui.tui.shared.name_card import NameCardPanel
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import length_words, one_line
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

Face = Literal["read", "edit", "proposal"]


KEYS: Final[list[BindingType]] = [
    Binding("a", "accept", mark("Accept"), id="manuscript.accept"),
    Binding("x", "reject", mark("Reject"), id="manuscript.reject"),
    Binding("e,enter", "edit", mark("Edit"), id="manuscript.edit-here"),
    Binding("escape", "leave", mark("Leave"), priority=True, id="manuscript.leave"),
    Binding("ctrl+s,f10", "save", mark("Save"), priority=True, id="manuscript.save"),
    Binding("ctrl+r", "rewrite", mark("Rewrite"), priority=True, id="manuscript.rewrite",
            tooltip=mark("Have the selected passage rewritten with an instruction.")),
    Binding("o", "outside", mark("Changed outside"), id="manuscript.outside",
            tooltip=mark("Compare with the chapter's file, which another program changed.")),
    Binding("V", "versions", mark("Versions"), id="manuscript.versions"),
    Binding("w,ctrl+t", "origin", mark("Origins"), show=False, id="manuscript.origin",
            tooltip=mark("The version, run and sources of this paragraph.")),
    Binding("E", "editor", mark("Edit in your own editor"), show=False, id="manuscript.own-editor"),
    Binding("D", "discard", mark("Discard unsaved text"), show=False, id="manuscript.discard"),
    Binding("ctrl+f", "find", mark("Find"), show=False, priority=True, id="manuscript.find"),
    Binding("ctrl+g", "find_next", mark("Find next"), show=False, priority=True, id="manuscript.find-next"),
]  # fmt: skip
FACES: Final[dict[str, tuple[Face, ...]]] = {
    "accept": ("proposal",),
    "reject": ("proposal",),
    "leave": ("edit", "proposal"),
    "edit": ("read",),
    "outside": ("read",),
    "versions": ("read",),
    "discard": ("read",),
    "editor": ("read",),
    "rewrite": ("read", "edit"),
}
"""The faces in which an action is available; an action that is not listed is available in all."""


def is_possible(pane: Widget, face: Face, action: str) -> bool:
    """True when the action is possible in this face. Esc in the card beside the text does not leave the editor."""
    focused = pane.screen.focused if action == "leave" else None
    is_in_card = focused is not None and any(isinstance(node, NameCardPanel) for node in focused.ancestors)
    return face in FACES.get(action, (face,)) and not is_in_card


@dataclass(frozen=True, slots=True)
class PassageProposal:
    """Another version of the passage at `start`; `fits` while the old one is still there."""

    start: int
    end: int
    before: str
    after: str
    fits: bool


def paragraph_with(text: str, place: int) -> tuple[str, int]:
    """The line of `text` that contains the character at `place`, and its start."""
    start, end = paragraph_at(text, place)
    return text[start:end], start


class ProposalAccepted(Request):
    """A proposal was inserted into `text`, the text before the insertion."""

    proposal: PassageProposal
    text: str


class ProposalRefused(Request):
    """The displayed proposal was refused."""


NO_CHAPTER: Final = mark("No chapter is open: `+` in the list of chapters adds one.")


def chapter_head(
    known: OpenText,
    text: str,
    face: Face,
    proposal: PassageProposal | None,
    *,
    is_unsaved: bool,
    is_changed_outside: bool,
    book_language: str,
) -> Content:
    """The heading of a chapter; for a proposal, with the possible answers."""
    chapter = known.chapter
    parts = [f"{chapter.position} {one_line(chapter.title) or _('untitled')}"]
    parts.append(_("version {n}").format(n=chapter.version) if chapter.version else _("nothing written yet"))
    if face != "edit" and text:
        parts.append(length_words(text, book_language))
    if known.is_locked:
        parts.append(_("locked"))
    if is_unsaved:
        parts.append(_("* unsaved, Ctrl+s saves"))
    lines: list[str] = []
    if known.is_outdated and known.base is None:
        lines.append(_("The version that your unsaved text is based on is unknown. Saving shows both texts first."))
    elif known.is_outdated:
        words = _("Your unsaved text is based on version {old}; version {new} is newer. Saving shows both texts first.")
        lines.append(words.format(old=known.base, new=chapter.version))
    if face == "read" and not chapter.version and not text:
        lines.append(_("F5 runs the workflow for it, `e` writes it by hand."))
    if is_changed_outside:
        lines.append(_("Its file was changed outside: `o` compares the two and decides which to use."))
    if face == "proposal" and proposal is not None:
        lines.append(
            _("Proposal: `a` accepts it, `x` leaves the text unchanged.")
            if proposal.fits
            else _("The text was changed in the meantime: the proposal cannot be inserted. `y` copies it, `x` closes.")
        )
    return Content("\n").join([head_words(*parts), *map(key_words, lines)])


def paragraph_at(text: str, place: int) -> tuple[int, int]:
    """The start and end of the paragraph around an offset."""
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, end if end >= 0 else len(text)
