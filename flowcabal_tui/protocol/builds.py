"""Commands and events of the Builder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from flowcabal_tui.protocol.base import Command, Event

BuildWords = Literal["ours", "velvetflow"]


class RequestBuild(Command, type="build:request", when="beside"):
    """Makes a workflow from the writer's request, or changes an existing one (its id). The result is the build's id; no
    workflow is saved.

    `offline`: by a form that a vocabulary fills, not by the agents' model; `form`: by this filled form. `actions`:
    further files of registries. `document`: the workflow to change, if the project does not have it. `tools`: the
    model's tools, our own or those of VelvetFlow's planner.
    """

    wish: str
    workflow: str = ""
    template: str = ""
    offline: bool = False
    actions: tuple[str, ...] = ()
    form: Mapping[str, Any] | None = None
    document: Mapping[str, Any] | None = None
    tools: BuildWords = "ours"


class AnswerBuild(Command, type="build:answer", when="beside"):
    """Answers the question of a build, which continues."""

    build: str
    text: str


class ReviseBuild(Command, type="build:revise", when="beside"):
    """Rejects a suggestion with a reason, from which the Builder continues. The Builder is also given the unticked
    changes.

    `form`: by this filled form in place of the reason.
    """

    build: str
    reason: str = ""
    form: Mapping[str, Any] | None = None


class ResumeBuild(Command, type="build:resume", when="beside"):
    """Continues a build that was stopped or interrupted."""

    build: str


class StopBuild(Command, type="build:stop", when="at once"):
    """Stops a build at once; its work so far is kept for viewing."""

    build: str


class MarkChanges(Command, type="build:mark"):
    """Ticks or unticks changes of a suggestion. Saves no workflow."""

    build: str
    changes: tuple[str, ...]
    ticked: bool = True


class EditChange(Command, type="build:edit"):
    """Replaces the value of a change: a prompt, a parameter, a name, a new node."""

    build: str
    change: str
    value: Any


class AcceptBuild(Command, type="build:accept"):
    """Saves changes of a suggestion as one new version: the ticked ones, the named ones, or `all`.

    The result is the reference of the version.
    """

    build: str
    changes: tuple[str, ...] = ()


class RejectBuild(Command, type="build:reject"):
    """Rejects a suggestion for good, optionally with a reason."""

    build: str
    reason: str = ""


class UndoBuild(Command, type="build:undo"):
    """Undoes an accepted suggestion: the earlier document becomes the newest version of the workflow, the result.

    A workflow that was new is deleted again.
    """

    build: str


class BuildProgress(Event, type="build:progress"):
    """A build has started, or finished another round; `nodes` is the number of nodes in the working copy."""

    build: str
    rounds: int
    tokens: int
    nodes: int


class SuggestionMade(Event, type="build:suggestion"):
    """A build has ended: with a suggestion of `changes` changes, with a question, or stopped."""

    build: str
    status: Literal["building", "asks", "finished", "stopped"]
    changes: int = 0


class BuildDecided(Event, type="build:decided"):
    """The writer accepted or rejected a suggestion, or undid its acceptance."""

    build: str
