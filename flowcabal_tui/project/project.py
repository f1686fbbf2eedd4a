"""The one facade: opens a folder, wires the parts, takes commands, emits events."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.errors import FlowCabalError, Gone, ProjectReadOnly, RunError
from flowcabal_tui.domain.ids import ChapterId, CommandId, EntityId, NodeId, OutputId, RunId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, ImportPreview
from flowcabal_tui.domain.memory import Curated, Entity, Mention, MetaName, StaleText, Totals
from flowcabal_tui.domain.model_calls import ROLES, EndpointCheck
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.run import ANY_RUN, Question, Quote, RunRequest, RunSummary, RunWish
from flowcabal_tui.domain.story import Story
from flowcabal_tui.domain.trust import TrustView
from flowcabal_tui.domain.versions import (
    ActionRow,
    NodeStanding,
    NodeVersion,
    RunDetails,
    VersionTrace,
    WorkflowVersion,
)
from flowcabal_tui.domain.workflow import Finding, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.reading import Reading
from flowcabal_tui.project.book.unsaved import ProjectUnsaved
from flowcabal_tui.project.book.upkeep import RebuildPlan
from flowcabal_tui.project.consent import EmbeddingQuote
from flowcabal_tui.project.engine import EngineThread
from flowcabal_tui.project.feed import EventFeed
from flowcabal_tui.project.found_models import found_models
from flowcabal_tui.project.handlers import Handlers
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.runs.versions import name_of
from flowcabal_tui.project.views import FoundModel, NodeView, ProfileRow, ProfileView, ProjectInfo, Seen
from flowcabal_tui.protocol.base import Command, CommandDone, CommandFailed, Event
from flowcabal_tui.protocol.memory import RebuildPart
from flowcabal_tui.protocol.models import ConfirmTrust

if TYPE_CHECKING:
    from flowcabal_tui.project.book.backup import Manifest
    from flowcabal_tui.project.workflows.builds import BuildRecord

log = logging.getLogger(__name__)
T = TypeVar("T")
CLOSE_SECONDS = 5.0


class Project(Reading):
    """Implements `Workbench`. Open it with `Project.open`; close it with `await project.close()`."""

    def __init__(self, engine: EngineThread, parts: Parts, feed: EventFeed) -> None:
        self._engine, self._parts, self._feed = engine, parts, feed
        self._handlers = Handlers(parts)
        self._commands: asyncio.Queue[tuple[CommandId, Command]] = asyncio.Queue()
        self._waiters: dict[CommandId, asyncio.Future[str]] = {}
        self._numbers = itertools.count(1)
        self._worker = engine.submit(self._work())
        self._closed = False
        self.unsaved = ProjectUnsaved(self._ask, parts.store)

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

        `everything`: text of all nodes is wanted in the feed; `knowledge`: start the knowledge server if the
        settings want it; `pace`: see `ModelDesk`; `trust`: the user says yes, for this process only, to everything
        that the folder may send, spend or run. Raises ProjectError or SettingsError, and then nothing is open.
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
        engine.submit(parts.startup.begin(knowledge=knowledge and not read_only))
        return project

    # Commands

    def send(self, command: Command) -> CommandId:
        """Queues a command; the engine owns it from here."""
        identity = CommandId(f"c{next(self._numbers)}")
        self._engine.soon(self._accept, identity, command)
        return identity

    async def carry_out(self, command: Command) -> str:
        """Sends a command and waits for its end. Raises FlowCabalError."""
        return await self._engine.call(self._carry_out(command))

    async def _carry_out(self, command: Command) -> str:
        identity = CommandId(f"c{next(self._numbers)}")
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiters[identity] = done
        self._accept(identity, command)
        return await asyncio.shield(done)

    def _accept(self, identity: CommandId, command: Command) -> None:
        self._handlers.expect(command)
        if self._handlers.is_urgent(command):
            self._parts.tasks.create(self._handle(identity, command))
        else:
            self._commands.put_nowait((identity, command))

    async def _work(self) -> None:
        """Takes commands in order; those that take long go on by themselves."""
        while True:
            identity, command = await self._commands.get()
            if self._handlers.takes_long(command):
                self._parts.tasks.create(self._handle(identity, command))
            else:
                await self._handle(identity, command)

    async def _handle(self, identity: CommandId, command: Command) -> None:
        waiter = self._waiters.pop(identity, None)
        try:
            if self._parts.read_only and not isinstance(command, ConfirmTrust):
                raise ProjectReadOnly(
                    _("The project is open read-only."),
                    _("{holder} has it open for writing.").format(holder=self._parts.holder or _("Another program")),
                    _("Close it there and open it here again."),
                )
            result = await self._handlers.handle(identity, command)
        except FlowCabalError as error:
            self._failed(identity, error, waiter)
        except KeyError as error:
            self._failed(identity, Gone(*error.args[:1]), waiter)
        except Exception as error:  # the edge of the engine: a mistake must be told and must not end it
            log.exception("command %s", command.type)
            self._failed(identity, RunError(_("The command stopped on a mistake in the program."), repr(error)), waiter)
        else:
            self._feed.publish(CommandDone(identity, result))
            if waiter is not None:
                waiter.set_result(result)

    def _failed(self, identity: CommandId, error: FlowCabalError, waiter: asyncio.Future[str] | None) -> None:
        self._feed.publish(CommandFailed(identity, error.title, error.detail, error.advice))
        if waiter is not None:
            waiter.set_exception(error)

    # Events

    def watch(self, run: RunId | None, node: NodeId | None) -> None:
        """Text of this node only is wanted in the feed."""
        self._feed.watch(run, node)

    def take(self) -> tuple[Event, ...]:
        """All events since the last call."""
        return self._feed.take()

    @property
    def quiet(self) -> bool:
        """True when no run can go on without a human."""
        return self._parts.runs.quiet

    # Questions

    @property
    def info(self) -> ProjectInfo:
        """Who the project is."""
        settings = self._parts.settings
        return ProjectInfo(
            name=settings.project.name,
            language=settings.project.language,
            path=self._parts.folder,
            read_only=self._parts.read_only,
            offline=self._parts.models.is_offline(),
            models=tuple((role, endpoint) for role in ROLES if (endpoint := self._parts.models.endpoint(role))),
            holder=str(self._parts.holder or ""),
            trust=self._parts.trust.state,
        )

    async def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Raises FlowCabalError; also for a chapter, run, workflow or version that is not there."""
        try:
            return await self._engine.call(question)
        except Gone:
            raise
        except KeyError as error:
            raise Gone(*error.args[:1]) from error

    async def trust(self) -> TrustView:
        return await self._ask(self._parts.trust.view())

    async def embedding_question(self) -> EmbeddingQuote | None:
        return await self._ask(self._parts.embeddings.question())

    async def chapters(self) -> tuple[Chapter, ...]:
        return await self._ask(self._parts.store.book.chapters())

    async def chapter_text(self, chapter: ChapterId, version: int | None = None) -> str:
        return await self._ask(self._parts.store.book.text(chapter, version))

    async def chapter_versions(self, chapter: ChapterId) -> tuple[ChapterVersion, ...]:
        return await self._ask(self._parts.store.book.versions(chapter))

    async def outside_text(self, chapter: ChapterId) -> str | None:
        return self._parts.curation.outside_text(chapter)

    async def kept(self, chapter: ChapterId | None = None) -> tuple[Curated, ...]:
        return await self._ask(self._parts.store.book.kept(chapter))

    async def kept_text(self, output: OutputId) -> str:
        return await self._ask(self._parts.store.book.kept_text(output))

    async def deleted_chapters(self) -> tuple[Chapter, ...]:
        return await self._ask(self._parts.store.book.deleted())

    async def meta(self, name: MetaName) -> str:
        return await self._ask(self._parts.store.book.meta_text(name))

    async def outline(self) -> tuple[BookOutline, int]:
        return await self._ask(self._parts.outlining.outline())

    async def entities(self) -> tuple[Entity, ...]:
        return await self._ask(self._parts.store.memory.entities())

    async def story(self) -> Story:
        return await self._ask(self._parts.story.story())

    async def seen(self) -> tuple[Seen, ...]:
        return await self._ask(self._parts.story.seen())

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        return await self._ask(self._parts.story.mentions(entity))

    async def companions(
        self, entity: EntityId, before: ChapterId | None = None
    ) -> tuple[tuple[EntityId, int, ChapterId], ...]:
        return await self._ask(self._parts.story.companions(entity, before))

    async def workflows(self) -> tuple[Workflow, ...]:
        return await self._ask(self._parts.store.workflows.list())

    async def workflow(self, reference: str) -> Workflow:
        return await self._ask(self._parts.store.workflows.get(reference))

    async def build(self, identity: str) -> BuildRecord:
        """A build of a workflow as it is kept. Raises UnknownName."""
        return await self._ask(self._parts.builds.get(identity))

    async def validate(self, workflow: Workflow) -> tuple[Finding, ...]:
        return await self._ask(self._parts.actions.findings(workflow))

    async def runs(self, limit: int = 50, wish: RunWish = ANY_RUN) -> tuple[RunSummary, ...]:
        return await self._ask(self._parts.runs.summaries(limit, wish))

    async def run_workflow(self, run: RunId) -> Workflow:
        return await self._ask(self._parts.store.runs.workflow_of(run))

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        return await self._ask(self._parts.queries.node(run, node))

    async def questions(self) -> tuple[Question, ...]:
        return await self._ask(self._parts.store.runs.open_questions())

    async def quote(self, request: RunRequest) -> Quote:
        return await self._ask(self._quote(request))

    async def _quote(self, request: RunRequest) -> Quote:
        return await self._parts.quotes.quote(await self._parts.runs.imagined(request))

    async def versions(self, workflow: str, node: NodeId, chapter: ChapterId | None = None) -> tuple[NodeVersion, ...]:
        return await self._ask(self._parts.versions.of(workflow, node, chapter))

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        return await self._ask(self._parts.queries.texts(versions))

    async def version_trace(self, run: RunId, node: NodeId, attempt: int = 0) -> VersionTrace:
        return await self._ask(self._trace(run, node, attempt))

    async def _trace(self, run: RunId, node: NodeId, attempt: int) -> VersionTrace:
        return await self._parts.queries.trace(await self._parts.runs.past(run), node, attempt)

    async def standing(self, workflow: str, chapter: ChapterId | None = None) -> tuple[NodeStanding, ...]:
        return await self._ask(self._parts.versions.standing(workflow, chapter))

    async def todo(
        self, workflow: str, chapter: ChapterId | None = None, targets: Sequence[NodeId] = ()
    ) -> tuple[tuple[NodeId, ...], ...]:
        return await self._ask(self._parts.versions.todo(workflow, chapter, targets))

    async def workflow_versions(self, workflow: str) -> tuple[WorkflowVersion, ...]:
        return await self._ask(self._parts.store.workflows.versions(name_of(workflow)))

    async def run_details(self, run: RunId) -> RunDetails:
        return await self._ask(self._parts.history.details(run))

    async def replay(self, run: RunId) -> tuple[Event, ...]:
        return await self._ask(self._parts.history.replay(run))

    async def actions(self, query: str = "") -> tuple[ActionRow, ...]:
        return await self._ask(self._parts.actions.find(query))

    async def preview_context(self, request: RunRequest, node: NodeId) -> Receipt:
        return await self._ask(self._preview(request, node))

    async def _preview(self, request: RunRequest, node: NodeId) -> Receipt:
        return await self._parts.quotes.preview(await self._parts.runs.imagined(request), node)

    async def profiles(self) -> tuple[ProfileRow, ...]:
        return await self._ask(self._parts.profiles.rows())

    async def profile(self, uri: str) -> ProfileView:
        return await self._ask(self._parts.profiles.view(uri))

    async def stale(self) -> tuple[StaleText, ...]:
        return await self._ask(self._parts.upkeep.stale())

    async def rebuild_plan(self, what: RebuildPart = "all") -> RebuildPlan:
        return await self._ask(self._parts.upkeep.plan(what))

    async def back_up(self, target: Path) -> Manifest:
        """Writes a backup while the project goes on. Raises ProjectExists or DiskFull."""
        from flowcabal_tui.project.book.backup import back_up  # a project is opened sooner without

        parts = self._parts
        return await self._ask(back_up(parts.store, parts.folder, target, parts.clock(), parts.knowledge.pack))

    async def totals(self) -> Totals:
        return await self._ask(self._parts.store.usage.totals())

    async def preview_import(self, path: Path, last: int | None = None, *, reference: bool = False) -> ImportPreview:
        """Of the first `last` chapters (None: all), compared with the book unless it is for the shelf."""
        return await self._ask(self._parts.importer.preview(path, last, reference=reference))

    async def export(self, path: Path, form: str) -> Path:
        return await self._ask(self._export(path.expanduser(), form))

    async def _export(self, path: Path, form: str) -> Path:
        from flowcabal_tui.project.book.exporting import export_book  # a project is opened sooner without

        parts = self._parts
        target = path if path.suffix or not form else path.with_suffix(f".{form}")
        return await export_book(parts.store, parts.folder, parts.settings.project, target)

    async def found_models(self) -> tuple[FoundModel, ...]:
        return await self._ask(found_models())

    async def check_models(self) -> tuple[EndpointCheck, ...]:
        return await self._ask(self._parts.models.check_all())

    async def check(self) -> None:
        """SQLite's own check of the whole file. Raises ProjectDamaged."""
        await self._ask(self._parts.store.check())

    async def draft(self, key: str) -> str | None:
        return await self._ask(self._parts.store.values.draft(key))

    async def put_draft(self, key: str, text: str | None) -> None:
        await self._ask(self._parts.store.values.put_draft(key, text))

    async def settled(self) -> None:
        """Returns when the background has nothing to do that it can do now. Raises DiskFull where there is no room."""
        await self._ask(self._parts.background.settled())

    async def bootstrap_ended(self) -> None:
        """Returns when no reading of imported chapters goes on. Raises DiskFull when it could not be written down."""
        await self._ask(self._parts.bootstrap.ended())

    async def linger(self) -> None:
        """Returns when no run can go on without a human: for a terminal that hung up."""
        while not self.quiet:  # noqa: ASYNC110  # the runs live on the engine's loop, this is another
            await asyncio.sleep(0.1)

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
