"""Comments on passages of a chapter, by the writer or by a reader of an exported document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NewType

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark

CommentId = NewType("CommentId", int)
CommentKind = Literal["note", "question", "todo", "research", "idea"]
COMMENT_KINDS: Final[Mapping[CommentKind, str]] = {
    "note": mark("note"),
    "question": mark("question"),
    "todo": mark("to do"),
    "research": mark("to look up"),
    "idea": mark("idea"),
}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on `quotation`: the characters from `start` to `end` of the chapter's text.

    Without a quotation it concerns the whole chapter. `lost`: the text no longer contains the quoted words; the comment
    gets its place back when they return. `author` is "" for the writer. `id` 0: not stored yet.
    """

    chapter: ChapterId
    words: str
    kind: CommentKind = "note"
    quotation: str = ""
    start: int = 0
    end: int = 0
    author: str = ""
    resolved: bool = False
    lost: bool = False
    at: datetime | None = None
    id: CommentId = CommentId(0)


@dataclass(frozen=True, slots=True)
class CommentFilter:
    """Filter of comments: by chapter and kind (empty: any), by words, by resolved or not (None: both).

    `lost`: only comments whose passage no longer exists.
    """

    chapters: tuple[ChapterId, ...] = ()
    kinds: tuple[CommentKind, ...] = ()
    words: str = ""
    resolved: bool | None = False
    lost: bool = False

    def fits(self, comment: Comment) -> bool:
        """True when the filter selects the comment."""
        text = f"{comment.words}\n{comment.quotation}\n{comment.author}".casefold()
        return (
            (not self.chapters or comment.chapter in self.chapters)
            and (not self.kinds or comment.kind in self.kinds)
            and self.words.strip().casefold() in text
            and self.resolved in (None, comment.resolved)
            and comment.lost >= self.lost
        )


def placed(comments: Sequence[Comment], texts: Sequence[tuple[ChapterId, str]]) -> tuple[Comment, ...]:
    """Comments of a document with their chapters and places, found by their quotations, in order.

    A comment whose quotation no chapter contains goes to the chapter of the comment before it.
    """
    found: list[Comment] = []
    row = at = 0
    for each in comments:
        place = _found(each.quotation, texts, row, at) if each.quotation else None
        if place is not None:
            row, at = place
        chapter, text = texts[row]
        words = each.quotation
        if place is not None and not text.startswith(words, at):
            words = words.split("\n")[0].strip()
        end = at + len(words) if place is not None else 0
        start = at if place is not None else 0
        lost = bool(each.quotation) and place is None
        found.append(
            Comment(chapter, each.words, each.kind, words, start, end, each.author, each.resolved, lost, each.at)
        )
    return tuple(found)


def _found(words: str, texts: Sequence[tuple[ChapterId, str]], row: int, at: int) -> tuple[int, int] | None:
    """The first place from the previous one on, else the first of all; the first line of a quotation is enough."""
    first = words.split("\n")[0].strip()
    for wanted in dict.fromkeys((words, first)):
        if not wanted:
            continue
        if (place := texts[row][1].find(wanted, at)) >= 0:
            return row, place
        for number in (*range(row + 1, len(texts)), *range(row + 1)):
            if (place := texts[number][1].find(wanted)) >= 0:
                return number, place
    return None
