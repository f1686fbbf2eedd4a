"""Commands and events of the memory: profiles, background tasks, the knowledge server, purges."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal

from flowcabal_tui.domain.ids import ChapterId, Generation, OutputId
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Level
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class WriteProfile(Command):
    """Writes a level of a profile or summary by hand; it stands until the writer takes what was made since.

    `uri` is that of the profile browser, such as `profiles/characters/<entity>`, `manuscript/<chapter>`.
    """

    type: ClassVar[str] = "profile:write"
    uri: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class PinProfile(Command):
    """From now on contexts read this state of the history (None: the newest again), wherever they may see it."""

    type: ClassVar[str] = "profile:pin"
    uri: str
    generation: Generation | None = None


@dataclass(frozen=True, slots=True)
class TakeProfile(Command):
    """Takes what was made since the writer's own words or pin: both count no longer, and stay in the history."""

    type: ClassVar[str] = "profile:take"
    uri: str


@dataclass(frozen=True, slots=True)
class RegenerateProfile(Command):
    """Makes a profile or summary once more, as of the newest chapter that it knows; the old one is read until then."""

    type: ClassVar[str] = "profile:regenerate"
    uri: str


@dataclass(frozen=True, slots=True)
class StartBootstrap(Command):
    """Has imported chapters read by the agents' model, for money; goes on with a reading that is paused.

    `first` and `last` are places in the story (None: from the first, to the last); no call begins after `max_cost`.
    The result is the job's id.
    """

    type: ClassVar[str] = "bootstrap:start"
    first: int | None = None
    last: int | None = None
    max_cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PauseBootstrap(Command):
    """Lets the calls that are under way end, and begins no more; with `drop` the rest is given up."""

    type: ClassVar[str] = "bootstrap:pause"
    order: ClassVar[Order] = "at once"
    drop: bool = False


@dataclass(frozen=True, slots=True)
class WaiveFinding(Command):
    """Calls a finding intended, with a reason that is remembered."""

    type: ClassVar[str] = "finding:waive"
    draft_quote: str
    source_quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetryBackground(Command):
    """Takes up failed or cancelled background work again (all, or one task)."""

    type: ClassVar[str] = "background:retry"
    task: int | None = None


@dataclass(frozen=True, slots=True)
class CancelBackground(Command):
    """Cancels what the background still has to do (all, or one task); it can be retried."""

    type: ClassVar[str] = "background:cancel"
    order: ClassVar[Order] = "at once"
    task: int | None = None


RebuildPart = Literal["index", "summaries", "profiles", "knowledge", "stale", "all"]
"""stale: only what was made from text that was changed since."""


@dataclass(frozen=True, slots=True)
class Rebuild(Command):
    """Makes what is derived of the book again from its texts; what hands wrote stays, what was paid is not paid twice.

    The index is right when the command is done; the rest follows as background work. The result is how many steps
    wait. With `uris`, of what is stale only these texts.
    """

    type: ClassVar[str] = "memory:rebuild"
    order: ClassVar[Order] = "beside"
    what: RebuildPart = "all"
    uris: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Purge(Command):
    """Takes a chapter, a kept output or a build of a workflow out of the project's file for good, without undo."""

    type: ClassVar[str] = "memory:purge"
    chapter: ChapterId | None = None
    output: OutputId | None = None
    build: str | None = None


@event
class KnowledgeStatus(Event):
    """The state of the knowledge server; `down` never stops anything else."""

    type: ClassVar[str] = "knowledge:status"
    state: Literal["off", "absent", "starting", "ready", "restarting", "failed", "external", "stopped", "asks"]
    message: str = ""


@event
class TextPurged(Event):
    """A text is out of the project's tables: so many versions, runs, derived texts and answers of agents went with it.

    `pending` says, in the user's language, why its words are still in a file of the project: `PurgeFinished` follows.
    `left` are files that hold it and are not this program's to change, backups among them.
    """

    type: ClassVar[str] = "memory:purged"
    chapter: ChapterId | None
    versions: int
    runs: int
    derived: int
    answers: int
    pending: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@event
class PurgeFinished(Event):
    """What delayed a purge is over: its words are in no file that the program writes."""

    type: ClassVar[str] = "memory:purge-finished"


@event
class RebuildProgress(Event):
    """So many chapters of the index were looked at; `wrong` tells, at the end, in how many something was put right."""

    type: ClassVar[str] = "memory:progress"
    done: int
    total: int
    wrong: int = 0


@event
class ProfileUpdated(Event):
    """Derived texts are new."""

    type: ClassVar[str] = "profile:updated"
    profiles: tuple[tuple[str, str, str], ...]
    """Each (kind, name, uri)."""


@event
class BackgroundChanged(Event):
    """How the background work stands: counts by state, and the task that changed.

    `owed` counts apart what the knowledge server has still to be told, whether it is there or not.
    """

    type: ClassVar[str] = "background:changed"
    counts: tuple[tuple[str, int], ...]
    task: BackgroundTask | None = None
    owed: tuple[tuple[str, int], ...] = ()


@event
class BootstrapChanged(Event):
    """The reading of imported chapters went on, paused or ended."""

    type: ClassVar[str] = "bootstrap:status"
    status: BootstrapStatus
