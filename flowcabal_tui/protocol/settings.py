"""Commands and events of a project's settings."""

from __future__ import annotations

from collections.abc import Mapping

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.protocol.base import Command, Event


class SetModel(Command, type="models:set"):
    """Writes a model into the project's file and confirms its use; without `endpoint`, removes it.

    `table` is its table below `[models]`: user, agent, embedding, or more.NAME. The key is not part of it.
    """

    table: str
    endpoint: Endpoint | None = None


class ChangeSettings(Command, type="settings:change"):
    """Writes values into a table of the project's file: of project, agents, knowledge or budget."""

    table: str
    values: Mapping[str, str | int | bool | None]


class SettingsChanged(Event, type="settings:changed"):
    """Another program wrote the project's file. `tables` are the changed ones.

    `later` are those that take effect when the project is opened again; `problem` is the reason why the file cannot be
    used ("": it can): then the earlier settings stay in use.
    """

    tables: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    problem: str = ""
