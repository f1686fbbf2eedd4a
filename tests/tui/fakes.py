"""A project in memory: answers every question of the screen, records commands, plays scripted events."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.changes import LoggedChange
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ProjectReadOnly
from flowcabal_tui.domain.ids import ChapterId, CommandId, Digest, EntityId, Generation, NodeId, OutputId, RunId
from flowcabal_tui.domain.impact import BookChange, Impact
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, Draft, ImportedChapter, ImportPreview
from flowcabal_tui.domain.memory import (
    BackgroundTask,
    BootstrapQuote,
    Curated,
    Entity,
    Freshness,
    Level,
    Mention,
    MetaName,
    StaleText,
    TaskKind,
    Totals,
)
from flowcabal_tui.domain.model_calls import (
    EndpointCheck,
    Message,
    Usage,
)
from flowcabal_tui.domain.name_card import NameCard
from flowcabal_tui.domain.platforms import Platform, PlatformExport
from flowcabal_tui.domain.proposals import ProposalFilter, ProposalPage
from flowcabal_tui.domain.run import (
    ANY_RUN,
    Attempt,
    NodeState,
    Question,
    Quote,
    RunFilter,
    RunRequest,
    RunSummary,
    Spend,
)
from flowcabal_tui.domain.run_details import RunDetails
from flowcabal_tui.domain.story import RecordId, Story
from flowcabal_tui.domain.text import digest, word_count
from flowcabal_tui.domain.trust import TrustRequest, TrustView
from flowcabal_tui.domain.versions import (
    ActionRow,
    CurrentOutput,
    NodeStatus,
    NodeVersion,
    StaleMark,
    VersionTrace,
    WorkflowVersion,
)
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.project.book.backup import BackupManifest, Member
from flowcabal_tui.project.views import (
    Appearances,
    FoundModel,
    NodeView,
    OpenedSource,
    ProfileRow,
    ProfileView,
    ProjectInfo,
    RebuildPlan,
    UnpaidWork,
)
from flowcabal_tui.protocol.base import Command, CommandDone, CommandFailed, Event
from flowcabal_tui.protocol.book import (
    AddChapter,
    BookChanged,
    CheckBeats,
    DeleteOutput,
    DropRewrite,
    EditChapter,
    OutputPersisted,
    PersistOutput,
    RewriteProposed,
    RewriteSelection,
    TagOutput,
    TakeRewrite,
    WriteChapter,
)
from flowcabal_tui.protocol.findings import ChangeFromHere, DecideFindings, FindingsChanged
from flowcabal_tui.protocol.memory import Purge, RebuildPart, TextPurged
from flowcabal_tui.protocol.models import ConfirmTrust, TrustChanged
from flowcabal_tui.protocol.revision import (
    AddComment,
    CommentsChanged,
    EditComments,
    LockChapters,
    PutPasses,
    RemoveComments,
    TickPass,
)
from flowcabal_tui.protocol.runs import (
    Decide,
    NodeCompleted,
    NodeNeedsHuman,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    QuestionAnswered,
    RunStarted,
    RunStateChanged,
    RunWorkflow,
    WorkflowCompleted,
)
from flowcabal_tui.protocol.story import (
    ApplyImpact,
    AskPatches,
    CorrectProposal,
    DecideProposals,
    PutEntity,
    PutRecord,
    RemoveEntity,
    RemoveRecord,
    SetNameKinds,
    UndoDecision,
)
from flowcabal_tui.protocol.workflows import (
    EditOutput,
    FreezeNode,
    MarksChanged,
    SaveWorkflow,
    SelectVersion,
    UnfreezeNode,
)
from tests.tui import fake_books as books
from tests.tui import fake_story
from tests.tui.fake_builds import FakeBuilds
from tests.tui.fake_findings import FakeFindings
from tests.tui.fake_impact import FakeImpact
from tests.tui.fake_knowledge import FakeKnowledge
from tests.tui.fake_proposals import FakeProposals
from tests.tui.fake_reading import FakeReading
from tests.tui.fake_revision import FakeRevision
from tests.tui.fake_settings import FakeSettings


class FakeDrafts:
    """Unsaved texts, each with the version that it was typed over."""

    def __init__(self, project: FakeProject) -> None:
        self._project = project
        self.texts: dict[ChapterId, tuple[str, int | None]] = {}
        self.fields: dict[str, str] = {}

    async def of(self, chapter: ChapterId) -> Draft | None:
        if chapter not in self.texts:
            return None
        newest = next((row.version for row in self._project.chapter_rows if row.id == chapter), 0)
        text, base = self.texts[chapter]
        return Draft(chapter, text, base, newest, books.NOW)

    async def all(self) -> tuple[tuple[Chapter, Draft], ...]:
        found = [(row, await self.of(row.id)) for row in self._project.chapter_rows]
        return tuple((row, draft) for row, draft in found if draft is not None)

    async def put(self, chapter: ChapterId, text: str | None, base: int | None) -> bool:
        known = self._project.version_rows.get(chapter, ())
        if text is None or text in (kept for version, kept in known if version.version >= (base or 0)):
            self.texts.pop(chapter, None)
            return False
        self.texts[chapter] = (text, base)
        return True

    async def draft(self, key: str) -> str | None:
        return self.fields.get(key)

    async def put_draft(self, key: str, text: str | None) -> None:
        if text is None:
            self.fields.pop(key, None)
        else:
            self.fields[key] = text


class FakeProject(FakeReading, FakeBuilds):
    """A project of four chapters whose run "run-1" waits for a review of its draft.

    `sent` has every command; `take` gives what commands caused, then one batch of `script` a call.
    """

    def __init__(self, language: str = "en", *, read_only: bool = False, offline: bool = True) -> None:
        self.words = books.ZH if language.startswith("zh") else books.EN
        endpoint = Endpoint(provider="offline" if offline else "openai", model="offline" if offline else "writer-1")
        self._info = ProjectInfo(
            self.words.name, language, Path("book"), read_only, offline, (("user", endpoint), ("agent", endpoint)),
            "host, process 4711" if read_only else "",
        )  # fmt: skip
        self.trust_view = TrustView("trusted", TrustRequest())
        self.settings = FakeSettings(self._info.name, self.words.language, endpoint)
        self.sent: list[Command] = []
        self.results: dict[type[Command], str] = {}
        """What commands give back, of which nothing else is known."""
        self.script: deque[tuple[Event, ...]] = deque()
        self.watched: tuple[RunId | None, NodeId | None] = (None, None)
        self.closed = self.has_begun = False
        self.book = self.runs = self.memory = self.story = self.workflows = self.models = self.builds = self
        self.build_records = {}
        self.drafts, self.findings = FakeDrafts(self), FakeFindings(self.words)
        self.revision, self.knowledge = FakeRevision(self.words), FakeKnowledge(self.words)
        self.outside: dict[ChapterId, str] = {}
        self.exported: list[Path] = []
        self.chapter_rows = list(books.chapters(self.words))
        self.version_rows = books.versions(self.words)
        self.documents = [books.workflow(self.words)]
        self.waiting: list[Question] = [books.review(self.words)]
        self.run_rows = [
            RunSummary(
                books.RUN, "chapter@1", books.chapter_id(4), "waiting", books.NOW, Generation(3),
                ((books.PLAN, "done"), (books.DRAFT, "waiting"), (books.POLISH, "pending")),
            )
        ]  # fmt: skip
        plan = Attempt(
            1, self.words.plan, digest=digest(self.words.plan), key=digest("plan"), model="offline", cached=True
        )
        self.node_views: dict[tuple[RunId, NodeId], NodeView] = {}
        self.put_node(books.RUN, books.PLAN, "done", (plan,))
        self.put_node(books.RUN, books.DRAFT, "waiting", books.attempts(self.words))
        self.put_node(books.RUN, books.POLISH, "pending", ())
        self.profile_views = books.profiles(self.words)
        self._events: list[Event] = []
        self.told: dict[RunId, tuple[Event, ...]] = {}
        self.action_rows: tuple[ActionRow, ...] = ()
        self.kinds: tuple[BookKind, ...] = ()
        self.people = list(fake_story.people(self.words))
        self.cards_asked: list[tuple[EntityId, ChapterId | None]] = []
        self.records = fake_story.story(self.words)
        self.proposal_list, self.impacts = FakeProposals(self.words), FakeImpact(self.words)
        self.versions_of: dict[NodeId, list[NodeVersion]] = {}
        self.version_texts: dict[Digest, str] = {}
        self.marks: dict[NodeId, StaleMark] = {}
        self.kept_rows: list[tuple[Curated, str]] = []
        self.edited_since = False
        """The chapter of a kept output was edited after the keep."""
        self.deleted_rows: list[Chapter] = []
        self.logged_changes: list[LoggedChange] = []
        self.stale_rows: list[StaleText] = []
        self.unpaid_work: UnpaidWork | None = None
        self.tasks = [BackgroundTask(1, "l0", books.chapter_id(3), digest("l0"), "waiting", 3)]
        self.put_versions(books.DRAFT, self.words.first_draft, self.words.second_draft)

    def put_versions(self, node: NodeId, *texts: str) -> None:
        """Gives a node versions, oldest first; the last one stands."""
        for number, text in enumerate(texts, 1):
            self.version_texts[digest(text)] = text
            self.versions_of.setdefault(node, []).append(
                NodeVersion(
                    number, node, books.NOW, books.RUN, number, digest=digest(text), model="offline",
                    usage=Usage(1200, 300), seconds=2.5, current=number == len(texts),
                )
            )  # fmt: skip

    def put_node(self, run: RunId, node: NodeId, state: NodeState, attempts: tuple[Attempt, ...]) -> None:
        """Makes a node of a run look like this."""
        question = next((item for item in self.waiting if (item.run, item.node) == (run, node)), None)
        title = self.documents[0].node(node).title
        self.node_views[run, node] = NodeView(run, node, title, "prompt", state, attempts, len(attempts), "", question)

    def ask(self, question: Question) -> None:
        """Puts another question to the writer."""
        self.waiting.append(question)
        self._events.append(NodeNeedsHuman(question))

    def emit(self, *events: Event) -> None:
        """Puts events in front of the next `take`."""
        self._events.extend(events)

    def script_stream(self, run: RunId, node: NodeId, text: str, *, attempt: int = 1, piece: int = 8) -> None:
        """Plays a node that streams `text` in pieces, one a `take`, and completes."""
        self.script.append(
            (NodeStateChanged(run, node, "running"), NodeStarted(run, node, node, attempt, books.receipt(self.words)))
        )
        for offset in range(0, len(text), piece):
            self.script.append((NodeStreaming(run, node, attempt, offset, text[offset : offset + piece]),))
        self.script.append((NodeCompleted(run, node, attempt, text, False), NodeStateChanged(run, node, "done")))

    # Project

    @property
    def info(self) -> ProjectInfo:
        return replace(self._info, trust=self.trust_view.state)

    @property
    def is_read_only(self) -> bool:
        return self._info.read_only

    @property
    def folder(self) -> Path:
        return self._info.path

    @property
    def language(self) -> str:
        return self._info.language

    async def complete(self) -> None:
        """All is there."""

    def send(self, command: Command) -> CommandId:
        self.sent.append(command)
        known = CommandId(f"command-{len(self.sent)}")
        if self._info.read_only:
            self._events.append(CommandFailed(known, "The project is open read-only.", self._info.holder))
            return known
        self._events.append(CommandDone(known, self._apply(command, known)))
        return known

    async def carry_out(self, command: Command) -> str:
        self.send(command)
        if self._info.read_only:
            raise ProjectReadOnly("The project is open read-only.", self._info.holder)
        done = next(event for event in reversed(self._events) if isinstance(event, CommandDone))
        return done.result

    def begin(self) -> None:
        self.has_begun = True

    def watch(self, run: RunId | None, node: NodeId | None) -> None:
        self.watched = (run, node)

    def take(self) -> tuple[Event, ...]:
        taken, self._events = tuple(self._events), []
        return taken + (self.script.popleft() if self.script else ())

    def _apply(self, command: Command, known: CommandId) -> str:
        """What a command changes; the id of what it made."""
        self.settings.apply(command)
        match command:
            case ConfirmTrust(items=items):
                rest = TrustRequest(tuple(item for item in self.trust_view.asked.items if item.digest not in items))
                self.trust_view = TrustView("changed" if rest.items else "trusted", rest, self.trust_view.asked)
                self._events.append(TrustChanged(self.trust_view.state))
            case WriteChapter(chapter=chapter, text=text, note=note):
                self.outside.pop(chapter, None)
                if command.settles_draft:
                    self.drafts.texts.pop(chapter, None)
                return self._write(chapter, text, note)
            case PersistOutput(run=run, node=node, attempt=number, chapter=chapter):
                view = self.node_views[run, node]
                if chapter is not None:
                    self._write(chapter, view.attempts[(number or view.chosen) - 1].text, "")
                self._events.append(OutputPersisted(OutputId("output-1"), chapter, 1, True, node))
            case CheckBeats(chapter=chapter):
                self.advised_on = self._text(next(row for row in self.chapter_rows if row.id == chapter))
            case AddChapter(title=title, volume=volume):
                number = len(self.chapter_rows) + 1
                self.chapter_rows.append(Chapter(books.chapter_id(number), number, title, volume))
                self._events.append(BookChanged(books.chapter_id(number)))
                return books.chapter_id(number)
            case EditChapter():
                self._edit_chapter(command)
            case RunWorkflow(request=request):
                return self._run(request)
            case Decide(question=question, decision=decision):
                self.waiting = [item for item in self.waiting if item.id != question]
                self._events.append(QuestionAnswered(question, decision))
            case RewriteSelection(chapter=chapter, start=start, end=end, text=text, instruction=wanted):
                made = self.revision.propose(command)
                self._events.append(
                    RewriteProposed(known, chapter, start, end, text, made.after, made.model, wanted, made.id)
                )
            case TakeRewrite(rewrite=rewrite):
                self.revision.decide(rewrite, "accepted")
                return "41"
            case DropRewrite(rewrite=rewrite):
                self.revision.decide(rewrite, "refused")
            case SaveWorkflow(workflow=document):
                newest = max((item.version for item in self.documents if item.id == document.id), default=0)
                saved = document.model_copy(update={"version": newest + 1})
                self.documents = [saved, *(item for item in self.documents if item.id != document.id)]
                return saved.reference
            case DeleteOutput(output=output, restore=back):
                self.kept_rows = [
                    (replace(kept, deleted=not back) if kept.id == output else kept, text)
                    for kept, text in self.kept_rows
                ]
                return "edited" if self.edited_since and not back else ""
            case TagOutput(output=output, tags=tags):
                self.kept_rows = [
                    (replace(kept, tags=tags) if kept.id == output else kept, text) for kept, text in self.kept_rows
                ]
            case Purge(output=output, chapter=chapter):
                self.kept_rows = [row for row in self.kept_rows if row[0].id != output]
                self.chapter_rows = [row for row in self.chapter_rows if row.id != chapter]
                self.deleted_rows = [row for row in self.deleted_rows if row.id != chapter]
                self._events.append(TextPurged(chapter, 2, 1, 3, 4))
            case SetNameKinds(kinds=kinds):
                self.kinds = kinds
            case PutEntity(entity=entity):
                self.people = [*(each for each in self.people if each.id != entity.id), entity]
                self._events.append(BookChanged())
            case RemoveEntity(entity=gone):
                self.people = [each for each in self.people if each.id != gone]
                self._events.append(BookChanged())
            case DecideFindings() | ChangeFromHere():
                self.findings.carry_out(command)
                self._events.append(FindingsChanged())
            case AddComment() | EditComments() | RemoveComments() | LockChapters() | PutPasses() | TickPass():
                self._events.append(CommentsChanged())
                return self.revision.carry_out(command)
            case ApplyImpact():
                self.impacts.apply(command, self.people)
            case AskPatches():
                self.impacts.patched = True
                return "0"
            case UndoDecision() if self.impacts.applied:
                self.impacts.applied = None
            case UndoDecision() if self.findings.rows:
                self.findings.carry_out(command)
                self._events.append(FindingsChanged())
            case DecideProposals() | CorrectProposal() | UndoDecision():
                self.proposal_list.carry_out(command)
                self._events.append(BookChanged())
            case PutRecord(record=record):
                written = replace(record, id=record.id or RecordId(f"written-{len(self.sent)}"))
                self.records = fake_story.with_record(self.records, written)
                self._events.append(BookChanged())
                return written.id
            case RemoveRecord(record=identity):
                self.records = fake_story.without_record(self.records, identity)
                self._events.append(BookChanged())
            case SelectVersion(node=node, digest=chosen):
                self._stand(node, chosen, chosen_by_hand=True)
            case FreezeNode(node=node, digest=chosen):
                self._freeze(node, chosen)
            case UnfreezeNode(node=node):
                self.versions_of[node] = [replace(each, frozen=False) for each in self.versions_of[node]]
            case EditOutput(node=node, text=text):
                self.version_texts[digest(text)] = text
                number = len(self.versions_of[node]) + 1
                made = NodeVersion(number, node, books.NOW, RunId(""), digest=digest(text), author="human")
                self.versions_of[node].append(made)
                self._stand(node, made.digest, chosen_by_hand=True)
                return made.digest
        made = self.apply_to_build(command)
        return self.results.get(type(command), "") if made is None else made

    def _stand(self, node: NodeId, chosen: Digest, *, chosen_by_hand: bool) -> None:
        self.versions_of[node] = [
            replace(each, current=each.digest == chosen, chosen=chosen_by_hand and each.digest == chosen)
            for each in self.versions_of[node]
        ]
        self._events.append(MarksChanged("chapter", None, (node,)))

    def _freeze(self, node: NodeId, chosen: Digest) -> None:
        wanted = chosen or next(each.digest for each in self.versions_of[node] if each.current)
        self.versions_of[node] = [
            replace(each, frozen=each.digest == wanted, current=each.digest == wanted)
            for each in self.versions_of[node]
        ]

    def _write(self, chapter: ChapterId, text: str, note: str) -> str:
        older = self.version_rows.get(chapter, ())
        number = len(older) + 1
        version = ChapterVersion(chapter, number, digest(text), "human", books.NOW, Generation(9), note=note)
        self.version_rows[chapter] = ((version, text), *older)
        length = word_count(text)
        self.chapter_rows = [
            replace(row, version=number, digest=digest(text), length=length) if row.id == chapter else row
            for row in self.chapter_rows
        ]
        self._events.append(BookChanged(chapter))
        return str(number)

    def _edit_chapter(self, command: EditChapter) -> None:
        row = next(item for item in self.chapter_rows if item.id == command.chapter)
        rest = [item for item in self.chapter_rows if item.id != command.chapter]
        if not command.deleted:
            rest.insert((command.position or row.position) - 1, replace(row, title=command.title or row.title))
        self.chapter_rows = [replace(item, position=number) for number, item in enumerate(rest, 1)]
        self._events.append(BookChanged(command.chapter))

    def _run(self, request: RunRequest) -> RunId:
        """A run whose nodes stream one after the other over the next calls of `take`."""
        run = RunId(f"run-{len(self.run_rows) + 1}")
        document = next(item for item in self.documents if item.reference == request.workflow)
        nodes = tuple(node.id for node in document.nodes)
        summary = RunSummary(
            run, request.workflow, request.chapter, "running", books.NOW, Generation(3),
            tuple((node, "pending") for node in nodes),
        )  # fmt: skip
        self.run_rows.insert(0, summary)
        self._events.append(RunStarted(run, request.workflow, request.chapter, nodes))
        texts = (self.words.plan, self.words.first_draft, self.words.second_draft)
        for node, text in zip(nodes, texts, strict=False):
            self.put_node(
                run, node, "done", (Attempt(1, text, digest=digest(text), key=digest(node), model="offline"),)
            )
            self.script_stream(run, node, text)
        self.script.append((RunStateChanged(run, "done"), WorkflowCompleted(run, ((nodes[-1], texts[-1]),))))
        return run

    async def embedding_question(self) -> None:
        return None

    async def chapters(self) -> tuple[Chapter, ...]:
        return tuple(self.chapter_rows)

    async def chapter_text(self, chapter: ChapterId, version: int | None = None) -> str:
        found = self.version_rows.get(chapter, ())
        return next((text for item, text in found if version in (None, item.version)), "")

    async def outside_text(self, chapter: ChapterId) -> str | None:
        return self.outside.get(chapter)

    async def chapter_versions(self, chapter: ChapterId) -> tuple[ChapterVersion, ...]:
        return tuple(item for item, _text in self.version_rows.get(chapter, ()))

    async def kept_text(self, output: OutputId) -> str:
        return next(text for kept, text in self.kept_rows if kept.id == output)

    async def deleted_chapters(self) -> tuple[Chapter, ...]:
        return tuple(self.deleted_rows)

    async def changes(self, limit: int = 200) -> tuple[LoggedChange, ...]:
        return tuple(self.logged_changes[:limit])

    async def last_change(self) -> LoggedChange | None:
        return next((each for each in self.logged_changes if not each.undone and each.kind != "undo"), None)

    async def stale(self) -> tuple[StaleText, ...]:
        return tuple(self.stale_rows)

    async def kept(self, chapter: ChapterId | None = None) -> tuple[Curated, ...]:
        return tuple(kept for kept, _text in self.kept_rows if chapter in (None, kept.chapter))

    async def rebuild_plan(self, what: RebuildPart = "all") -> RebuildPlan:
        return RebuildPlan(4, ("manuscript/chapter-2",), tuple(self.stale_rows), (("l1", 3),))

    async def back_up(self, target: Path) -> BackupManifest:
        self.exported.append(target)
        return BackupManifest("", "", books.NOW, "p", "n", "en", 1, {"flowcabal.db": Member(3 * 2**20, "")})

    async def meta(self, name: MetaName) -> str:
        return f"{name}: {self.words.abstract}"

    async def entities(self) -> tuple[Entity, ...]:
        return tuple(self.people)

    async def name_kinds(self) -> tuple[BookKind, ...]:
        return self.kinds

    async def all(self) -> Story:
        return self.records

    async def proposals(self, where: ProposalFilter, offset: int = 0, limit: int = 100) -> ProposalPage:
        return self.proposal_list.page(where, offset, limit)

    async def impact(self, change: BookChange) -> Impact:
        return self.impacts.of(change, self.people)

    async def quote_patches(self, change: BookChange, places: Sequence[str] = ()) -> Quote:
        spend = Spend(len(places), 400, 30, Decimal("0.01"))
        return Quote((), (), spend, spend.times(4), currency="USD")

    async def seen(self) -> tuple[Appearances, ...]:
        return fake_story.seen()

    async def name_card(self, entity: EntityId, chapter: ChapterId | None = None) -> NameCard:
        self.cards_asked.append((entity, chapter))
        position = next((each.position for each in self.chapter_rows if each.id == chapter), len(self.chapter_rows) + 1)
        return fake_story.card(next(each for each in self.people if each.id == entity), position, self.words)

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        return fake_story.mentions(entity, self.words)

    async def companions(
        self, entity: EntityId, before: ChapterId | None = None
    ) -> tuple[tuple[EntityId, int, ChapterId], ...]:
        limit = next((row.position for row in self.chapter_rows if row.id == before), len(self.chapter_rows) + 1)
        places = {row.id: row.position for row in self.chapter_rows}
        return tuple(each for each in fake_story.companions(entity) if places[each[2]] < limit)

    async def newest(self) -> tuple[Workflow, ...]:
        return tuple(self.documents)

    async def get(self, reference: str) -> Workflow:
        return next(item for item in self.documents if reference in (item.reference, item.id))

    async def trust(self) -> TrustView:
        return self.trust_view

    async def validate(self, workflow: Workflow) -> tuple[Problem, ...]:
        return validate(workflow)

    async def versions(self, workflow: str, node: NodeId, chapter: ChapterId | None = None) -> tuple[NodeVersion, ...]:
        return tuple(reversed(self.versions_of.get(node, ())))

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        return tuple(self.version_texts[each.digest] for each in versions)

    async def version_trace(self, run: RunId, node: NodeId, attempt: int = 0) -> VersionTrace:
        return VersionTrace((Message("user", self.words.prompts[1]),), True)

    async def statuses(self, workflow: str, chapter: ChapterId | None = None) -> tuple[NodeStatus, ...]:
        document = next(item for item in self.documents if item.id == workflow)
        return tuple(NodeStatus(node.id, self._current(node.id), self.marks.get(node.id)) for node in document.nodes)

    def _current(self, node: NodeId) -> CurrentOutput | None:
        found = next((each for each in self.versions_of.get(node, ()) if each.current), None)
        return found and CurrentOutput(node, found.digest, "text", found.at, found.frozen, found.chosen, found.run)

    async def todo(
        self, workflow: str, chapter: ChapterId | None = None, targets: Sequence[NodeId] = ()
    ) -> tuple[tuple[NodeId, ...], ...]:
        return ((books.PLAN,), (books.POLISH,))

    async def workflow_versions(self, workflow: str) -> tuple[WorkflowVersion, ...]:
        return tuple(
            WorkflowVersion(each.reference, each.version, each.name, len(each.nodes), books.NOW)
            for each in self.documents if each.id == workflow
        )  # fmt: skip

    async def run_details(self, run: RunId) -> RunDetails:
        summary = next(item for item in self.run_rows if item.id == run)
        return RunDetails(summary, RunRequest(summary.workflow), await self.run_workflow(run), (), Totals())

    async def replay(self, run: RunId) -> tuple[Event, ...]:
        return self.told.get(run, ())

    async def actions(self, query: str = "") -> tuple[ActionRow, ...]:
        return tuple(row for row in self.action_rows if query in row.description)

    async def summaries(self, limit: int = 50, where: RunFilter = ANY_RUN) -> tuple[RunSummary, ...]:
        older = [each.id for each in self.run_rows].index(where.before) + 1 if where.before else 0
        return tuple(
            each
            for each in self.run_rows[older:]
            if where.chapter in ("any", each.chapter)
            and where.run in (None, each.id)
            and not (where.unended and each.state in ("done", "failed", "cancelled"))
        )[: limit if limit >= 0 else None]

    async def run_workflow(self, run: RunId) -> Workflow:
        summary = next(item for item in self.run_rows if item.id == run)
        return await self.get(summary.workflow)

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        return self.node_views[run, node]

    async def questions(self) -> tuple[Question, ...]:
        return tuple(self.waiting)

    async def quote(self, request: RunRequest) -> Quote:
        price = Decimal(0) if self.info.offline else None
        likely, most = Spend(9, 6_000, 3_000, price), Spend(108, 90_000, 60_000, price)
        return Quote((books.PLAN, books.DRAFT, books.POLISH), (), likely, most)

    async def preview_context(self, request: RunRequest, node: NodeId) -> Receipt:
        return books.receipt(self.words, node)

    async def profiles(self) -> tuple[ProfileRow, ...]:
        return tuple(row for row, _view in self.profile_views.values())

    async def profile(self, uri: str) -> ProfileView:
        return self.profile_views[uri][1]

    async def source(
        self, uri: str, start: int = -1, end: int = -1, level: Level | None = None, receipt: Receipt | None = None
    ) -> OpenedSource:
        chapter = next((row for row in self.chapter_rows if uri == f"manuscript/{row.id}"), None)
        if chapter is None:
            return OpenedSource(uri, uri, self.words.abstract, start, end)
        return OpenedSource(uri, chapter.title, await self.chapter_text(chapter.id), start, end)

    async def background(self, state: Freshness | None = None) -> tuple[BackgroundTask, ...]:
        return tuple(task for task in self.tasks if task.state == state or (state is None and task.state != "fresh"))

    async def background_counts(self) -> dict[Freshness, int]:
        return dict(Counter(task.state for task in self.tasks))

    async def totals(self) -> Totals:
        return Totals(3, 7_200, 900)

    async def bootstrap(self) -> None:
        return None

    async def quote_bootstrap(self) -> BootstrapQuote:
        return BootstrapQuote(0, 0, 0, 0, None, "", 0.0)

    async def quote_background(self, steps: Mapping[TaskKind, int]) -> Quote:
        if not steps or not any(role == "agent" and each.provider != "offline" for role, each in self._info.models):
            return Quote((), ())
        likely, most = Spend(2, 4_000, 900, Decimal("0.02")), Spend(6, 12_000, 4_000, Decimal("0.09"))
        return Quote((), (), likely, most, currency="CNY")

    async def unpaid(self) -> UnpaidWork | None:
        return self.unpaid_work

    async def preview_import(self, path: Path) -> ImportPreview:
        return ImportPreview((ImportedChapter(path.stem, self.words.texts[0]),), "utf-8", self.words.language)

    async def export(
        self, path: Path, form: str, chapters: Sequence[ChapterId] = (), *, comments: bool = False
    ) -> Path:
        self.exported.append(path)
        return path

    async def platforms(self) -> tuple[Platform, ...]:
        return (Platform("site", "A Site", "en", "2026-11-01"),)

    async def lay_out(
        self, platform: str, chapters: Sequence[ChapterId] = (), target: Path | None = None
    ) -> PlatformExport:
        if target:
            self.exported.append(target)
        text = f"{platform}: {', '.join(chapters) or 'all'}\n"
        return PlatformExport(text, len(chapters), ("shorter than 500: One", "A Site: 1 chapter"))

    async def found_models(self) -> tuple[FoundModel, ...]:
        return (FoundModel("openai:x:m", "Some provider: m", False), FoundModel("offline::offline", "offline", True))

    async def linger(self) -> None:
        """Nothing runs by itself here."""

    async def check_models(self) -> tuple[EndpointCheck, ...]:
        return tuple(EndpointCheck(role, True, "answers", 0.1) for role, _endpoint in self._info.models)

    async def close(self) -> None:
        self.closed = True
