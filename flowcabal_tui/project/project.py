"""A project as callers see it: opened, asked through its services, sent commands, drained of events, closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from flowcabal_tui.domain.errors import ProjectReadOnly
from flowcabal_tui.domain.ids import CommandId, NodeId, RunId
from flowcabal_tui.domain.model_calls import ROLES
from flowcabal_tui.locale import _
from flowcabal_tui.project.commands import CommandQueue
from flowcabal_tui.project.engine import EngineThread
from flowcabal_tui.project.feed import EventFeed
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.proxy import on_engine
from flowcabal_tui.project.services.book import BookService
from flowcabal_tui.project.services.builds import BuildService
from flowcabal_tui.project.services.comparisons import ComparisonService
from flowcabal_tui.project.services.conversations import ConversationService
from flowcabal_tui.project.services.drafts import DraftService
from flowcabal_tui.project.services.findings import FindingService
from flowcabal_tui.project.services.memory import MemoryService
from flowcabal_tui.project.services.models import ModelService
from flowcabal_tui.project.services.revision import RevisionService
from flowcabal_tui.project.services.runs import RunService
from flowcabal_tui.project.services.settings import SettingsService
from flowcabal_tui.project.services.story import StoryService
from flowcabal_tui.project.services.workflows import WorkflowService
from flowcabal_tui.project.startup import Startup
from flowcabal_tui.project.views import ProjectInfo
from flowcabal_tui.protocol.base import Command, Event
from flowcabal_tui.protocol.models import ConfirmTrust

log = logging.getLogger(__name__)
CLOSE_SECONDS = 5.0


class Project:
    """Open it with `Project.open`; close it with `await project.close()`.

    All methods, and those of the services, may be called from any thread or loop; coroutines are awaited on the
    caller's loop while the work is done on the engine's. Cancelling a caller never cancels a command.
    """

    def __init__(self, engine: EngineThread, parts: Parts, feed: EventFeed) -> None:
        self._engine, self._parts, self._feed = engine, parts, feed
        book, runs, memory = BookService(parts), RunService(parts), MemoryService(parts)
        startup = Startup(parts)
        story, workflows, models = StoryService(parts), WorkflowService(parts), ModelService(parts, startup)
        self.book = on_engine(book, engine)
        self.runs = on_engine(runs, engine)
        self.memory = on_engine(memory, engine)
        self.story = on_engine(story, engine)
        self.workflows = on_engine(workflows, engine)
        self.models = on_engine(models, engine)
        builds, findings = BuildService(parts), FindingService(parts)
        self.builds = on_engine(builds, engine)
        self.findings = on_engine(findings, engine)
        talks, comparisons = ConversationService(parts), ComparisonService(parts)
        revision, settings = RevisionService(parts), SettingsService(parts)
        self.settings = on_engine(settings, engine)
        self.revision = on_engine(revision, engine)
        self.conversations = on_engine(talks, engine)
        self.comparisons = on_engine(comparisons, engine)
        self.drafts = on_engine(DraftService(parts), engine)
        services = (
            book, runs, memory, story, workflows, models, builds, findings, talks, comparisons, revision, settings,
        )  # fmt: skip
        self._commands = CommandQueue(services, self._require, feed.publish, parts.base.tasks.create)
        engine.submit(self._commands.work())
        self._startup, self._closed = startup, False

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        read_only: bool = False,
        everything: bool = False,
        knowledge: bool = True,
        pace: float | None = None,
        trust: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Project:
        """Opens a project folder.

        `everything`: text of all nodes is sent to the feed; `knowledge`: start the knowledge server if the settings
        enable it; `pace`: see `ModelRoles`; `trust`: the user confirms, for this process only, everything that the
        folder may send, spend or run. Raises ProjectError or SettingsError, and then nothing is open.
        """
        engine = EngineThread()
        feed = EventFeed(everything=everything)
        try:
            parts = await engine.call(
                Parts.open(
                    folder.expanduser().resolve(), feed.publish, clock, read_only=read_only, pace=pace, trust=trust
                )
            )
        except BaseException:  # cut off or not, the thread ends
            engine.stop()
            raise
        project = cls(engine, parts, feed)
        begins = project._startup.begin(knowledge=knowledge and not read_only)
        engine.soon(parts.base.tasks.create, begins)  # a project that is closed at once ends it before its store
        return project

    @property
    def info(self) -> ProjectInfo:
        """The identity and state of the project."""
        settings = self._parts.base.settings
        return ProjectInfo(
            name=settings.project.name,
            language=settings.project.language,
            path=self._parts.base.folder,
            read_only=self._parts.store.read_only,
            offline=self._parts.base.models.is_offline(),
            models=tuple((role, endpoint) for role in ROLES if (endpoint := self._parts.base.models.endpoint(role))),
            holder=str(self._parts.store.holder or ""),
            trust=self._parts.base.trust.state,
            model_names=settings.models.names,
        )

    def send(self, command: Command) -> CommandId:
        """Queues a command; `command:done` or `command:failed` with this id follows."""
        identity = self._commands.new_id()
        self._engine.soon(self._commands.accept, identity, command)
        return identity

    async def carry_out(self, command: Command) -> str:
        """Sends a command and waits until it is done; returns its result. Raises FlowCabalError."""
        return await self._engine.call(self._commands.carry_out(command))

    def _require(self, command: Command) -> None:
        if self._parts.store.read_only and not isinstance(command, ConfirmTrust):
            raise ProjectReadOnly(
                _("The project is open read-only."),
                _("{holder} has it open for writing.").format(holder=self._parts.store.holder or _("Another program")),
                _("Close it there and open it here again."),
            )

    def watch(self, run: RunId | None, node: NodeId | None) -> None:
        """Selects the only node whose text is sent to the feed (None: none)."""
        self._feed.watch(run, node)

    def take(self) -> tuple[Event, ...]:
        """All events since the last call, text coalesced; never blocks."""
        return self._feed.take()

    @property
    def quiet(self) -> bool:
        """True when no run can continue without a person."""
        return self._parts.runs.manager.quiet

    async def linger(self) -> None:
        """Returns when no run can continue without a person: for a terminal that hung up."""
        while not self.quiet:  # noqa: ASYNC110  # the runs live on the engine's loop, this is another
            await asyncio.sleep(0.1)

    async def check(self) -> None:
        """SQLite's own check of the whole file. Raises ProjectDamaged."""
        await self._engine.call(self._parts.store.check())

    async def close(self) -> None:
        """Stops runs at once (their text is journalled; they can be resumed), then everything else."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.wait_for(self._engine.call(self._parts.close()), CLOSE_SECONDS)
        except TimeoutError:
            log.warning("closing took longer than %s s", CLOSE_SECONDS)
        finally:
            await asyncio.to_thread(self._engine.stop)
