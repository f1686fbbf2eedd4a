"""The question of trust and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.trust import TrustState
from flowcabal_tui.protocol.commands import Command
from flowcabal_tui.protocol.events import Event, event


@dataclass(frozen=True, slots=True)
class ConfirmTrust(Command):
    """Confirms what the project asks for: exactly the items with these digests, which the user has seen.

    What is held back because of them goes on; a project that this user never confirmed is no longer restricted.
    """

    type: ClassVar[str] = "trust:confirm"
    items: tuple[Digest, ...]


@event
class TrustChanged(Event):
    """How the project stands with this user: restricted, changed (`asked` items wait for an answer) or trusted.

    `problem` says why an answer could not be recorded ("": it was).
    """

    type: ClassVar[str] = "trust:changed"
    state: TrustState
    asked: int = 0
    problem: str = ""
