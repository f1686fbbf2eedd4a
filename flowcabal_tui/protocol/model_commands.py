"""Commands about models: which may be used, and what may be sent to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flowcabal_tui.protocol.commands import Command


@dataclass(frozen=True, slots=True)
class AnswerEmbeddings(Command):
    """Says whether the texts of the book may be sent to the embedding model, from now on."""

    type: ClassVar[str] = "embeddings:answer"
    allow: bool


@dataclass(frozen=True, slots=True)
class ConfirmModels(Command):
    """Confirms that a model may be used: it costs money and sends the manuscript away."""

    type: ClassVar[str] = "models:confirm"
    identity: str
