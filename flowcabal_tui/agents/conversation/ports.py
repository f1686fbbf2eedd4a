"""The interfaces that the conversation needs from the rest of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.conversation import Chip, Permission, Turn
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.model_calls import Answer, ModelRequest
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.run import AngleCheck, SpendLimit
from flowcabal_tui.domain.search import SearchHit
from flowcabal_tui.domain.story import Story

SearchPlace = Literal["text", "names", "records", "meaning"]


@dataclass(frozen=True, slots=True)
class SentChip:
    """A chip with its title and the text that is sent for it."""

    chip: Chip
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The Context agent's addition to a question, and its receipt (None: the agent is switched off)."""

    text: str
    receipt: Receipt | None


class TalkingModel(Protocol):
    """A model whose answer can be streamed."""

    async def answer(self, request: ModelRequest, heard: Callable[[str], None]) -> Answer:
        """The whole answer; `heard` is called with each piece of its text. Raises ModelError, BudgetExceeded."""


class BookPort(Protocol):
    """Reads the project without spending or changing anything."""

    @property
    def language(self) -> str:
        """The language of the book."""

    async def chapters(self) -> tuple[Chapter, ...]:
        """The chapters in story order."""

    async def text(self, chapter: ChapterId) -> str:
        """The newest text of a chapter."""

    async def find(self, words: str) -> tuple[ChapterId, Span] | None:
        """The first place in the book with exactly these words; None if there is none."""

    async def search(self, words: str, place: SearchPlace) -> tuple[SearchHit, ...]:
        """The best places for a query."""

    async def entities(self) -> tuple[Entity, ...]:
        """All names."""

    async def story(self) -> Story:
        """Facts, relations, promises and moments."""

    async def profile(self, entity: EntityId) -> str:
        """The note and the profiles of someone or something; "" when there are none."""

    async def book_profile(self, name: str) -> str:
        """The profile of the whole book of this kind, such as "style"; "" when there is none."""

    async def outline(self, chapter: ChapterId) -> str:
        """The outline of a chapter."""

    async def receipt(self, run: str, node: str) -> str:
        """The receipt of a node, in lines ("": of the newest run). Raises FlowCabalError."""

    async def check(self, chapter: ChapterId) -> tuple[AngleCheck, ...]:
        """The findings of the rules for a chapter."""

    async def workflows(self) -> tuple[tuple[str, str], ...]:
        """The id and the name of each workflow."""

    async def quote_run(self, workflow: str, chapter: ChapterId | None) -> tuple[str, SpendLimit | None]:
        """The price of a run in words, and the spending limit for that price. Raises FlowCabalError."""

    async def quote_check(self, chapter: Chapter) -> tuple[str, SpendLimit | None]:
        """The price of a check of a chapter by the agents' model in words, and the spending limit for that price.

        Raises FlowCabalError if there is no such model, or checks by it are switched off.
        """

    async def quote_build(self, wish: str, workflow: str) -> str:
        """The highest price of a build, in words; "" when it is free. Raises FlowCabalError."""

    async def sent(self, chips: Sequence[Chip]) -> tuple[SentChip, ...]:
        """The texts of chips. Raises FlowCabalError for a chip whose place no longer exists."""

    async def surroundings(self, question: str, chips: Sequence[SentChip]) -> Surroundings:
        """The context that the Context agent chooses for a question."""


class ChangesPort(Protocol):
    """Stores and applies proposals. `agents/conversation/permissions.py` decides beforehand which are applied."""

    async def propose(self, proposal: Proposal) -> Proposal:
        """Stores a proposal that waits for the writer; a known one keeps its state."""

    async def apply(self, proposal: Proposal) -> None:
        """Applies a stored proposal, as a decision of its own. Raises FlowCabalError."""

    async def sealed(self, permission: Permission, turn: Turn) -> Permission:
        """The permission with the seal that it needs to be granted, which no other turn accepts."""

    async def build(self, permission: Permission) -> Proposal:
        """Builds a workflow by rule, which is free, and stores the suggestion. Raises FlowCabalError."""
