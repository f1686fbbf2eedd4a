"""Commands and events of a revision: comments, locked chapters, passes."""

from __future__ import annotations

from flowcabal_tui.domain.comments import CommentId, CommentKind
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.revision import WHOLE, PassId, RevisionPass
from flowcabal_tui.protocol.base import Command, Event


class AddComment(Command, type="comment:add"):
    """Adds a comment to `quotation`, the words at or nearest to the character `start`; "": to the whole chapter.

    Words that only the unsaved text has get their place when it is saved. The result is the comment's id.
    """

    chapter: ChapterId
    words: str
    kind: CommentKind = "note"
    quotation: str = ""
    start: int = 0


class EditComments(Command, type="comment:edit"):
    """Changes words, kind or state of comments; None leaves a field unchanged."""

    comments: tuple[CommentId, ...]
    words: str | None = None
    kind: CommentKind | None = None
    resolved: bool | None = None


class RemoveComments(Command, type="comment:remove"):
    """Removes comments for good."""

    comments: tuple[CommentId, ...]


class LockChapters(Command, type="chapter:lock"):
    """Locks chapters, so that no command changes or removes their texts until they are unlocked; or unlocks them."""

    chapters: tuple[ChapterId, ...]
    locked: bool = True


class PutPasses(Command, type="revision:passes"):
    """Replaces the passes of the book by these, in this order; ticks of removed ones are deleted."""

    passes: tuple[RevisionPass, ...]


class TickPass(Command, type="revision:tick"):
    """Ticks items of a pass's checklist for a chapter ("": the chapter is done), or removes the ticks."""

    of: PassId
    chapter: ChapterId
    items: tuple[str, ...] = (WHOLE,)
    on: bool = True


class RevisionChanged(Event, type="revision:changed"):
    """Chapters were locked or unlocked, passes changed or ticked."""

    chapter: ChapterId | None = None


class CommentsChanged(Event, type="comment:changed"):
    """Comments were added, changed or removed."""

    chapter: ChapterId | None = None
