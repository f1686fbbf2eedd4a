"""Commands and events of conversations with the book."""

from __future__ import annotations

from flowcabal_tui.domain.conversation import (
    Chip,
    ConversationId,
    ConversationLevel,
    PermissionOption,
    Scope,
    TurnState,
)
from flowcabal_tui.protocol.base import Command, Event


class StartConversation(Command, type="conversation:new"):
    """Starts a conversation, at the level "ask". The result is its id."""

    title: str = ""


class AskBook(Command, type="conversation:prompt", when="beside"):
    """Asks a question in a conversation. It waits while an earlier question is being answered.

    The result is the number of the turn, once it is answered.
    """

    conversation: ConversationId
    text: str
    chips: tuple[Chip, ...] = ()


class SendWaiting(Command, type="conversation:resume", when="beside"):
    """Sends a question that has been waiting since a stop or the end of the program, or repeats one that was cut
    off.
    """

    conversation: ConversationId
    turn: int


class StopAnswer(Command, type="conversation:cancel", when="at once"):
    """Stops the running answer at once; the part received so far is kept, and later questions are not sent."""

    conversation: ConversationId


class SetLevel(Command, type="conversation:mode"):
    """Sets the permissions of a conversation from the next question on; "do" needs a scope and is reset when the
    program ends.
    """

    conversation: ConversationId
    level: ConversationLevel
    scope: Scope | None = None


class AnswerPermission(Command, type="conversation:permit", when="beside"):
    """Grants or refuses the permission that a call of a turn requests. The result is the id of the started run or
    build, or the number of open findings after a check."""

    conversation: ConversationId
    turn: int
    call: str
    option: PermissionOption


class DeleteConversation(Command, type="conversation:delete"):
    """Deletes a conversation with all its turns; it cannot be undone."""

    conversation: ConversationId


class AnswerStreaming(Event, type="conversation:text"):
    """A piece of an answer at a character offset; pieces may be coalesced."""

    conversation: ConversationId
    turn: int
    offset: int
    chunk: str


class TurnChanged(Event, type="conversation:turn"):
    """A turn began, used a tool, or ended; clients must read it again. `turn` 0: the conversation itself changed."""

    conversation: ConversationId
    turn: int
    state: TurnState = "completed"
