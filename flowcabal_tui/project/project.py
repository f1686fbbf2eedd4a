"""A project as callers see it: open it, query its services, send commands, read events, close it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import ProjectReadOnly
from flowcabal_tui.domain.ids import CommandId, NodeId, RunId
from flowcabal_tui.domain.model_calls import ROLES
from flowcabal_tui.locale import _
from flowcabal_tui.project.commands import CommandQueue
from flowcabal_tui.project.engine import EngineThread
from flowcabal_tui.project.feed import EventFeed
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.proxy import on_engine, typed_errors
from flowcabal_tui.project.startup import Startup
from flowcabal_tui.project.views import ProjectInfo
from flowcabal_tui.protocol.base import Command, Event
from flowcabal_tui.protocol.models import ConfirmTrust

if TYPE_CHECKING:
    from flowcabal_tui.project.services.book import BookService
    from flowcabal_tui.project.services.builds import BuildService
    from flowcabal_tui.project.services.comparisons import ComparisonService
    from flowcabal_tui.project.services.conversations import ConversationService
    from flowcabal_tui.project.services.drafts import DraftService
    from flowcabal_tui.project.services.findings import FindingService
    from flowcabal_tui.project.services.knowledge import KnowledgeService
    from flowcabal_tui.project.services.memory import MemoryService
    from flowcabal_tui.project.services.models import ModelService
    from flowcabal_tui.project.services.revision import RevisionService
    from flowcabal_tui.project.services.runs import RunService
    from flowcabal_tui.project.services.settings import SettingsService
    from flowcabal_tui.project.services.story import StoryService
    from flowcabal_tui.project.services.workflows import WorkflowService


log = logging.getLogger(__name__)
CLOSE_SECONDS = 5.0
"""Seconds to wait for the work to stop, and then for the files to be closed."""


class Project:
    """An open project. Open it with `Project.open`; close it with `await project.close()`, or use it in `async with`.

    All methods, and those of the services, may be called from any thread or loop; coroutines are awaited on the
    caller's loop while the work runs on the engine's. Cancelling a caller never cancels a command.
    """

    book: BookService
    memory: MemoryService
    story: StoryService
    workflows: WorkflowService
    runs: RunService
    models: ModelService
    builds: BuildService
    findings: FindingService
    conversations: ConversationService
    comparisons: ComparisonService
    revision: RevisionService
    settings: SettingsService
    drafts: DraftService
    knowledge: KnowledgeService

    def __init__(self, engine: EngineThread, parts: Parts, feed: EventFeed, *, knowledge: bool) -> None:
        self._engine, self._parts, self._feed = engine, parts, feed
        startup = Startup(parts, knowledge=knowledge)
        services = _Services(parts, startup)
        for name in Project.__annotations__:
            setattr(self, name, on_engine(partial(services.of, name), engine))
        self._commands = CommandQueue(services.all, self._require, feed.publish, parts.base.tasks.create)
        engine.submit(self._commands.work())
        self._startup, self._has_begun, self._closed = startup, False, False

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        read_only: bool = False,
        everything: bool = False,
        knowledge: bool = True,
        begin: bool = True,
        pace: float | None = None,
        trust: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Project:
        """Opens a project folder.

        `everything`: text of all nodes is sent to the feed; `knowledge`: start the knowledge server if the settings
        enable it; `begin`: open everything and start the background work at once, else only the book can be read and
        written before `complete()`, and `begin()` starts the work; `pace`: see `ModelRoles`; `trust`: the user
        confirms, for this process only, everything that the folder may send, spend or run. Raises ProjectError or
        SettingsError, and then nothing is open.
        """
        engine = EngineThread()
        feed = EventFeed(everything=everything)
        where, how = folder.expanduser().resolve(), {"read_only": read_only, "trust": trust, "complete": begin}
        try:
            with typed_errors("opening"):
                parts = await engine.call(Parts.open(where, feed.publish, clock, pace=pace, **how))
        except BaseException:  # interrupted or not, the thread ends
            engine.stop()
            raise
        project = cls(engine, parts, feed, knowledge=knowledge and not read_only)
        if begin:
            project.begin()
        return project

    async def __aenter__(self) -> Project:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def complete(self) -> None:
        """Reads everything else that is needed to work with the book. Raises ProjectError or SettingsError."""
        with typed_errors("opening"):
            await self._engine.call(self._parts.base.complete())

    def begin(self) -> None:
        """Starts, once, the background work and the knowledge server."""
        if not self._has_begun:
            self._has_begun = True
            # a project that is closed at once ends it before its store
            self._engine.soon(lambda: self._parts.base.tasks.create(self._startup.begin()))

    @property
    def folder(self) -> Path:
        """The folder of the project."""
        return self._parts.base.folder

    @property
    def language(self) -> str:
        """The language of the book."""
        return self._parts.base.language

    @property
    def is_read_only(self) -> bool:
        """True when the project was opened for reading only."""
        return self._parts.store.read_only

    @property
    def info(self) -> ProjectInfo:
        """The identity and state of the project, once it is complete."""
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
        return self._parts.quiet

    async def linger(self) -> None:
        """Returns when no run can continue without a person; used after a terminal hung up."""
        while not self.quiet:  # noqa: ASYNC110  # the runs live on the engine's loop, this is another
            await asyncio.sleep(0.1)

    async def check(self) -> None:
        """Runs SQLite's integrity check on the whole file. Raises ProjectDamaged."""
        await self._engine.call(self._parts.store.check())

    async def skipped_rows(self) -> dict[str, int]:
        """The unreadable rows that lists leave out: their number by the word for their kind. Raises ProjectDamaged."""
        with typed_errors("skipped rows"):
            return await self._engine.call(self._parts.store.skipped_rows())

    async def close(self) -> None:
        """Stops runs at once (their text is journalled; they can be resumed), then everything else.

        The database is closed and unlocked also when the work does not stop in time.
        """
        if self._closed:
            return
        self._closed = True
        try:
            for close in (self._parts.stop, self._parts.close_files):
                try:
                    await asyncio.wait_for(self._engine.call(close()), CLOSE_SECONDS)
                except TimeoutError:
                    log.warning("closing took longer than %s s", CLOSE_SECONDS)
        finally:
            await asyncio.to_thread(self._engine.stop)


class _Services:
    """The services of a project. Lives on the engine's loop.

    The service of a subject is imported from the module of its name in `Project`, and made at its first use.
    """

    def __init__(self, parts: Parts, startup: Startup) -> None:
        self._parts, self._startup = parts, startup
        self._made: dict[str, object] = {}

    def of(self, name: str) -> object:
        """The service of a subject."""
        if name not in self._made:
            kind = getattr(import_module(f"flowcabal_tui.project.services.{name}"), Project.__annotations__[name])
            self._made[name] = kind(self._parts, *((self._startup,) if name == "models" else ()))
        return self._made[name]

    def all(self) -> list[object]:
        """All services."""
        return [self.of(name) for name in Project.__annotations__]
