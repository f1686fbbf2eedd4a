"""What a project shows to its guests: frozen values, made fresh at every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, CommandId, EntityId, Generation, NodeId, OutputId, RunId
from flowcabal_tui.domain.manuscript import (
    Chapter,
    ChapterVersion,
    ImportPreview,
    Passage,
    Reference,
    ReferenceHit,
    ReferenceId,
)
from flowcabal_tui.domain.memory import (
    BackgroundTask,
    BootstrapQuote,
    BootstrapStatus,
    Curated,
    Derived,
    Entity,
    Freshness,
    Level,
    Mention,
    MetaName,
    StaleText,
    Totals,
)
from flowcabal_tui.domain.model_calls import Endpoint, EndpointCheck, Role
from flowcabal_tui.domain.origin import BlamedLine, Provenance
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.overview import Overview
from flowcabal_tui.domain.proposals import ProposalReader
from flowcabal_tui.domain.run import ANY_RUN, Attempt, NodeState, Question, Quote, RunRequest, RunSummary, RunWish
from flowcabal_tui.domain.search import SEARCH_KINDS, Occurrence, SearchAnswer, SearchKind
from flowcabal_tui.domain.story import Story
from flowcabal_tui.domain.trust import TrustState, TrustView
from flowcabal_tui.domain.versions import (
    ActionRow,
    NodeStanding,
    NodeVersion,
    RunDetails,
    VersionTrace,
    WorkflowVersion,
)
from flowcabal_tui.domain.workflow import Finding, Workflow
from flowcabal_tui.project.consent import EmbeddingQuote
from flowcabal_tui.protocol.base import Command, Event
from flowcabal_tui.protocol.memory import RebuildPart

if TYPE_CHECKING:
    from flowcabal_tui.project.book.backup import Manifest
    from flowcabal_tui.project.book.unsaved import UnsavedTexts
    from flowcabal_tui.project.book.upkeep import RebuildPlan


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """Who the project is. `offline`: the writer's model is the embedded one; `trust`: what the user has confirmed."""

    name: str
    language: str
    path: Path
    read_only: bool
    offline: bool
    models: tuple[tuple[Role, Endpoint], ...]
    holder: str = ""
    """Who has it open for writing, when we have it read-only."""
    trust: TrustState = "trusted"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that could be used. `local`: it costs nothing and sends nothing away. `identity` confirms it."""

    identity: str
    label: str
    local: bool


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node of a run: its attempts, newest last; `partial` is text not yet ended, `item_errors` of single items."""

    run: RunId
    node: NodeId
    title: str
    kind: str
    state: NodeState
    attempts: tuple[Attempt, ...]
    chosen: int
    partial: str = ""
    question: Question | None = None
    error: str = ""
    item_errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """How often an entity is mentioned, and the positions of the first and the last chapter that names it."""

    entity: EntityId
    mentions: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A line of the profile browser.

    `kind` is a profile kind, "arcs" for arcs and the whole work, or "chapters" for L0/L1 of chapters.
    """

    kind: str
    name: str
    uri: str
    abstract: str
    position: int
    versions: int
    kind_title: str = ""


@dataclass(frozen=True, slots=True)
class ProfileView:
    """A profile in its three levels, as contexts of a next chapter read it, with its history, newest first.

    `pinned` is the generation of the state that is pinned. `offered` are states of levels that were made since the
    writer's own words, or the pin, and stand beside them until they are taken. The L2 is the whole evidence, read
    from the index at the question: it has no history.
    """

    uri: str
    name: str
    levels: tuple[Derived, ...]
    history: tuple[Derived, ...]
    entity: Entity | None = None
    pinned: Generation | None = None
    offered: tuple[Derived, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceText:
    """A context source opened: its text, and the span that was cited (-1: all of it)."""

    uri: str
    title: str
    text: str
    start: int = -1
    end: int = -1


class Workbench(ProposalReader, Protocol):
    """A project as its guests see it: `send` commands, drain `take`n events, ask questions.

    All methods may be called from any thread or loop; the coroutines are awaited on the caller's loop
    while the work is done on the engine's. Cancelling a caller never cancels a command.
    """

    @property
    def info(self) -> ProjectInfo: ...

    @property
    def unsaved(self) -> UnsavedTexts: ...

    def send(self, command: Command) -> CommandId:
        """Queues a command; `command:done` or `command:failed` with this id follows."""

    async def carry_out(self, command: Command) -> str:
        """Sends a command and waits until it is done; returns its result. Raises FlowCabalError."""

    def watch(self, run: RunId | None, node: NodeId | None) -> None:
        """Text of this node only is wanted in the feed (None: of none)."""

    def take(self) -> tuple[Event, ...]:
        """All events since the last call, text coalesced; never blocks."""

    async def trust(self) -> TrustView: ...

    async def embedding_question(self) -> EmbeddingQuote | None:
        """What is asked before texts of the book are first sent to the embedding model; None: nothing is asked."""

    async def chapters(self) -> tuple[Chapter, ...]: ...
    async def chapter_text(self, chapter: ChapterId, version: int | None = None) -> str: ...

    async def outside_text(self, chapter: ChapterId) -> str | None:
        """The text of a chapter's file that another program changed and the writer has not looked at."""

    async def chapter_versions(self, chapter: ChapterId) -> tuple[ChapterVersion, ...]: ...

    async def kept(self, chapter: ChapterId | None = None) -> tuple[Curated, ...]: ...
    async def kept_text(self, output: OutputId) -> str: ...

    async def deleted_chapters(self) -> tuple[Chapter, ...]:
        """Those that can be brought back, by the place where they stood."""

    async def stale(self) -> tuple[StaleText, ...]:
        """Summaries and profiles that were made from text that was changed since, in story order."""
        ...

    async def rebuild_plan(self, what: RebuildPart = "all") -> RebuildPlan:
        """What a rebuild would do; changes nothing."""
        ...

    async def back_up(self, target: Path) -> Manifest:
        """Writes a backup while the project goes on. Raises ProjectExists or DiskFull."""
        ...

    async def meta(self, name: MetaName) -> str: ...
    async def outline(self) -> tuple[BookOutline, int]: ...

    async def entities(self) -> tuple[Entity, ...]:
        """All of them, by first mention, then id."""
        ...

    async def story(self) -> Story:
        """Relations, facts, promises and moments as they are now, in story order."""
        ...

    async def seen(self) -> tuple[Seen, ...]:
        """Those who are mentioned."""
        ...

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        """Every place of the present texts that names an entity, in story order."""
        ...

    async def companions(
        self, entity: EntityId, before: ChapterId | None = None
    ) -> tuple[tuple[EntityId, int, ChapterId], ...]:
        """With whom it is named in one passage, in how many passages, and in which chapter last; most first."""
        ...

    async def workflows(self) -> tuple[Workflow, ...]:
        """The newest version of each, templates first."""
        ...

    async def workflow(self, reference: str) -> Workflow: ...

    async def validate(self, workflow: Workflow) -> tuple[Finding, ...]: ...

    async def runs(self, limit: int = 50, wish: RunWish = ANY_RUN) -> tuple[RunSummary, ...]: ...

    async def run_workflow(self, run: RunId) -> Workflow:
        """The document as it was when the run began."""
        ...

    async def node(self, run: RunId, node: NodeId) -> NodeView: ...

    async def questions(self) -> tuple[Question, ...]:
        """Oldest first."""
        ...

    async def versions(self, workflow: str, node: NodeId, chapter: ChapterId | None = None) -> tuple[NodeVersion, ...]:
        """All outputs of a node over all runs for this chapter and all edits, newest first, without their texts.

        `workflow` is an id, with or without a version: all versions of the document count. `node` is a path.
        """
        ...

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        """Their texts in this order, as a person reads them, such as two to compare."""
        ...

    async def version_trace(self, run: RunId, node: NodeId, attempt: int = 0) -> VersionTrace:
        """What was sent for an attempt (0: the one that stood), made again from the log; spends nothing."""
        ...

    async def standing(self, workflow: str, chapter: ChapterId | None = None) -> tuple[NodeStanding, ...]:
        """Every node of the document: what stands for it, frozen or not, and whether that is out of date."""
        ...

    async def todo(
        self, workflow: str, chapter: ChapterId | None = None, targets: Sequence[NodeId] = ()
    ) -> tuple[tuple[NodeId, ...], ...]:
        """What has no output or a stale one, level by level; with targets, what these need."""
        ...

    async def workflow_versions(self, workflow: str) -> tuple[WorkflowVersion, ...]:
        """The saved documents of a workflow, newest first; `workflow` opens one by its reference."""
        ...

    async def run_details(self, run: RunId) -> RunDetails:
        """A run of the history with its nodes, tokens and money."""
        ...

    async def replay(self, run: RunId) -> tuple[Event, ...]:
        """The events of a run again, in their order, from its log: nothing is called, nothing is paid."""
        ...

    async def actions(self, query: str = "") -> tuple[ActionRow, ...]:
        """The actions that the project may use; with a query those that fit, best first."""
        ...

    async def quote(self, request: RunRequest) -> Quote: ...

    async def preview_context(self, request: RunRequest, node: NodeId) -> Receipt:
        """The receipt that the node would get now; spends nothing."""
        ...

    async def profiles(self) -> tuple[ProfileRow, ...]: ...

    async def profile(self, uri: str) -> ProfileView: ...

    async def source(
        self, uri: str, start: int = -1, end: int = -1, level: Level | None = None, receipt: Receipt | None = None
    ) -> SourceText:
        """A text that was cited or found; with a level, what stands of a profile, or of a chapter's summary, in it.

        With the receipt that names it, as its run saw it.
        """
        ...

    async def search(self, query: str, kinds: Sequence[SearchKind] = SEARCH_KINDS, limit: int = 50) -> SearchAnswer:
        """The best `limit` places of each kind in the whole project; an empty query finds nothing."""
        ...

    async def blame(self, chapter: ChapterId) -> tuple[BlamedLine, ...]:
        """Every line of the newest text that is not blank, with the version and output that brought it."""
        ...

    async def provenance(self, chapter: ChapterId, line: int) -> Provenance:
        """What wrote a line (by its number), and what it was given."""
        ...

    async def overview(self) -> Overview:
        """Lengths, goals, and how each chapter stands."""
        ...

    async def scenes(self, chapter: ChapterId) -> tuple[Passage, ...]:
        """The scenes of a chapter's newest text, in order, without gaps."""
        ...

    async def occurrences(self, words: str) -> tuple[Occurrence, ...]:
        """Every place of the manuscript where exactly these words stand, as words of their own, in story order."""
        ...

    async def background(self, state: Freshness | None = None) -> tuple[BackgroundTask, ...]:
        """Tasks in a state (None: in any but fresh), in order of work."""
        ...

    async def background_counts(self) -> dict[Freshness, int]:
        """How many tasks there are in each state, those of a paid reading among them."""
        ...

    async def totals(self) -> Totals: ...

    async def preview_import(self, path: Path) -> ImportPreview: ...

    async def references(self) -> tuple[Reference, ...]:
        """The reference books, oldest first."""
        ...

    async def reference_parts(self, book: ReferenceId) -> tuple[tuple[int, str, str], ...]:
        """Number, title and volume of each part; `source` opens one at `reference/<book>/<number>`."""
        ...

    async def search_references(
        self, query: str, book: ReferenceId | None = None, limit: int = 20
    ) -> tuple[ReferenceHit, ...]:
        """The passages that hold any of the words, best first, in one reference book or in all."""
        ...

    async def bootstrap(self) -> BootstrapStatus | None:
        """How far the reading of imported chapters is; None when there never was one."""
        ...

    async def quote_bootstrap(self, first: int | None = None, last: int | None = None) -> BootstrapQuote:
        """What reading imported chapters would take at most; of a reading that is paused, what is left."""
        ...

    async def export(self, path: Path, form: str) -> Path: ...

    async def found_models(self) -> tuple[FoundModel, ...]:
        """Models that could play here, the embedded one last; asks nobody who takes money."""
        ...

    async def check_models(self) -> tuple[EndpointCheck, ...]:
        """One small call a role."""
        ...

    async def draft(self, key: str) -> str | None:
        """Other unsaved text that survived a crash: a wish, a decision, an edited workflow."""
        ...

    async def put_draft(self, key: str, text: str | None) -> None: ...

    async def linger(self) -> None:
        """Returns when no run can go on without a human: for a terminal that hung up."""
        ...

    async def close(self) -> None:
        """Ends runs at once with their text journalled, and everything else."""
        ...
