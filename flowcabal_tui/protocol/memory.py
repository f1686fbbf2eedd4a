"""Commands and events of the memory: profiles, background tasks, the knowledge server, purges."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

from flowcabal_tui.domain.ids import ChapterId, Generation, OutputId
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Level
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class WriteProfile(Command):
    """Stores the writer's text for a level of a profile or summary; it stays current until the writer accepts a later
    one.

    `uri` is that of the profile browser, such as `profiles/characters/<entity>`, `manuscript/<chapter>`.
    """

    type: ClassVar[str] = "profile:write"
    uri: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class PinProfile(Command):
    """Pins this state of the history: contexts read it from now on (None: the newest again), wherever they may
    see it.
    """

    type: ClassVar[str] = "profile:pin"
    uri: str
    generation: Generation | None = None


@dataclass(frozen=True, slots=True)
class TakeProfile(Command):
    """Accepts the states made since the writer's own text or pin; these lose their priority and stay in the history."""

    type: ClassVar[str] = "profile:take"
    uri: str


@dataclass(frozen=True, slots=True)
class RegenerateProfile(Command):
    """Regenerates a profile or summary, as of the newest chapter that it knows; the old one is read until then."""

    type: ClassVar[str] = "profile:regenerate"
    uri: str


@dataclass(frozen=True, slots=True)
class StartBootstrap(Command):
    """Starts a reading of imported chapters by the agents' model, which costs money, or resumes a paused one.

    `first` and `last` are positions in the story (None: from the first, to the last); no call begins after `max_cost`.
    The result is the job's id.
    """

    type: ClassVar[str] = "bootstrap:start"
    first: int | None = None
    last: int | None = None
    max_cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PauseBootstrap(Command):
    """Starts no further calls; those under way end. With `drop`, cancels the rest of the reading."""

    type: ClassVar[str] = "bootstrap:pause"
    order: ClassVar[Order] = "at once"
    drop: bool = False


@dataclass(frozen=True, slots=True)
class WaiveFinding(Command):
    """Marks a finding as intended, with a reason that is stored."""

    type: ClassVar[str] = "finding:waive"
    draft_quote: str
    source_quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetryBackground(Command):
    """Retries failed or cancelled background work (all, or one task)."""

    type: ClassVar[str] = "background:retry"
    task: int | None = None


@dataclass(frozen=True, slots=True)
class CancelBackground(Command):
    """Cancels the open background tasks (all, or one); they can be retried."""

    type: ClassVar[str] = "background:cancel"
    order: ClassVar[Order] = "at once"
    task: int | None = None


@dataclass(frozen=True, slots=True)
class PayMemory(Command):
    """Answers that the waiting background work may cost as much as `limit` in all; it asks again before it costs more.

    The answer ends with this work and with this process.
    """

    type: ClassVar[str] = "memory:pay"
    limit: SpendLimit


RebuildPart = Literal["index", "summaries", "profiles", "knowledge", "stale", "all"]
"""stale: only texts made from a source that was changed since."""


@dataclass(frozen=True, slots=True)
class Rebuild(Command):
    """Regenerates derived texts from the book; the writer's texts stay, and no answer is paid for twice.

    The index is correct when the command is done; the rest follows as background work. The result is the number of
    waiting steps. `uris` limits the rebuild to these outdated texts or subjects of the knowledge server.
    """

    type: ClassVar[str] = "memory:rebuild"
    order: ClassVar[Order] = "beside"
    what: RebuildPart = "all"
    uris: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Purge(Command):
    """Deletes a chapter, a kept output or a build of a workflow from the project's file for good, without undo."""

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
    """A text was removed from the project's tables; the numbers count the versions, runs, derived texts and answers of
    agents removed with it.

    `pending` is the reason, in the user's language, why its words are still in a file of the project: `PurgeFinished`
    follows. `left` are files that contain it and that this program must not change, such as backups.
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
    """A delayed purge is finished: no file that the program writes contains the words any more."""

    type: ClassVar[str] = "memory:purge-finished"


@event
class RebuildProgress(Event):
    """The progress of rebuilding the index, in chapters; at the end, `wrong` is the number of repaired chapters."""

    type: ClassVar[str] = "memory:progress"
    done: int
    total: int
    wrong: int = 0


@event
class ProfileUpdated(Event):
    """Derived texts were regenerated."""

    type: ClassVar[str] = "profile:updated"
    profiles: tuple[tuple[str, str, str], ...]
    """Each (kind, name, uri)."""


@event
class BackgroundChanged(Event):
    """The state of the background work: counts by state, and the task that changed.

    `owed` separately counts the texts that the knowledge server still lacks, whether it is available or not.
    """

    type: ClassVar[str] = "background:changed"
    counts: tuple[tuple[str, int], ...]
    task: BackgroundTask | None = None
    owed: tuple[tuple[str, int], ...] = ()


@event
class MemoryWaits(Event):
    """So many background tasks wait until the user agrees to what they cost; 0: none any more.

    The question `unpaid` has their quote, `PayMemory` is the answer.
    """

    type: ClassVar[str] = "memory:waits"
    tasks: int


@event
class BootstrapChanged(Event):
    """The reading of imported chapters made progress, paused or ended."""

    type: ClassVar[str] = "bootstrap:status"
    status: BootstrapStatus
