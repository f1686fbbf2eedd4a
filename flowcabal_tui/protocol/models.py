"""Commands and events of models and of project trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from flowcabal_tui.domain.endpoints import Endpoint
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


@dataclass(frozen=True, slots=True)
class SetModel(Command):
    """Writes a model into the project's file and confirms its use; without `endpoint` takes it away.

    `table` is its table below `[models]`: user, agent, embedding, or more.NAME. The key is no part of it.
    """

    type: ClassVar[str] = "models:set"
    table: str
    endpoint: Endpoint | None = None


@dataclass(frozen=True, slots=True)
class ChangeSettings(Command):
    """Writes values into a table of the project's file: of project, agents, knowledge or budget."""

    type: ClassVar[str] = "settings:change"
    table: str
    values: Mapping[str, str | int | bool | None]


@event
class SettingsChanged(Event):
    """Another program has written the project's file. `tables` are the changed ones.

    `later` are those that take effect when the project is opened again; `problem` is the reason why the file cannot be
    used ("": it can): then the settings before it stay in force.
    """

    type: ClassVar[str] = "settings:changed"
    tables: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    problem: str = ""


@event
class TrustChanged(Event):
    """The trust state of the project for this user: restricted, changed (`asked` items wait for an answer) or trusted.

    `problem` is the reason why an answer could not be recorded ("": it was).
    """

    type: ClassVar[str] = "trust:changed"
    state: TrustState
    asked: int = 0
    problem: str = ""
