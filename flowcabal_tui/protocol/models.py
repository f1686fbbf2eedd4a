"""Commands and events of models and of project trust."""

from __future__ import annotations

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.trust import TrustState
from flowcabal_tui.protocol.base import Command, Event


class AnswerEmbeddings(Command, type="embeddings:answer", when="beside"):
    """Allows or forbids sending the texts of the book to the embedding model, from now on."""

    allow: bool


class ConfirmModels(Command, type="models:confirm", when="beside"):
    """Confirms that a model may be used: it costs money and sends the manuscript away."""

    identity: str


class ConfirmTrust(Command, type="trust:confirm"):
    """Confirms exactly the items with these digests, which the user has seen.

    The parts held back because of them are started; a project that this user never confirmed is no longer restricted.
    """

    items: tuple[Digest, ...]


class TrustChanged(Event, type="trust:changed"):
    """The trust state of the project for this user: restricted, changed (`asked` items wait for an answer) or trusted.

    `problem` is the reason why an answer could not be recorded ("": it was).
    """

    state: TrustState
    asked: int = 0
    problem: str = ""
