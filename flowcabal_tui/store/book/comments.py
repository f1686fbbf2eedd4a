"""The comments of the book."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from flowcabal_tui.domain.comments import Comment, CommentId, CommentKind
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.rows.comments import FIELDS, add_comments, comment_of
from flowcabal_tui.store.rows.note_words import NoteWord, forget_note_words, restore_word
from flowcabal_tui.store.rows.texts import chapter_now

_IN_BOOK = """SELECT {fields} FROM comment JOIN place USING (chapter) WHERE NOT deleted AND generation=
    (SELECT max(generation) FROM place AS other WHERE other.chapter=comment.chapter)
    {readers} ORDER BY position, start, comment.number"""
_NOTES = _IN_BOOK.replace("WHERE", "LEFT JOIN note_word USING (number) WHERE", 1)
_COMMENT = ", ".join(f"comment.{name.strip()}" for name in FIELDS.split(","))


class Comments(StorePart):
    """Each change is one transaction."""

    async def all(self) -> tuple[Comment, ...]:
        """Comments on chapters that are in the book, in story order."""
        rows = await self._database.rows(_IN_BOOK.format(fields=_COMMENT, readers=""))
        return self._database.readable(mark("comments"), comment_of, rows)

    async def of_readers(self) -> tuple[tuple[Comment, NoteWord | None], ...]:
        """Comments of readers on chapters that are in the book, in story order, each with the writer's decision
        on it."""
        fields = f"{_COMMENT}, note_word.state, note_word.word"
        rows = await self._database.rows(_NOTES.format(fields=fields, readers="AND author<>''"))
        return self._database.readable(mark("comments"), _note_of, rows)

    @transaction
    def add(self, connection: Connection, comment: Comment, word: NoteWord | None = None) -> CommentId:
        """Stores a new comment; one of another database with the writer's decision on it. Raises Gone for an unknown
        chapter."""
        at = self._now()
        chapter_now(connection, comment.chapter)
        (identity,) = add_comments(connection, [comment], at)
        if word is not None:
            restore_word(connection, identity, word)
        return identity

    @transaction
    def edit(
        self,
        connection: Connection,
        ids: Sequence[CommentId],
        words: str | None = None,
        kind: CommentKind | None = None,
        resolved: bool | None = None,
    ) -> None:
        """Changes the given fields; None keeps a field. Raises Gone for an unknown id and then changes nothing.

        A note that is resolved or reopened here loses the decision made in the list of findings.
        """
        for identity in ids:
            _require(connection, identity)
            connection.execute(
                "UPDATE comment SET words=coalesce(?, words), kind=coalesce(?, kind),"
                " resolved=coalesce(?, resolved) WHERE number=?",
                (None if words is None else clean(words).strip(), kind, resolved, identity),
            )
        if resolved is not None:
            forget_note_words(connection, ids)

    @transaction
    def remove(self, connection: Connection, ids: Sequence[CommentId]) -> None:
        """Deletes comments permanently. Raises Gone for an unknown id and then deletes nothing."""
        for identity in ids:
            _require(connection, identity)
            connection.execute("DELETE FROM comment WHERE number=?", (identity,))
        forget_note_words(connection, ids)


def _require(connection: Connection, identity: CommentId) -> None:
    if not connection.execute("SELECT 1 FROM comment WHERE number=?", (identity,)).fetchone():
        raise Gone(identity)


def _note_of(row: Row) -> tuple[Comment, NoteWord | None]:
    *comment, state, word = row
    return comment_of(comment), NoteWord(state, word) if state else None
