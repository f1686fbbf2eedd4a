"""The writer's decisions on notes of readers as rows, in the writer's thread. They are numbered together with decisions
on proposals."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from flowcabal_tui.domain.comments import CommentId
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.proposals import ProposalState
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.store.file.connection import one_row
from flowcabal_tui.store.file.reading import read_json

LAST_DECISION: Final = "max(coalesce((SELECT max(decision) FROM proposal), 0)," \
    " coalesce((SELECT max(decision) FROM note_word), 0))"  # fmt: skip
"""SQL for the number of the last decision that can be undone; 0: there is none."""
Written = Sequence[tuple[str, Generation]]
"""Records that a decision wrote, with their generations."""
_STATE: Final = """coalesce((SELECT state FROM note_word WHERE note_word.number=comment.number),
    CASE WHEN resolved THEN 'resolved' ELSE 'waiting' END)"""
_OPEN: Final = "('waiting', 'later')"


@dataclass(frozen=True, slots=True)
class NoteWord:
    """The state of a note that the writer has decided, and the reason."""

    state: ProposalState
    word: str = ""


def decide_notes(
    connection: sqlite3.Connection,
    ids: Iterable[CommentId],
    state: ProposalState,
    reason: str,
    number: int,
    written: Written = (),
) -> None:
    """Stores the writer's verdict on notes as part of the decision with this number. Raises Gone for an unknown id."""
    for identity in ids:
        row = one_row(connection, f"SELECT {_STATE} FROM comment WHERE number=?", (identity,), identity)
        connection.execute(
            "INSERT OR REPLACE INTO note_word VALUES (?, ?, ?, ?, ?, ?)",
            (identity, state, row[0], clean(reason).strip(), number, json.dumps(written)),
        )
        _resolve(connection, identity)


def restore_word(connection: sqlite3.Connection, identity: CommentId, decision: NoteWord) -> None:
    """Stores a decision of another database, which cannot be undone here."""
    values = (identity, decision.state, "waiting", clean(decision.word).strip())
    connection.execute("INSERT INTO note_word VALUES (?, ?, ?, ?, NULL, '[]')", values)
    _resolve(connection, identity)


def undo_notes(connection: sqlite3.Connection, number: int) -> Written:
    """Undoes a decision on notes. Returns the records that it wrote for them."""
    rows = connection.execute("SELECT number, written FROM note_word WHERE decision=?", (number,)).fetchall()
    connection.execute(
        "UPDATE note_word SET state=was, was='', word='', decision=NULL, written='[]' WHERE decision=?", (number,)
    )
    for identity, _written in rows:
        _resolve(connection, identity)
    return [
        (record, Generation(made))
        for _identity, body in rows
        for record, made in read_json(list[tuple[str, Generation]], body)
    ]


def forget_note_words(connection: sqlite3.Connection, ids: Iterable[CommentId]) -> None:
    """Deletes decisions on comments that were deleted, or resolved or reopened by hand, which no undo affects."""
    connection.executemany("DELETE FROM note_word WHERE number=?", [(identity,) for identity in ids])


def _resolve(connection: sqlite3.Connection, identity: int) -> None:
    connection.execute(f"UPDATE comment SET resolved={_STATE} NOT IN {_OPEN} WHERE number=?", (identity,))
