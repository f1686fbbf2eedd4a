"""Which part carries out which command."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import CommandId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.curation import following
from flowcabal_tui.project.book.rewriting import rewrite
from flowcabal_tui.project.book.scene_set import set_scene
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import (
    AcceptRewrite,
    AddChapter,
    AssignOutline,
    BookChanged,
    DeleteOutput,
    EditChapter,
    ImportManuscript,
    MergeChapters,
    PersistOutput,
    RemoveReference,
    ReplaceText,
    RevertChange,
    RewriteSelection,
    SetScene,
    SplitChapter,
    WriteChapter,
    WriteMeta,
    WriteOutlinePart,
)
from flowcabal_tui.protocol.builds import AcceptBuild, AnswerBuild, RejectBuild, RequestBuild, UndoBuild
from flowcabal_tui.protocol.memory import (
    CancelBackground,
    PauseBootstrap,
    PinProfile,
    Purge,
    Rebuild,
    RegenerateProfile,
    RetryBackground,
    StartBootstrap,
    TakeProfile,
    WaiveFinding,
    WriteProfile,
)
from flowcabal_tui.protocol.models import AnswerEmbeddings, ConfirmModels, ConfirmTrust
from flowcabal_tui.protocol.runs import AdvanceRun, CancelRun, Decide, ResumeRun, RunWorkflow
from flowcabal_tui.protocol.story import (
    CorrectProposal,
    DecideProposals,
    PutEntity,
    PutRecord,
    RemoveEntity,
    RemoveRecord,
    UndoDecision,
)
from flowcabal_tui.protocol.workflows import (
    EditOutput,
    FreezeBlock,
    FreezeNode,
    SaveWorkflow,
    SelectVersion,
    UnfreezeNode,
)


class Handlers:
    """Carries out commands; returns the id of what was made, or ""."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def expect(self, command: Command) -> None:
        """Is told of each command as it is sent, before it is carried out."""
        if isinstance(command, StartBootstrap):
            self._parts.bootstrap.expect()

    def takes_long(self, command: Command) -> bool:
        """True for commands that must not hold up those behind them."""
        paid = ImportManuscript | RewriteSelection | ConfirmModels | Rebuild | AnswerEmbeddings
        return isinstance(command, paid | RequestBuild | AnswerBuild)

    def is_urgent(self, command: Command) -> bool:
        """True for commands that wait for no other: stopping works at once."""
        return isinstance(command, CancelRun | CancelBackground | PauseBootstrap)

    async def handle(self, identity: CommandId, command: Command) -> str:
        """Raises FlowCabalError, and then nothing was changed."""
        parts = self._parts
        if isinstance(command, RunWorkflow | ResumeRun | RewriteSelection | RetryBackground | StartBootstrap):
            parts.limits.hurry()
        match command:
            case RunWorkflow() | ResumeRun() | CancelRun() | AdvanceRun() | Decide():
                return await self._run(command)
            case RequestBuild() | AnswerBuild() | AcceptBuild() | RejectBuild() | UndoBuild():
                return await self._build(command)
            case SaveWorkflow() | SelectVersion() | EditOutput() | FreezeNode() | UnfreezeNode() | FreezeBlock():
                return await self._version(command)
            case RewriteSelection():
                parts.emit(await rewrite(parts, identity, command))
                return ""
            case WriteProfile() | PinProfile() | TakeProfile() | RegenerateProfile():
                await parts.profiles.carry_out(command)
                return ""
            case WaiveFinding():
                await parts.store.memory.waive((command.draft_quote, command.source_quote), clean(command.reason))
                return ""
            case RetryBackground():
                await parts.background.retry(command.task)
                return ""
            case CancelBackground():
                await parts.background.cancel(command.task)
                return ""
            case AnswerEmbeddings():
                await parts.embeddings.answer(allow=command.allow)
                if parts.knowledge.last.state == "asks":
                    await parts.startup.start_knowledge()
                return ""
            case ConfirmModels():
                await parts.adopt_models(command.identity)
                return ""
            case ConfirmTrust():
                await parts.startup.confirm(command.items)
                return ""
            case Rebuild():
                return str(await parts.upkeep.rebuild(command.what, command.uris))
            case Purge():
                if command.chapter is not None:
                    await parts.outlining.settle()
                await parts.purging.purge(command)
                await self._story_changed()
                await self._chapters_moved(moved=command.chapter is not None)
                return ""
            case StartBootstrap():
                return await parts.bootstrap.start(command.first, command.last, command.max_cost)
            case PauseBootstrap():
                await parts.bootstrap.pause(drop=command.drop)
                return ""
        return await self._book(command)

    async def _run(self, command: RunWorkflow | ResumeRun | CancelRun | AdvanceRun | Decide) -> str:
        runs = self._parts.runs
        match command:
            case RunWorkflow():
                return await runs.start(command.request)
            case ResumeRun():
                return await runs.resume(command.run, continues=command.continues)
            case CancelRun():
                await runs.cancel(command.run, command.node, branch=command.branch)
            case AdvanceRun():
                runs.advance(command.run)
            case Decide():
                await runs.decide(command.question, command.decision)
        return ""

    async def _build(self, command: RequestBuild | AnswerBuild | AcceptBuild | RejectBuild | UndoBuild) -> str:
        builds = self._parts.builds
        match command:
            case RequestBuild():
                return await builds.start(command)
            case AnswerBuild():
                return await builds.answer(command.build, command.text)
            case AcceptBuild():
                return await builds.accept(command.build, command.changes)
            case RejectBuild():
                await builds.reject(command.build, command.reason)
            case UndoBuild():
                return await builds.take_back(command.build)
        return ""

    async def _version(
        self, command: SaveWorkflow | SelectVersion | EditOutput | FreezeNode | UnfreezeNode | FreezeBlock
    ) -> str:
        versions = self._parts.versions
        match command:
            case SaveWorkflow():
                return await versions.save(command.workflow, keep_version=command.keep_version)
            case FreezeBlock():
                return await versions.freeze_block(command)
            case EditOutput():
                return await versions.edit(command)
            case SelectVersion():
                await versions.select(command.workflow, command.node, command.chapter, command.digest)
            case FreezeNode():
                await versions.freeze(command)
            case UnfreezeNode():
                await versions.unfreeze(command)
        return ""

    async def _book(self, command: Command) -> str:
        curation = self._parts.curation
        match command:
            case PersistOutput():
                return await curation.persist(command)
            case WriteChapter():
                return await curation.write(command)
            case DeleteOutput():
                await curation.forget(command)
            case AcceptRewrite():
                await curation.accept_rewrite(command)
            case WriteOutlinePart():
                await self._parts.outlining.write(command)
            case AssignOutline():
                await self._parts.outlining.assign(command)
            case AddChapter():
                if command.position is not None:
                    await self._parts.outlining.settle()
                added = await curation.add(command)
                await self._chapters_moved(moved=command.position is not None)
                return added
            case EditChapter():
                if command.deleted:
                    await self._parts.store.outbox.add(await self._parts.steps.summaries.tasks_without(command.chapter))
                await self._parts.outlining.settle()
                await curation.edit(command)
                await self._chapters_moved(moved=command.position is not None or command.deleted is not None)
            case ReplaceText() | RevertChange() | SplitChapter() | MergeChapters():
                if isinstance(command, SplitChapter | MergeChapters):
                    await self._parts.outlining.settle()
                made = await self._parts.chapters_edit.do(command)
                if isinstance(command, MergeChapters):
                    await self._parts.outlining.join(command.chapter, command.following)
                await self._chapters_moved(moved=isinstance(command, SplitChapter | MergeChapters))
                return made
            case ImportManuscript(reference=""):
                return str(await self._parts.importer.manuscript(command))
            case ImportManuscript():
                return await self._parts.importer.reference(command)
            case RemoveReference():
                await self._parts.store.references.remove(command.reference)
            case WriteMeta():
                await self._parts.store.book.write_meta(
                    command.name,
                    clean(command.text),
                    "human",
                    expected_version=command.expected_version,
                    tasks=following(("knowledge",)),
                )
                if command.name == "outline":
                    await self._parts.outlining.written()
                self._parts.background.wake()
                self._parts.emit(BookChanged())
            case SetScene():
                await set_scene(self._parts.store, command)
                self._parts.emit(BookChanged())
            case PutEntity():
                await self._put_entity(command.entity)
            case RemoveEntity():
                await self._remove_entity(command.entity)
            case PutRecord():
                put = await self._parts.story.put(command.record)
                await self._story_changed()
                return put
            case RemoveRecord():
                await self._parts.story.remove(command.record)
                await self._story_changed()
            case DecideProposals():
                await self._parts.proposals.decide(command.proposals, command.verdict)
                await self._story_changed()
            case CorrectProposal():
                await self._parts.proposals.correct(command.proposal, command.change)
                await self._story_changed()
            case UndoDecision():
                await self._parts.proposals.undo()
                await self._story_changed()
            case _:
                raise RunError(_("{type} is not a command of a project.").format(type=command.type))
        return ""

    async def _chapters_moved(self, *, moved: bool) -> None:
        """Arcs are looked at again: other chapters may belong to them."""
        if moved:
            await self._parts.store.outbox.add(await self._parts.steps.summaries.all_arc_tasks())
            self._parts.background.wake()

    async def _story_changed(self) -> None:
        """Another word of a hand, or another name: the knowledge server is told."""
        await self._parts.steps.enqueue_story()
        self._parts.background.wake()

    async def _put_entity(self, entity: Entity) -> None:
        self._parts.story.require_name(entity)
        await self._parts.steps.put_by_hand(replace(entity, name=clean(entity.name).strip(), by="hand"))
        await self._names_changed()

    async def _remove_entity(self, identity: EntityId) -> None:
        known = {entity.id: entity for entity in await self._parts.store.memory.names()}
        await self._parts.steps.remove_by_hand(known[identity])
        await self._names_changed()

    async def _names_changed(self) -> None:
        await self._story_changed()
        self._parts.emit(BookChanged())
