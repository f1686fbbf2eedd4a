"""Commands and events of the Builder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from flowcabal_tui.protocol.base import Command, Event, Order, event

BuildWords = Literal["ours", "velvetflow"]


@dataclass(frozen=True, slots=True)
class RequestBuild(Command):
    """Makes a workflow from the writer's request, or changes an existing one (its id). The result is the build's id; no
    workflow is saved.

    `offline`: by a form that a vocabulary fills, not by the agents' model; `form`: by this filled form. `actions`:
    further files of registries. `document`: the workflow to change, if the project does not have it. `tools`: the
    model's tools, our own or those of VelvetFlow's planner.
    """

    type: ClassVar[str] = "build:request"
    order: ClassVar[Order] = "beside"
    wish: str
    workflow: str = ""
    template: str = ""
    offline: bool = False
    actions: tuple[str, ...] = ()
    form: Mapping[str, Any] | None = None
    document: Mapping[str, Any] | None = None
    tools: BuildWords = "ours"


@dataclass(frozen=True, slots=True)
class AnswerBuild(Command):
    """Answers the question of a build, which continues."""

    type: ClassVar[str] = "build:answer"
    order: ClassVar[Order] = "beside"
    build: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviseBuild(Command):
    """Rejects a suggestion with a reason, from which the Builder continues. The Builder is also given the unticked
    changes.

    `form`: by this filled form in place of the reason.
    """

    type: ClassVar[str] = "build:revise"
    order: ClassVar[Order] = "beside"
    build: str
    reason: str = ""
    form: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ResumeBuild(Command):
    """Continues a build that was stopped or interrupted."""

    type: ClassVar[str] = "build:resume"
    order: ClassVar[Order] = "beside"
    build: str


@dataclass(frozen=True, slots=True)
class StopBuild(Command):
    """Stops a build at once; its work so far is kept for viewing."""

    type: ClassVar[str] = "build:stop"
    order: ClassVar[Order] = "at once"
    build: str


@dataclass(frozen=True, slots=True)
class MarkChanges(Command):
    """Ticks or unticks changes of a suggestion. Saves no workflow."""

    type: ClassVar[str] = "build:mark"
    build: str
    changes: tuple[str, ...]
    ticked: bool = True


@dataclass(frozen=True, slots=True)
class EditChange(Command):
    """Replaces the value of a change: a prompt, a parameter, a name, a new node."""

    type: ClassVar[str] = "build:edit"
    build: str
    change: str
    value: Any


@dataclass(frozen=True, slots=True)
class AcceptBuild(Command):
    """Saves changes of a suggestion as one new version: the ticked ones, the named ones, or `all`.

    The result is the reference of the version.
    """

    type: ClassVar[str] = "build:accept"
    build: str
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectBuild(Command):
    """Rejects a suggestion for good, optionally with a reason."""

    type: ClassVar[str] = "build:reject"
    build: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UndoBuild(Command):
    """Undoes an accepted suggestion: the earlier document becomes the newest version of the workflow, the result.

    A workflow that was new is deleted again.
    """

    type: ClassVar[str] = "build:undo"
    build: str


@event
class BuildProgress(Event):
    """A build has started, or finished another round; `nodes` is the number of nodes in the working copy."""

    type: ClassVar[str] = "build:progress"
    build: str
    rounds: int
    tokens: int
    nodes: int


@event
class SuggestionMade(Event):
    """A build has ended: with a suggestion of `changes` changes, with a question, or stopped."""

    type: ClassVar[str] = "build:suggestion"
    build: str
    status: Literal["building", "asks", "finished", "stopped"]
    changes: int = 0


@event
class BuildDecided(Event):
    """The writer accepted or rejected a suggestion, or undid its acceptance."""

    type: ClassVar[str] = "build:decided"
    build: str
