"""Changes of the whole book that are logged and can be undone: words replaced, chapters moved, files imported."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.value_class import dataclass

ChangeKind = Literal[
    "replace", "split", "merge", "add", "move", "rename", "delete", "undelete", "import",
    "forget", "restore", "review", "undo", "older",
]  # fmt: skip
"""`review`: written by the review of a book-wide change (`domain/impact.py`); `forget`: undid a keep; `restore`: kept
it again; `undo`: undid another change, and can itself be undone; `older`: made an older version of a chapter the
newest."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A logged change as a row of a list."""

    generation: Generation
    """Its id."""
    kind: ChangeKind
    title: str
    """The earlier title of its chapter; "" when the change affects several."""
    note: str
    """The note of its versions, for instance which words were replaced."""
    chapters: int
    """The number of chapters that it wrote or moved."""
    at: datetime
    undone: bool
    subject: str = ""
    """The id of its chapter or kept output, or the generation that an undo undid."""
