"""Commands and events of the memory: profiles, background tasks, the knowledge server, purges."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from flowcabal_tui.domain.ids import ChapterId, Generation, OutputId
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Level
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.protocol.base import Command, Event


class WriteProfile(Command, type="profile:write"):
    """Stores the writer's text for a level of a profile or summary; it stays current until the writer accepts a later
    one.

    `uri` is that of the profile browser, such as `profiles/characters/<entity>`, `manuscript/<chapter>`.
    """

    uri: str
    level: Level
    text: str


class PinProfile(Command, type="profile:pin"):
    """Pins this state of the history: contexts read it from now on (None: the newest again), wherever they may
    see it.
    """

    uri: str
    generation: Generation | None = None


class TakeProfile(Command, type="profile:take"):
    """Accepts the states made since the writer's own text or pin; these lose their priority and stay in the history."""

    uri: str


class RegenerateProfile(Command, type="profile:regenerate"):
    """Regenerates a profile or summary, as of the newest chapter that it knows; the old one is read until then."""

    uri: str


class StartBootstrap(Command, type="bootstrap:start"):
    """Starts a reading of imported chapters by the agents' model, which costs money, or resumes a paused one.

    `first` and `last` are positions in the story (None: from the first, to the last); no call begins after `max_cost`.
    The result is the job's id.
    """

    first: int | None = None
    last: int | None = None
    max_cost: Decimal | None = None


class PauseBootstrap(Command, type="bootstrap:pause", when="at once"):
    """Starts no further calls; those under way end. With `drop`, cancels the rest of the reading."""

    drop: bool = False


class WaiveFinding(Command, type="finding:waive"):
    """Marks a finding as intended, with a reason that is stored."""

    draft_quote: str
    source_quote: str
    reason: str


class RetryBackground(Command, type="background:retry"):
    """Retries failed or cancelled background work (all, or one task)."""

    task: int | None = None


class CancelBackground(Command, type="background:cancel", when="at once"):
    """Cancels the open background tasks (all, or one); they can be retried.

    With `only_model`, all that may call a model: files, index and names found by rule go on.
    """

    task: int | None = None
    only_model: bool = False


class PayMemory(Command, type="memory:pay"):
    """Answers that the waiting background work may cost as much as `limit` in all; it asks again before it costs more.

    The answer ends with this work and with this process.
    """

    limit: SpendLimit


RebuildPart = Literal["index", "summaries", "profiles", "knowledge", "stale", "all"]
"""stale: only texts made from a source that was changed since."""


class Rebuild(Command, type="memory:rebuild", when="beside"):
    """Regenerates derived texts from the book; the writer's texts stay, and no answer is paid for twice.

    The index is correct when the command is done; the rest follows as background work. The result is the number of
    waiting steps. `uris` limits the rebuild to these outdated texts or subjects of the knowledge server.
    """

    what: RebuildPart = "all"
    uris: tuple[str, ...] = ()


class Purge(Command, type="memory:purge"):
    """Deletes a chapter, a kept output or a build of a workflow from the project's file for good, without undo."""

    chapter: ChapterId | None = None
    output: OutputId | None = None
    build: str | None = None


class KnowledgeStatus(Event, type="knowledge:status"):
    """The state of the knowledge server; `down` never stops anything else."""

    state: Literal["off", "absent", "starting", "ready", "restarting", "failed", "external", "stopped", "asks"]
    message: str = ""


class TextPurged(Event, type="memory:purged"):
    """A text was removed from the project's tables; the numbers count the versions, runs, derived texts and answers of
    agents removed with it.

    `pending` is the reason, in the user's language, why its words are still in a file of the project: `PurgeFinished`
    follows. `left` are files that contain it and that this program must not change, such as backups.
    """

    chapter: ChapterId | None
    versions: int
    runs: int
    derived: int
    answers: int
    pending: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class PurgeFinished(Event, type="memory:purge-finished"):
    """A delayed purge is finished: no file that the program writes contains the words any more."""


class RebuildProgress(Event, type="memory:progress"):
    """The progress of rebuilding the index, in chapters; at the end, `wrong` is the number of repaired chapters."""

    done: int
    total: int
    wrong: int = 0


class ProfileUpdated(Event, type="profile:updated"):
    """Derived texts were regenerated."""

    profiles: tuple[tuple[str, str, str], ...]
    """Each (kind, name, uri)."""


class BackgroundChanged(Event, type="background:changed"):
    """The state of the background work: counts by state, and the task that changed.

    `owed` separately counts the texts that the knowledge server still lacks, whether it is available or not.
    """

    counts: tuple[tuple[str, int], ...]
    task: BackgroundTask | None = None
    owed: tuple[tuple[str, int], ...] = ()


class MemoryWaits(Event, type="memory:waits"):
    """The number of background tasks that wait until the user agrees to their cost; 0: none waits any more.

    The question `unpaid` has their quote, `PayMemory` is the answer.
    """

    tasks: int


class BootstrapChanged(Event, type="bootstrap:status"):
    """The reading of imported chapters made progress, paused or ended."""

    status: BootstrapStatus
