"""Commands and events of conversations with the book."""

from __future__ import annotations

from typing import ClassVar

from flowcabal_tui.domain.conversation import (
    Chip,
    ConversationId,
    ConversationLevel,
    PermissionOption,
    Scope,
    TurnState,
)
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class StartConversation(Command):
    """Starts a conversation, at the level "ask". The result is its id."""

    type: ClassVar[str] = "conversation:new"
    title: str = ""


@dataclass(frozen=True, slots=True)
class AskBook(Command):
    """Asks a question in a conversation. It waits while an earlier question is being answered.

    The result is the number of the turn, once it is answered.
    """

    type: ClassVar[str] = "conversation:prompt"
    order: ClassVar[Order] = "beside"
    conversation: ConversationId
    text: str
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class SendWaiting(Command):
    """Sends a question that has been waiting since a stop or the end of the program, or repeats one that was cut
    off.
    """

    type: ClassVar[str] = "conversation:resume"
    order: ClassVar[Order] = "beside"
    conversation: ConversationId
    turn: int


@dataclass(frozen=True, slots=True)
class StopAnswer(Command):
    """Stops the running answer at once; the part received so far is kept, and later questions are not sent."""

    type: ClassVar[str] = "conversation:cancel"
    order: ClassVar[Order] = "at once"
    conversation: ConversationId


@dataclass(frozen=True, slots=True)
class SetLevel(Command):
    """Sets the permissions of a conversation from the next question on; "do" needs a scope and is reset when the
    program ends.
    """

    type: ClassVar[str] = "conversation:mode"
    conversation: ConversationId
    level: ConversationLevel
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class AnswerPermission(Command):
    """Grants or refuses the permission that a call of a turn requests: a run or a build. The result is the id of what
    was started."""

    type: ClassVar[str] = "conversation:permit"
    order: ClassVar[Order] = "beside"
    conversation: ConversationId
    turn: int
    call: str
    option: PermissionOption


@dataclass(frozen=True, slots=True)
class DeleteConversation(Command):
    """Deletes a conversation with all its turns; it cannot be undone."""

    type: ClassVar[str] = "conversation:delete"
    conversation: ConversationId


@event
class AnswerStreaming(Event):
    """A piece of an answer at a character offset; pieces may be coalesced."""

    type: ClassVar[str] = "conversation:text"
    conversation: ConversationId
    turn: int
    offset: int
    chunk: str


@event
class TurnChanged(Event):
    """A turn began, used a tool, or ended; clients must read it again. `turn` 0: the conversation itself changed."""

    type: ClassVar[str] = "conversation:turn"
    conversation: ConversationId
    turn: int
    state: TurnState = "completed"
