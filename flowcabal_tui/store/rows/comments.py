"""Comments as rows, in the writer's thread: storing them, and moving them with the commented text."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from flowcabal_tui.domain.comments import Comment, CommentId
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.moved_text import MovedText
from flowcabal_tui.domain.text import clean, clean_line, nearest
from flowcabal_tui.store.file.reading import decodes, readable

FIELDS: Final = "chapter, words, kind, quotation, start, end, author, resolved, lost, at, number"
_PLACE: Final = "UPDATE comment SET start=?, end=?, quotation=?, lost=? WHERE number=?"


@decodes
def comment_of(row: Sequence[Any]) -> Comment:
    """A comment from a row of FIELDS."""
    chapter, words, kind, quotation, start, end, author, resolved, lost, at, number = row
    when = datetime.fromisoformat(at) if at else None
    made = (author, bool(resolved), bool(lost), when, CommentId(number))
    return Comment(ChapterId(chapter), words, kind, quotation, start, end, *made)


def add_comments(connection: sqlite3.Connection, comments: Iterable[Comment], at: str) -> list[CommentId]:
    """Stores new comments; `at` is the time for those without one."""
    ids = []
    for new in comments:
        values = (new.chapter, clean(new.words).strip(), new.kind, clean(new.quotation), new.start, new.end)
        when = new.at.isoformat() if new.at else at
        row = connection.execute(
            "INSERT INTO comment (chapter, words, kind, quotation, start, end, author, resolved, lost, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, clean_line(new.author), new.resolved, new.lost, when),
        )
        ids.append(CommentId(row.lastrowid or 0))
    return ids


def settle_comments(connection: sqlite3.Connection, chapter: str, before: Callable[[], str], text: str) -> None:
    """Updates comments after a new text of a chapter: places move with their words; a comment without its words is lost
    until they return. `before` gives the earlier text, which the places refer to."""
    rows = connection.execute(f"SELECT {FIELDS} FROM comment WHERE chapter=? AND quotation<>''", (chapter,)).fetchall()
    if not rows:
        return
    old = before()
    moved = MovedText(old, text)
    for comment in readable(comment_of, rows):
        place = None
        if not comment.lost and old[comment.start : comment.end] == comment.quotation:
            place = moved.place(comment.start, comment.end)
        elif (at := nearest(text, comment.quotation, comment.start)) >= 0:
            place = at, at + len(comment.quotation)
        _put_place(connection, comment, place, text)


def move_comments(connection: sqlite3.Connection, chapter: str, other: str, text: str, start: int, shift: int) -> None:
    """Moves the comments of a chapter from the character `start` on to another chapter, whose new text is `text`, by
    `shift` characters. A comment whose words are not there is lost."""
    rows = connection.execute(
        f"SELECT {FIELDS} FROM comment WHERE chapter=? AND quotation<>'' AND start>=?", (chapter, start)
    ).fetchall()
    for comment in readable(comment_of, rows):
        connection.execute("UPDATE comment SET chapter=? WHERE number=?", (other, comment.id))
        at = nearest(text, comment.quotation, max(0, comment.start + shift))
        place = (at, at + len(comment.quotation)) if at >= 0 else None
        _put_place(connection, comment, place, text)


def forget_quoted(connection: sqlite3.Connection, chapter: str, part: str) -> None:
    """Empties the quotations of lost comments that occur in the purged text `part`; the comments stay."""
    connection.execute(
        "UPDATE comment SET quotation='', start=0, end=0 WHERE chapter=? AND lost AND instr(?, quotation)",
        (chapter, part),
    )


def _put_place(connection: sqlite3.Connection, comment: Comment, place: tuple[int, int] | None, text: str) -> None:
    if place is None:
        connection.execute("UPDATE comment SET lost=1 WHERE number=?", (comment.id,))
    else:
        start, end = place
        connection.execute(_PLACE, (start, end, text[start:end], 0, comment.id))
