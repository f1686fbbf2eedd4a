"""Commands and events of the Builder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class RequestBuild(Command):
    """Makes a workflow of a wish, or changes one (its id). The result is the build's id; nothing is saved.

    `offline`: by a form that a vocabulary fills, not by the agents' model. `actions`: files of registries besides.
    """

    type: ClassVar[str] = "build:request"
    order: ClassVar[Order] = "beside"
    wish: str
    workflow: str = ""
    template: str = ""
    offline: bool = False
    actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerBuild(Command):
    """Answers what a build asked; it goes on."""

    type: ClassVar[str] = "build:answer"
    order: ClassVar[Order] = "beside"
    build: str
    text: str


@dataclass(frozen=True, slots=True)
class AcceptBuild(Command):
    """Saves changes of a suggestion as one new version: those that are ticked, those that are named, or `all`.

    The result is the reference of the version.
    """

    type: ClassVar[str] = "build:accept"
    build: str
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectBuild(Command):
    """Turns a suggestion down, with a reason where there is one."""

    type: ClassVar[str] = "build:reject"
    build: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UndoBuild(Command):
    """Saves what the workflow was before an accepted suggestion as its newest version. The result is its reference."""

    type: ClassVar[str] = "build:undo"
    build: str


@event
class SuggestionMade(Event):
    """A build has ended: with a suggestion of so many changes, with a question, or stopped."""

    type: ClassVar[str] = "build:suggestion"
    build: str
    status: Literal["building", "asks", "finished", "stopped"]
    changes: int = 0
