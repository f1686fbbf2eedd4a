"""A conversation with the book: questions, answers, and the agent's tool calls.

The levels are our own; states, kinds of tools, permissions and stop reasons use the names of the Agent Client Protocol
(agentclientprotocol.com, "Prompt Turn" and "Tool Calls").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, NewType

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.domain.value_class import dataclass

ConversationId = NewType("ConversationId", str)
ConversationLevel = Literal["ask", "suggest", "do"]
"""ask: reads only; suggest: proposes changes that wait for the writer; do: applies changes within its scope at once."""
ScopeKind = Literal["chapter", "lore", "workflow"]
ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
PermissionOption = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]
TurnState = ToolStatus
"""pending: typed and not sent; in_progress: the model is answering; failed: with an error."""
ChipKind = Literal["chapter", "name", "selection"]
MOST_APPLIED: Final = 20
"""Changes that one turn may apply at the level "do"; further ones wait for the writer."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The chapter, workflow or lore that the level "do" may change. `target` is the id of the chapter or workflow; the
    lore has none."""

    kind: ScopeKind
    target: str = ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A part of the book that the writer attaches to a question.

    A chapter (its summary, or `whole`), a name, or the characters from `start` up to `end` of a chapter; `text` holds
    the words on the screen while they are not saved.
    """

    kind: ChipKind
    target: str
    start: int = 0
    end: int = 0
    whole: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class ChipCost:
    """The tokens that a chip adds to a question."""

    chip: Chip
    title: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that the answer cites: the characters from `start` up to `end` of the model's text.

    `at` and `until` are the offsets of the quotation in the chapter. `found`: the chapter contains it verbatim;
    otherwise there is no place to open.
    """

    start: int
    end: int
    chapter: ChapterId
    quotation: str
    at: int = 0
    until: int = 0
    found: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer, without its citations, and the places that support it (empty: unsupported)."""

    text: str
    places: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Permission:
    """A question to the writer before a run, a build or the check of a chapter by the agents' model, with the price in
    words.

    `limit` holds a run or check to that price. `answer` is "" while the question is open; `made` is the id of the run
    or build, or the number of waiting findings after a check. A check has no workflow. `seal` proves that this user's
    program asked it.
    """

    kind: Literal["run", "build", "check"]
    workflow: str
    chapter: ChapterId | None = None
    words: str = ""
    price: str = ""
    limit: SpendLimit | None = None
    answer: PermissionOption | Literal[""] = ""
    made: str = ""
    seal: str = ""


@dataclass(frozen=True, slots=True)
class UsedTool:
    """One tool call with its arguments and result (both shortened). `id` is unique within its turn.

    `proposals` are the ids of its proposals; `applied`: they were applied at once, and each can be undone.
    """

    id: str
    name: str
    kind: ToolKind
    status: ToolStatus
    arguments: str = ""
    said: str = ""
    proposals: tuple[ProposalId, ...] = ()
    applied: bool = False
    permission: Permission | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the writer and its answer. Tokens are those of all calls of the model, failed ones too."""

    conversation: ConversationId
    number: int
    asked: str
    at: datetime
    chips: tuple[Chip, ...] = ()
    level: ConversationLevel = "ask"
    scope: Scope | None = None
    state: TurnState = "pending"
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    used: tuple[UsedTool, ...] = ()
    receipt: Receipt | None = None
    stop: StopReason | Literal[""] = ""
    error: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def with_permission(self, call: str, permission: Permission) -> Turn:
        """The turn with a new state of the permission that a call asks for."""
        used = tuple(replace(each, permission=permission) if each.id == call else each for each in self.used)
        return replace(self, used=used)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of the project. `turns` counts its questions; `changed` is the time of the last one."""

    id: ConversationId
    title: str
    at: datetime
    changed: datetime
    level: ConversationLevel = "ask"
    scope: Scope | None = None
    turns: int = 0


@dataclass(frozen=True, slots=True)
class AskQuote:
    """The cost of a question: the chips, and the tokens and the price of its first call (None: unknown)."""

    chips: tuple[ChipCost, ...]
    tokens: int
    price: str | None
    receipt: Receipt | None = None


def after_restart(level: str) -> ConversationLevel:
    """The level of a conversation that is opened again: never above "suggest"."""
    return "suggest" if level in ("suggest", "do") else "ask"


def applied_of(used: Iterable[UsedTool]) -> int:
    """The number of changes that these calls have applied."""
    return sum(len(each.proposals) for each in used if each.applied)
