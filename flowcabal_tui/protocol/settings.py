"""Commands and events of a project's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, event


@dataclass(frozen=True, slots=True)
class SetModel(Command):
    """Writes a model into the project's file and confirms its use; without `endpoint`, removes it.

    `table` is its table below `[models]`: user, agent, embedding, or more.NAME. The key is not part of it.
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
    """Another program wrote the project's file. `tables` are the changed ones.

    `later` are those that take effect when the project is opened again; `problem` is the reason why the file cannot be
    used ("": it can): then the earlier settings stay in use.
    """

    type: ClassVar[str] = "settings:changed"
    tables: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    problem: str = ""
