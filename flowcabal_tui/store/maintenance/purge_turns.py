"""Purges the turns of conversations that repeat a text or quote its chapter. In the writer's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from flowcabal_tui.domain.conversation import Turn
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.store.conversation.conversations import turns_in


def forget_turns_of_chapter(connection: sqlite3.Connection, chapter: ChapterId) -> int:
    """Deletes turns that quote the chapter, send it, or had permission to change it. Returns their number."""

    def concerns(turn: Turn) -> bool:
        quoted = {each.chapter for each in turn.citations}
        sent = {each.target for each in turn.chips}
        return chapter in quoted | sent or (turn.scope is not None and turn.scope.target == chapter)

    return _forget(connection, concerns)


def forget_turns_that(connection: sqlite3.Connection, repeats: Callable[[str], bool]) -> int:
    """Deletes turns with a question, answer or tool text for which `repeats` is true. Returns their number."""

    def says(turn: Turn) -> bool:
        words = (turn.asked, turn.answer, *(text for each in turn.used for text in (each.arguments, each.said)))
        return any(map(repeats, words))

    return _forget(connection, says)


def _forget(connection: sqlite3.Connection, wanted: Callable[[Turn], bool]) -> int:
    """Deletes turns. A conversation titled after a deleted question has no title until the next one."""
    rows = connection.execute("SELECT conversation, number, body FROM turn").fetchall()
    gone = [(conversation, number) for conversation, number, turn in turns_in(rows) if wanted(turn)]
    connection.executemany("DELETE FROM turn WHERE conversation=? AND number=?", gone)
    connection.executemany("DELETE FROM turn_piece WHERE conversation=? AND turn=?", gone)
    connection.executemany("UPDATE conversation SET title='' WHERE number=?", [(number,) for number, _turn in gone])
    connection.execute(
        "DELETE FROM conversation WHERE title='' AND number NOT IN (SELECT conversation FROM turn)",
    )
    return len(gone)
