"""The bases of all commands and events, and the events of no subject."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeVar, dataclass_transform

from flowcabal_tui.domain.ids import CommandId
from flowcabal_tui.domain.value_class import dataclass

T = TypeVar("T")
Order = Literal["queued", "at once", "beside"]
"""The order of a command: after those sent before it; before all others, because it stops work; or in its turn, while
those behind it do not wait for its end."""


@dataclass(frozen=True, slots=True)
class Command:
    """Base of the requests of a caller; the engine answers each with events that carry its id."""

    type: ClassVar[str] = ""
    order: ClassVar[Order] = "queued"


@dataclass_transform(frozen_default=True)
def event(kind: type[T]) -> type[T]:
    """A value that the type checker treats as frozen. At run time it is mutable: freezing would make its creation four
    times slower, and a run emits two events per node.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)


@event
class Event:
    """Base of the events of a project."""

    type: ClassVar[str] = ""


@event
class CommandDone(Event):
    """A command was carried out. `result` is the id of the object that it made, if any."""

    type: ClassVar[str] = "command:done"
    command: CommandId
    result: str = ""


@event
class CommandFailed(Event):
    """A command was refused or failed and changed nothing."""

    type: ClassVar[str] = "command:failed"
    command: CommandId
    title: str
    detail: str = ""
    advice: str = ""


@event
class Status(Event):
    """The state of the project as a whole."""

    type: ClassVar[str] = "status"
    status: Literal["connected", "error", "closing"]
    message: str = ""


@event
class Resync(Event):
    """Events were dropped because the client read too slowly; it must read everything again."""

    type: ClassVar[str] = "feed:resync"
