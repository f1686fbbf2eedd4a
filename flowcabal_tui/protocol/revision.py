"""Commands and events of a revision: comments, locked chapters, passes."""

from __future__ import annotations

from typing import ClassVar

from flowcabal_tui.domain.comments import CommentId, CommentKind
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.revision import WHOLE, PassId, RevisionPass
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, event


@dataclass(frozen=True, slots=True)
class AddComment(Command):
    """Adds a comment to `quotation`, the words at or nearest to the character `start`; "": to the whole chapter.

    Words that only the unsaved text has get their place when it is saved. The result is the comment's id.
    """

    type: ClassVar[str] = "comment:add"
    chapter: ChapterId
    words: str
    kind: CommentKind = "note"
    quotation: str = ""
    start: int = 0


@dataclass(frozen=True, slots=True)
class EditComments(Command):
    """Changes words, kind or state of comments; None leaves a field unchanged."""

    type: ClassVar[str] = "comment:edit"
    comments: tuple[CommentId, ...]
    words: str | None = None
    kind: CommentKind | None = None
    resolved: bool | None = None


@dataclass(frozen=True, slots=True)
class RemoveComments(Command):
    """Removes comments for good."""

    type: ClassVar[str] = "comment:remove"
    comments: tuple[CommentId, ...]


@dataclass(frozen=True, slots=True)
class LockChapters(Command):
    """Locks chapters, so that no command changes or removes their texts until they are unlocked; or unlocks them."""

    type: ClassVar[str] = "chapter:lock"
    chapters: tuple[ChapterId, ...]
    locked: bool = True


@dataclass(frozen=True, slots=True)
class PutPasses(Command):
    """Replaces the passes of the book by these, in this order; ticks of removed ones are deleted."""

    type: ClassVar[str] = "revision:passes"
    passes: tuple[RevisionPass, ...]


@dataclass(frozen=True, slots=True)
class TickPass(Command):
    """Ticks items of a pass's checklist for a chapter ("": the chapter is done), or removes the ticks."""

    type: ClassVar[str] = "revision:tick"
    of: PassId
    chapter: ChapterId
    items: tuple[str, ...] = (WHOLE,)
    on: bool = True


@event
class RevisionChanged(Event):
    """Chapters were locked or unlocked, passes changed or ticked."""

    type: ClassVar[str] = "revision:changed"
    chapter: ChapterId | None = None


@event
class CommentsChanged(Event):
    """Comments were added, changed or removed."""

    type: ClassVar[str] = "comment:changed"
    chapter: ChapterId | None = None
