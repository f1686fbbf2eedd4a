"""Changes of the whole book that are logged and can be undone: words replaced, chapters moved, files imported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from flowcabal_tui.domain.ids import Generation

ChangeKind = Literal[
    "replace", "split", "merge", "add", "move", "rename", "delete", "undelete", "import",
    "forget", "restore", "review", "undo",
]  # fmt: skip
"""`review` is what a review of a change of the book wrote (`domain/impact.py`), `forget` undoes a keep, `restore` keeps
it again; `undo` is the undoing of another change, and can be undone too."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One change, as it is listed."""

    generation: Generation
    """Its id."""
    kind: ChangeKind
    title: str
    """Of the chapter that it is about, as it was called before; "" when it is about several."""
    note: str
    """What its versions say of it, for instance which words were replaced."""
    chapters: int
    """How many chapters it wrote or moved."""
    at: datetime
    undone: bool
    subject: str = ""
    """The id of that chapter, of the kept output, or the generation that an undo undid."""
