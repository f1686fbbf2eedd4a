"""Conversations and their turns. Arriving answers are journalled piece by piece, so that they survive a kill."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.conversation import (
    Conversation,
    ConversationId,
    ConversationLevel,
    Scope,
    Turn,
    after_restart,
)
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import pack, unpack
from flowcabal_tui.store.file.connection import Row, StorePart, transaction
from flowcabal_tui.store.file.reading import decodes, read_json

TITLE: Final = 80
"""Characters of the first question in the title of a conversation."""
_PREFIX: Final = "talk-"
_FIELDS: Final = """number, title, level, scope, at, changed,
    (SELECT count(*) FROM turn WHERE turn.conversation=conversation.number)"""


class ConversationRows(StorePart):
    """Conversations, newest first, and the turns of each, oldest first."""

    async def begin(self) -> None:
        """Settles turns after a kill: the text that had arrived becomes the answer, and no turn is in progress."""

        def settle(connection: Connection) -> None:
            rows = connection.execute("SELECT conversation, number, body FROM turn WHERE state='in_progress'")
            for conversation, number, body in rows.fetchall():
                turn = read_json(Turn, unpack(body))
                answer = turn.answer + _pieces(connection, conversation, number)
                _put(connection, replace(turn, state="completed", stop="cancelled", answer=answer))
            connection.execute("DELETE FROM turn_piece")

        if await self._database.row("SELECT 1 FROM turn WHERE state='in_progress' LIMIT 1"):
            await self._database.do(settle)

    @transaction
    def start(self, connection: Connection, title: str = "") -> Conversation:
        """A new conversation, at the level "ask"."""
        at, shown = self._clock(), clean_line(title)[:TITLE]
        row = connection.execute(
            "INSERT INTO conversation (title, level, scope, at, changed) VALUES (?, 'ask', '', ?, ?)",
            (shown, at.isoformat(), at.isoformat()),
        )
        return Conversation(ConversationId(f"{_PREFIX}{row.lastrowid or 0}"), shown, at, at)

    async def all(self, words: str = "") -> tuple[Conversation, ...]:
        """Conversations whose title, questions or answers contain the words, ignoring case; "": all."""
        rows = await self._database.rows(f"SELECT {_FIELDS} FROM conversation ORDER BY changed DESC, number DESC")
        wanted = clean(words).strip().casefold()
        if not wanted:
            return self._database.readable(mark("conversations"), _conversation, rows)
        bodies = await self._database.rows("SELECT conversation, body FROM turn")
        turns = ((number, read_json(Turn, unpack(body))) for number, body in bodies)
        holding = {number for number, turn in turns if wanted in f"{turn.asked}\n{turn.answer}".casefold()}
        return self._database.readable(
            mark("conversations"),
            _conversation,
            (row for row in rows if row[0] in holding or wanted in str(row[1]).casefold()),
        )

    async def get(self, identity: ConversationId) -> Conversation:
        """One conversation. Raises Gone."""
        one = f"SELECT {_FIELDS} FROM conversation WHERE number=?"
        return _conversation(await self._database.one(one, (_number(identity),), identity))

    async def turns(self, identity: ConversationId) -> tuple[Turn, ...]:
        """All turns, oldest first; an unfinished one has the text that has arrived."""
        number = _number(identity)
        rows = await self._database.rows("SELECT body FROM turn WHERE conversation=? ORDER BY number", (number,))
        return tuple([await self._with_pieces(read_json(Turn, unpack(body))) for (body,) in rows])

    async def turn(self, identity: ConversationId, number: int) -> Turn:
        """One turn. Raises Gone."""
        body = "SELECT body FROM turn WHERE conversation=? AND number=?"
        row = await self._database.one(body, (_number(identity), number), f"{identity}/{number}")
        return await self._with_pieces(read_json(Turn, unpack(row[0])))

    async def _with_pieces(self, turn: Turn) -> Turn:
        if turn.state != "in_progress":
            return turn
        rows = await self._database.rows(
            "SELECT text FROM turn_piece WHERE conversation=? AND turn=? ORDER BY number",
            (_number(turn.conversation), turn.number),
        )
        return replace(turn, answer=turn.answer + "".join(text for (text,) in rows))

    @transaction
    def add(self, connection: Connection, turn: Turn) -> Turn:
        """Adds a turn and returns it with its number. The first one names its conversation. Raises Gone."""
        number, at = _number(turn.conversation), turn.at.isoformat()
        title = clean_line(turn.asked)[:TITLE]
        changed = connection.execute(
            "UPDATE conversation SET changed=?, title=CASE title WHEN '' THEN ? ELSE title END WHERE number=?",
            (at, title, number),
        )
        if not changed.rowcount:
            raise Gone(turn.conversation)
        (last,) = connection.execute(
            "SELECT coalesce(max(number), 0) FROM turn WHERE conversation=?", (number,)
        ).fetchone()
        new = replace(turn, number=last + 1, asked=clean(turn.asked))
        _put(connection, new)
        return new

    @transaction
    def put(self, connection: Connection, turn: Turn) -> None:
        """Stores the present state of a turn; its `answer` includes the journalled text. On disk when this returns."""
        place = (_number(turn.conversation), turn.number)
        if not connection.execute("SELECT 1 FROM turn WHERE conversation=? AND number=?", place).fetchone():
            return  # it was deleted meanwhile
        connection.execute("DELETE FROM turn_piece WHERE conversation=? AND turn=?", place)
        _put(connection, turn)

    def piece(self, identity: ConversationId, turn: int, text: str) -> None:
        """Queues a piece of the answer for the journal; does not wait."""
        row = (_number(identity), turn, text)
        self._database.writer.post(
            lambda connection: connection.execute(
                "INSERT INTO turn_piece (conversation, turn, text) VALUES (?, ?, ?)", row
            ).close()
        )

    @transaction
    def set_level(
        self, connection: Connection, identity: ConversationId, level: ConversationLevel, scope: Scope | None
    ) -> None:
        """Stores the level and scope with which the conversation is reopened. Raises Gone."""
        row = (after_restart(level), to_json(scope) if scope else "", _number(identity))
        if not connection.execute("UPDATE conversation SET level=?, scope=? WHERE number=?", row).rowcount:
            raise Gone(identity)

    @transaction
    def delete(self, connection: Connection, identity: ConversationId) -> None:
        """Deletes a conversation with all its turns. Raises Gone."""
        number = _number(identity)
        if not connection.execute("DELETE FROM conversation WHERE number=?", (number,)).rowcount:
            raise Gone(identity)
        for table in ("turn", "turn_piece"):
            connection.execute(f"DELETE FROM {table} WHERE conversation=?", (number,))


def turns_in(rows: Iterable[Row]) -> Iterable[tuple[int, int, Turn]]:
    """Conversation, number and turn of rows of these three columns."""
    return ((conversation, number, read_json(Turn, unpack(body))) for conversation, number, body in rows)


def _put(connection: Connection, turn: Turn) -> None:
    row = (_number(turn.conversation), turn.number, turn.state, pack(to_json(turn)))
    connection.execute("INSERT OR REPLACE INTO turn (conversation, number, state, body) VALUES (?, ?, ?, ?)", row)


def _pieces(connection: Connection, conversation: int, turn: int) -> str:
    rows = connection.execute(
        "SELECT text FROM turn_piece WHERE conversation=? AND turn=? ORDER BY number", (conversation, turn)
    )
    return "".join(text for (text,) in rows)


def _number(identity: ConversationId) -> int:
    """The number in an id. Raises Gone for an invalid id."""
    digits = identity.removeprefix(_PREFIX)
    if not identity.startswith(_PREFIX) or not digits.isdecimal() or len(digits) > 18:
        raise Gone(identity)
    return int(digits)


@decodes
def _conversation(row: Row) -> Conversation:
    number, title, level, scope, at, changed, turns = row
    where = read_json(Scope, scope) if scope else None
    began, last = datetime.fromisoformat(at), datetime.fromisoformat(changed)
    identity, reopened = ConversationId(f"{_PREFIX}{number}"), after_restart(level)  # a stranger may have written "do"
    return Conversation(identity, clean_line(title), began, last, reopened, where, turns)
