"""The parts of an open project and how they hang together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from flowcabal_tui.agents.checking.monitor import Monitor, feedback
from flowcabal_tui.agents.context import ContextAgent
from flowcabal_tui.agents.context.own_words import sentences
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.demo import BookLanguage, templates
from flowcabal_tui.domain.builds import BuildRow
from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault, ProjectNotConfirmed, SettingsError
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.model_calls import TokenCounter
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.book.blame import Blame
from flowcabal_tui.project.book.chapters_edit import ChaptersEdit
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.project.book.curation import Curation
from flowcabal_tui.project.book.importing import Importer
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.book.missing import require_database
from flowcabal_tui.project.book.outlining import Outlining
from flowcabal_tui.project.book.overview import OverviewReader
from flowcabal_tui.project.book.references import PinnedReferences
from flowcabal_tui.project.book.rule_checks import RuleChecks
from flowcabal_tui.project.engine import Tasks
from flowcabal_tui.project.logs import close_log, forget_in_log, open_log
from flowcabal_tui.project.memory.background import Background
from flowcabal_tui.project.memory.bootstrap import Bootstrap
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
from flowcabal_tui.project.memory.profiles import ProfileEditor
from flowcabal_tui.project.memory.purging import PurgeTools, Purging
from flowcabal_tui.project.memory.rebuild import Rebuilder, RebuildTools
from flowcabal_tui.project.memory.search import Search
from flowcabal_tui.project.memory.sources import Sources
from flowcabal_tui.project.memory.step_tools import StepTools
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.project.models.embeddings import Embeddings
from flowcabal_tui.project.models.found import adopt_model
from flowcabal_tui.project.models.roles import ModelRoles
from flowcabal_tui.project.runs.doubts import Doubts
from flowcabal_tui.project.runs.history import History
from flowcabal_tui.project.runs.manager import RunManager
from flowcabal_tui.project.runs.queries import RunQueries
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.project.runs.stored_checks import StoredChecks
from flowcabal_tui.project.runs.versions import OutputVersions
from flowcabal_tui.project.story.edits import ProposedEdits
from flowcabal_tui.project.story.findings import Findings
from flowcabal_tui.project.story.proposals import ProposalService
from flowcabal_tui.project.story.records import StoryRecords
from flowcabal_tui.project.trust.collect import PROFILES, PROMPTS
from flowcabal_tui.project.trust.service import Trust
from flowcabal_tui.project.workflows.actions import ProjectActions
from flowcabal_tui.project.workflows.graphs import Graphs
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol.base import Event, Status
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.scope import Services
from flowcabal_tui.settings.project_file import (
    ProjectSettings,
    load_project,
)
from flowcabal_tui.settings.seal import user_seal
from flowcabal_tui.settings.user_file import file_modes
from flowcabal_tui.store import Store
from flowcabal_tui.system.files import Folder, Modes

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.builds import Builds

log = logging.getLogger(__name__)


@cache
def _fixed_words() -> frozenset[str]:
    """The sentences of the prompts that the program brings along, in every language."""
    nodes = [node for language in get_args(BookLanguage) for shipped in templates(language) for node in shipped.nodes]
    prompts = [PromptParams.model_validate(node.params).prompt for node in nodes if node.kind == "prompt"]
    return frozenset(sentence for prompt in prompts for sentence in sentences(prompt))


class Parts:
    """Built once for an open project; lives on the engine's loop."""

    def __init__(
        self,
        folder: Path,
        settings: ProjectSettings,
        store: Store,
        emit: Callable[[Event], None],
        clock: Callable[[], datetime],
        pace: float | None,
        modes: Modes,
        *,
        trust: bool = False,
    ) -> None:
        """With `trust` the user says yes to everything in the folder until the program ends."""
        self.folder, self.settings, self.store, self.emit, self.clock = folder, settings, store, emit, clock
        self.read_only, self.holder = store.read_only, store.holder
        self.tasks, self.workshop = Tasks(), Workshop()
        self.log: logging.Handler | None = None
        self.limits = Limits(settings.run.concurrency)
        self.trust = Trust(folder, lambda: self.settings, store, emit, for_this_run=trust)
        self.models = ModelRoles(settings, store, self.limits, emit, self.trust.require_model, pace=pace)
        self.prompts = PromptLibrary(folder / PROMPTS, self.trust.require_prompt)
        self.kinds = ProfileKinds(folder / PROFILES, self.trust.require_profile)
        self.run_queries, self.sources = RunQueries(store), Sources(store, self.kinds)
        self.story = StoryRecords(store, emit)
        self.knowledge = KnowledgeConnection(
            settings.knowledge,
            (settings.project.id, settings.project.name, folder),
            settings.project.language,
            emit,
            self._knowledge_ready,
            self.models.require_vector_budget,
            self.trust.require_knowledge,
        )
        self.embeddings = Embeddings(self.models, store, settings.project.id, folder, settings.project.language)
        self.search = Search(store, self.sources, self.knowledge, self.kinds)
        self.actions = ProjectActions(
            folder, settings.actions, store, self.embeddings.for_search, settings.project.language, self.trust
        )
        graphs = Graphs()
        self.quotes = Quotes(store, self.models, lambda: self.settings)
        self.runs = RunManager(
            store,
            self.services,
            lambda: self.settings,
            emit,
            self.actions.require_valid,
            self.actions.require_confirmed,
            self.trust.renew_run,
            graphs,
            self.models.spending,
            self.quotes.agreed,
        )
        self.history = History(store)
        self.versions = OutputVersions(store, emit, self.runs.imagined, graphs, self.trust)
        self.mirror = Mirror(Folder(folder, modes), store)
        self.rules = RuleChecks(self.workshop, lambda: self.settings.checks.off)
        self.results = CheckResults(store, emit)
        self.findings = Findings(store, self.story, self.rules, self.results, self.monitor, emit, clock)
        tools = StepTools(
            store,
            self.sources,
            self.workshop,
            self.mirror,
            KnowledgeSteps(store, self.sources, self.knowledge.paid_sync),
            self.kinds,
            settings.project.language,
            self.rules,
            self.results,
            self.curator,
            self.is_by_rule,
            lambda: self.settings.agents.profiles,
            lambda edited: self.curation.offer(edited),
            emit,
        )
        self.steps = Steps(tools)

        def step(task: BackgroundTask) -> Awaitable[None]:
            """One that was done before is done as it was then."""
            pinned = task.pinned
            return (self.steps if pinned is None else Steps(replace(tools, pinned=pinned, restoring=True))).do(task)

        self.background = Background(
            store.outbox,
            step,
            emit,
            clock,
            lambda: self.knowledge.is_up,
            lambda: self.trust.state != "restricted",
        )
        self.bootstrap = Bootstrap(
            store,
            self.models,
            lambda pinned: Steps(replace(tools, pinned=pinned, by_rule=lambda _chapter: False)),
            emit,
            clock,
            self.background,
            lambda: self.settings.agents.curator,
        )
        self.importer = Importer(
            store,
            self.workshop,
            settings.project.language,
            emit,
            self.background.wake,
            lambda: self.models.is_offline("agent"),
        )
        self.profiles = ProfileEditor(store, self.sources, self.kinds, emit, self.background.wake)
        self.curation = Curation(
            store,
            self.mirror,
            emit,
            self.background.wake,
            self.knowledge.set_positions,
            self.steps.enqueue_story,
            clock,
        )
        self.upkeep = Rebuilder(
            RebuildTools(
                store,
                self.workshop,
                self.background,
                self.knowledge,
                settings.project.language,
                self.curation.placed,
                emit,
            )
        )
        self.purging = Purging(
            PurgeTools(
                folder,
                settings.project,
                store,
                self.mirror,
                self.background,
                self.knowledge,
                self.start_knowledge,
                self.is_idle,
                self.curation.placed,
                self.forget_in_log,
                emit,
            )
        )
        self.chapters_edit = ChaptersEdit(store, emit, self.background.wake, self.curation.placed)
        self.outlining = Outlining(store, emit, self.background.wake, lambda: self.settings.project.language)
        edits = ProposedEdits(
            store, self.outlining, lambda: self.builds, self._agent_name, emit, self.background.wake, clock
        )
        self.proposals = ProposalService(store, self.story, self.steps, edits, emit)
        self.overview = OverviewReader(store, lambda: self.settings, self.curation.outside_text, clock)
        self.blame = Blame(store)

    def _agent_name(self) -> str:
        endpoint = self.models.endpoint("agent")
        return endpoint.model if endpoint else ""

    @cached_property
    def builds(self) -> Builds:
        """The builds of workflows; imported at first use."""
        from flowcabal_tui.project.builder.builds import Builds
        from flowcabal_tui.project.builder.known_names import known_names

        return Builds(
            self.store,
            lambda: None if self.models.is_offline("agent") else self.models.agent(),
            partial(known_names, self.folder, self.store, lambda: self.settings),
            self.actions.workflow,
            self.versions.save,
            self.emit,
            lambda: self.settings.project.language,
            lambda: (self.models.endpoint("agent"), self.models.counter),
            lambda known: partial(self.actions.records, known.actions or {}),
        )

    async def build_rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first; one that nothing builds any more was interrupted."""
        at_work = self.builds.at_work if "builds" in vars(self) else frozenset()
        rows = await self.store.builds.rows()
        return tuple(
            replace(row, state="interrupted") if row.state == "building" and row.id not in at_work else row
            for row in rows
        )

    @classmethod
    async def open(
        cls,
        folder: Path,
        emit: Callable[[Event], None],
        clock: Callable[[], datetime],
        *,
        read_only: bool,
        pace: float | None,
        trust: bool = False,
    ) -> Parts:
        """Raises ProjectError or SettingsError."""
        settings = load_project(folder)
        require_database(folder)
        modes, language = file_modes(), settings.project.language
        store = await Store.open(folder, read_only=read_only, clock=clock, language=language, modes=modes)
        try:
            parts = cls(folder, settings, store, emit, clock, pace, modes, trust=trust)
            await parts.trust.begin()
            await parts.models.begin()
            await parts.bootstrap.begin()
        except BaseException:  # cut off or not, the lock is let go
            await store.close()
            raise
        parts.log = open_log(folder, read_only=read_only)
        return parts

    def forget_in_log(self, holds: Callable[[str], bool]) -> None:
        """Removes the lines that `holds` is true of. Raises OSError."""
        if self.log is not None:
            forget_in_log(self.log, self.folder, holds)

    async def _knowledge_ready(self, held: Mapping[str, str]) -> None:
        """Chapters may have moved, and tasks may have been done, while another server or none was there.

        A kill may have come between what was read of the story and the word of it.
        """
        self.knowledge.set_positions({chapter.id: chapter.position for chapter in await self.store.book.chapters()})
        await self.steps.enqueue_story()
        await self.background.heal(held)

    async def services(self, generation: Generation, spend: bool) -> Services:
        """What a run needs, by the settings of this moment; without `spend` nothing is paid or remembered."""
        await self.models.learn_windows()
        counter, monitor = await self.models.counter_at(generation, remember=spend), self.monitor()
        return Services(
            journal=self.store.runs,
            models=self.models,
            spend=self.models.spending,
            limits=self.limits,
            emit=self.emit,
            now=self.clock,
            feedback=feedback,
            context=self.context_agent(generation, counter, spend=spend) if self.settings.agents.context else None,
            monitor=None if monitor is None else StoredChecks(monitor, self.results),
            doubts=Doubts(self.store),
            actions=self.actions,
            context_budget=self.models.context_budget(),
            seal=await asyncio.to_thread(user_seal),
        )

    def context_agent(self, generation: Generation, counter: TokenCounter, *, spend: bool) -> ContextAgent:
        """The Context agent with the finder and, for inquiries and scenes, the agents' model."""
        return ContextAgent(
            self.store.memory,
            counter,
            self.settings.budget.context_tokens,
            prompts=self.prompts,
            model=self.models.agent,
            finder=RememberingFinder(self.knowledge, self.store, self.sources, generation, remember=spend),
            spend=spend,
            kinds=self.kinds,
            shelf=PinnedReferences(self.store.references, generation, always=self.settings.agents.references),
            fixed=_fixed_words(),
            endpoint=self.models.endpoint,
            asks_scene=self.settings.agents.scene,
        )

    def monitor(self) -> Monitor | None:
        """The Monitor; None when it is switched off."""
        if not self.settings.agents.monitor:
            return None
        return Monitor(
            self.store.memory, self.models.agent, self.models.counter, self.prompts, self.workshop.do, self.rules
        )

    def is_by_rule(self, chapter: Chapter) -> bool:
        """True for imported text when the agents' model takes money, until the writer has it read for that."""
        is_free = self.models.is_offline("agent")
        return chapter.author == "import" and not is_free and not self.bootstrap.has_read(chapter)

    async def curator(self, by_rule: bool) -> Curator | None:
        """The curator, with the agents' model, whose window is then known, or by rule; None when it is switched off."""
        if not self.settings.agents.curator:
            return None
        asks = not by_rule and self.models.endpoint("agent") is not None
        if asks:
            await self.models.learn_windows()
        # It measures by a rule that never learns: what it makes again must be what it made before.
        return Curator(self.models.agent if asks else None, TokenEstimator(), self.prompts, self.monitor())

    async def is_idle(self) -> bool:
        """True when no run and no paid job goes on."""
        job = await self.bootstrap.status()
        return self.runs.idle and (job is None or job.state not in ("running", "pausing"))

    async def story_changed(self) -> None:
        """Has the knowledge server updated with what the story says by now."""
        await self.steps.enqueue_story()
        self.background.wake()

    async def chapters_moved(self) -> None:
        """Has summaries of arcs checked again: other chapters may belong to them."""
        await self.store.outbox.add(await self.steps.summaries.all_arc_tasks())
        self.background.wake()

    async def adopt_models(self, identity: str) -> None:
        """Plays the user's and the agents' role with a model that was found here, from now on. Raises SettingsError."""
        self.settings = await adopt_model(self.folder, self.settings, identity)
        self.models.use(self.settings)
        await self.trust.renew_models(self.settings.models)

    async def start_knowledge(self) -> None:
        """Starts the knowledge server; a failure is shown in the status line and otherwise ignored."""
        try:
            agent = self.models.model("agent") if self.settings.knowledge.enabled else None
        except (ModelError, SettingsError):
            agent = None
        try:
            embedder = self.embeddings.embedder()
            if self.embeddings.waits and self.knowledge.asks():
                return
            await self.knowledge.start(embedder, agent)
        except (FlowCabalError, OSError) as error:
            if isinstance(error, ProjectNotConfirmed) or _is_not_confirmed(error):
                self.knowledge.held_back()
                return
            log.warning("knowledge server: %s", error)
            self.knowledge.failed(error.title if isinstance(error, FlowCabalError) else str(error))

    async def close(self) -> None:
        """Runs first, so that their text is journalled; the store last."""
        self.emit(Status("closing"))
        await self.runs.close()
        await self.bootstrap.close()
        await self.tasks.close()  # one of them may suspend the background and start it again
        await self.background.close()
        await self.knowledge.close()
        await self.models.close()
        await self.workshop.close()
        await self.store.close()
        if self.log is not None:
            close_log(self.log)


def _is_not_confirmed(error: Exception) -> bool:
    return isinstance(error, ModelError) and error.fault is ModelFault.NOT_CONFIRMED
