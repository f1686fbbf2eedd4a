"""The base classes of all commands and events, and the events that belong to no single subject."""

from __future__ import annotations

from dataclasses import Field
from typing import Any, ClassVar, Literal, dataclass_transform

from flowcabal_tui.domain.ids import CommandId
from flowcabal_tui.domain.value_class import dataclass

When = Literal["queued", "at once", "beside"]
"""When a command is carried out: after those sent before it; before all others, because it stops work; or in its turn,
while those behind it do not wait for its end."""


@dataclass_transform(frozen_default=True)
class Command:
    """Base of the requests of a caller; the engine answers each with events that carry its id.

    Each is a frozen dataclass, named by its `type` in JSON.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    type: ClassVar[str] = ""
    when: ClassVar[When] = "queued"

    def __init_subclass__(cls, type: str = "", when: When = "queued") -> None:  # noqa: A002 - the word of the JSON form
        super().__init_subclass__()
        cls.type, cls.when = type, when
        dataclass(frozen=True)(cls)


@dataclass_transform(frozen_default=True)
class Event:
    """Base of the events of a project. Each is a dataclass, named by its `type` in JSON.

    The type checker treats them as frozen. At run time they are mutable: freezing would make the creation of one four
    times slower, and a run emits two events per node.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    type: ClassVar[str] = ""

    def __init_subclass__(cls, type: str = "") -> None:  # noqa: A002 - as above
        super().__init_subclass__()
        cls.type = type
        dataclass(unsafe_hash=True)(cls)


class CommandDone(Event, type="command:done"):
    """A command was carried out. `result` is the id of the object that it made, if any."""

    command: CommandId
    result: str = ""


class CommandFailed(Event, type="command:failed"):
    """A command was refused or failed and changed nothing."""

    command: CommandId
    title: str
    detail: str = ""
    advice: str = ""


class Status(Event, type="status"):
    """The state of the project as a whole."""

    status: Literal["connected", "warning", "error", "closing"]
    message: str = ""


class Resync(Event, type="feed:resync"):
    """Events were dropped because the client read too slowly; it must read everything again."""
