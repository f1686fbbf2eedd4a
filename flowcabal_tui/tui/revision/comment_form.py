"""The form of a comment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment, CommentKind
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable
from flowcabal_tui.tui.shared.words import one_line

_TITLE = 200


@dataclass(frozen=True, slots=True)
class Noted:
    """The typed comment."""

    words: str
    kind: CommentKind


def comment_form(quotation: str, known: Comment | None = None) -> FormScreen[Noted]:
    """Asks for the words and the kind of a comment on a passage ("": on the whole chapter)."""
    title = _("Comment on “{words}”").format(words=quotable(one_line(quotation, _TITLE)))
    fields = (
        Field("words", _("Comment"), known.words if known else ""),
        Field(
            "kind",
            _("Kind"),
            known.kind if known else "note",
            choices=tuple((kind, _(words)) for kind, words in COMMENT_KINDS.items()),
        ),
    )
    return FormScreen(title if quotation else _("Comment on the whole chapter"), fields, _noted)


def _noted(typed: Typed) -> Noted:
    words = typed.text("words")
    if not words:
        raise Unreadable(_("A comment needs words."))
    return Noted(words, cast(CommentKind, typed.text("kind")))
