"""Commands and events of models and of project trust."""

from __future__ import annotations

from typing import ClassVar

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.trust import TrustState
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class AnswerEmbeddings(Command):
    """Allows or forbids sending the texts of the book to the embedding model, from now on."""

    type: ClassVar[str] = "embeddings:answer"
    order: ClassVar[Order] = "beside"
    allow: bool


@dataclass(frozen=True, slots=True)
class ConfirmModels(Command):
    """Confirms that a model may be used: it costs money and sends the manuscript away."""

    type: ClassVar[str] = "models:confirm"
    order: ClassVar[Order] = "beside"
    identity: str


@dataclass(frozen=True, slots=True)
class ConfirmTrust(Command):
    """Confirms exactly the items with these digests, which the user has seen.

    The parts held back because of them are started; a project that this user never confirmed is no longer restricted.
    """

    type: ClassVar[str] = "trust:confirm"
    items: tuple[Digest, ...]


@event
class TrustChanged(Event):
    """The trust state of the project for this user: restricted, changed (`asked` items wait for an answer) or trusted.

    `problem` is the reason why an answer could not be recorded ("": it was).
    """

    type: ClassVar[str] = "trust:changed"
    state: TrustState
    asked: int = 0
    problem: str = ""
