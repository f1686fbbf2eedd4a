"""The book: chapters, their texts, the outline, reference books, kept outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.beats import BeatCount, ChapterBeats
from flowcabal_tui.domain.changes import LoggedChange
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, ImportPreview, Reference, ReferenceHit, ReferenceId
from flowcabal_tui.domain.memory import Curated, MetaName, tags_of
from flowcabal_tui.domain.origin import BlamedLine, Provenance
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.overview import BookOverview
from flowcabal_tui.domain.platforms import Platform, PlatformExport
from flowcabal_tui.domain.proofing import ProofedChapter, ProofMark, ProofRule
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.search import SEARCH_KINDS, Occurrence, SearchAnswer, SearchKind
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.writing_days import WritingLog
from flowcabal_tui.project.book.following import following
from flowcabal_tui.project.commands import COMMAND, Service, handles, passed_on
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.protocol.book import (
    AcceptRewrite,
    AddChapter,
    AssignOutline,
    BookChanged,
    CheckBeats,
    DeleteOutput,
    EditChapter,
    EditScene,
    ImportManuscript,
    MergeChapters,
    OutputDeleted,
    PersistOutput,
    RemoveReference,
    ReplaceText,
    RevertChange,
    RewriteSelection,
    SetGoals,
    SplitChapter,
    SwitchProofRule,
    TagOutput,
    WriteChapter,
    WriteMeta,
    WriteOutlinePart,
)

if TYPE_CHECKING:
    from flowcabal_tui.project.book.backup import BackupManifest


async def _split_or_merge(parts: Parts, command: SplitChapter | MergeChapters) -> str:
    await parts.book.outlining.settle()
    made = await parts.book.edits.do(command)
    await parts.memory.updates.chapters_moved()
    return made


class BookService(Service):
    """Questions and commands about the book. Lives on the engine's loop."""

    passes_on = (
        passed_on(EditScene, lambda parts, command: parts.book.scenes.edit(command)),
        passed_on(WriteChapter, lambda parts, command: parts.book.curation.write(command)),
        passed_on(SplitChapter, _split_or_merge),
        passed_on(MergeChapters, _split_or_merge),
        passed_on(ReplaceText, lambda parts, command: parts.book.edits.do(command)),
        passed_on(AcceptRewrite, lambda parts, command: parts.book.curation.accept_rewrite(command)),
        passed_on(SwitchProofRule, lambda parts, command: parts.book.proofing.switch(command.rule, on=command.on)),
        passed_on(WriteOutlinePart, lambda parts, command: parts.book.outlining.write(command)),
        passed_on(AssignOutline, lambda parts, command: parts.book.outlining.assign(command)),
        passed_on(RemoveReference, lambda parts, command: parts.store.references.remove(command.reference)),
    )

    # Chapters

    async def chapters(self) -> tuple[Chapter, ...]:
        """The chapters in story order."""
        return await self._store.book.chapters()

    async def deleted_chapters(self) -> tuple[Chapter, ...]:
        """The deleted chapters that can be restored, by their former place."""
        return await self._store.book.deleted()

    async def chapter_text(self, chapter: ChapterId, version: int | None = None) -> str:
        """The text of a version; None: of the newest, "" if there is none. Raises Gone for an unknown chapter or
        version."""
        text = await self._store.book.text(chapter, version)
        if not text:
            await self._store.book.require_known(chapter)
        return text

    async def chapter_versions(self, chapter: ChapterId) -> tuple[ChapterVersion, ...]:
        """All versions, newest first."""
        return await self._store.book.versions(chapter)

    async def outside_text(self, chapter: ChapterId) -> str | None:
        """The text of a chapter's file that another program changed and that the writer has not reviewed."""
        edited = self._parts.book.outside.of(chapter)
        return None if edited is None else edited.text

    async def overview(self) -> BookOverview:
        """Lengths, goals, and the state of each chapter."""
        return await self._parts.book.overview.overview()

    async def writing_log(self) -> WritingLog:
        """Words written by day, compared with the goals."""
        return await self._parts.book.overview.log()

    @handles(SetGoals)
    async def set_goals(self, command: SetGoals) -> None:
        """Writes the goals into the project's file. Raises SettingsError; then nothing was changed."""
        from flowcabal_tui.project.settings import with_goals  # checks settings, which chapters need not

        goals = asdict(command.goals)
        await self._parts.base.settings_file.change(lambda settings: with_goals(settings, goals))
        self._parts.base.emit(BookChanged())

    async def scenes(self, chapter: ChapterId) -> tuple[ChapterScene, ...]:
        """The scenes of a chapter's newest text, in order, with their text in the outline."""
        return await self._parts.book.scenes.scenes(chapter)

    @handles(AddChapter)
    async def add(self, command: AddChapter) -> str:
        if command.position is not None:
            await self._parts.book.outlining.settle()
        added = await self._parts.book.curation.add(command)
        if command.position is not None:
            await self._parts.memory.updates.chapters_moved()
        return added

    @handles(EditChapter)
    async def edit(self, command: EditChapter) -> None:
        parts = self._parts
        if command.deleted:
            await self._store.outbox.add(await parts.memory.steps.summaries.tasks_without(command.chapter))
        await parts.book.outlining.settle()
        await parts.book.curation.edit(command)
        if command.position is not None or command.deleted is not None:
            await parts.memory.updates.chapters_moved()

    @handles(RevertChange)
    async def revert(self, command: RevertChange) -> str:
        parts, changes = self._parts, self._store.changes
        change = await changes.get(command.generation)
        if change.kind == "review" and not change.undone:
            await parts.proposals.undo(ProposalId(change.subject))
            return ""
        for chapter in await changes.chapters_added(command.generation):
            await self._store.outbox.add(await parts.memory.steps.summaries.tasks_without(chapter))
        await parts.book.outlining.settle()
        made = await parts.book.edits.do(command)
        if change.kind in ("forget", "restore"):
            parts.base.emit(OutputDeleted(OutputId(change.subject), change.kind == "forget"))
        await parts.book.outlining.written()
        await parts.memory.updates.chapters_moved()
        return made

    async def changes(self, limit: int = 200) -> tuple[LoggedChange, ...]:
        """The newest logged changes of the book, undone ones included, newest first."""
        return await self._store.changes.all(limit)

    async def last_change(self) -> LoggedChange | None:
        """The change that the next undo reverts."""
        return await self._store.changes.last()

    @handles(RewriteSelection)
    async def rewrite(self, command: RewriteSelection) -> None:
        """Rewrites a passage and emits `rewrite:proposed`. Raises ModelError or WorkflowError."""
        from flowcabal_tui.project.services.rewriting import rewrite  # imports the Context agent

        self._parts.base.limits.hurry()
        self._parts.base.emit(await rewrite(self._parts, COMMAND.get(), command))

    # Kept outputs

    async def kept(self, chapter: ChapterId | None = None) -> tuple[Curated, ...]:
        """Kept outputs of a chapter, or all."""
        return await self._store.book.kept(chapter)

    async def kept_text(self, output: OutputId) -> str:
        """The text of a kept output."""
        return await self._store.book.kept_text(output)

    @handles(PersistOutput)
    async def keep(self, command: PersistOutput) -> str:
        output = await self._parts.book.curation.persist(command)
        await self._parts.book.outlining.written()
        return output

    @handles(TagOutput)
    async def tag(self, command: TagOutput) -> None:
        kept = await self._store.book.tag(command.output, tuple(tags_of(command.tags)))
        self._parts.base.emit(BookChanged(kept.chapter))

    @handles(DeleteOutput)
    async def forget(self, command: DeleteOutput) -> str:
        stays = await self._parts.book.curation.forget(command)
        await self._parts.book.outlining.written()
        return stays

    # Proofing without a model

    async def proof(
        self, chapters: Sequence[ChapterId] = (), rules: Sequence[ProofRule] = ()
    ) -> tuple[ProofedChapter, ...]:
        """The marks of the rules in the newest texts of chapters (none given: all chapters); without `rules`: those
        enabled for this book.
        """
        return await self._parts.book.proofing.proof(chapters, rules)

    async def proof_text(self, text: str) -> tuple[ProofMark, ...]:
        """The marks of the enabled rules in a text that is being written, without comparing it with the book."""
        return await self._parts.book.proofing.proof_text(text)

    async def proof_rules_off(self) -> tuple[ProofRule, ...]:
        """The rules that were switched off in this book."""
        return self._parts.book.proofing.off

    # Outline and other texts of the writer

    async def meta(self, name: MetaName) -> str:
        """The outline, style guide, world rules or notes."""
        return await self._store.book.meta_text(name)

    async def outline(self) -> tuple[BookOutline, int]:
        """The outline with the chapters of its parts, and its version."""
        return await self._parts.book.outlining.outline()

    async def beats(self, chapter: ChapterId, text: str | None = None) -> ChapterBeats:
        """The outline's beats of a chapter, with the places of its names in `text` (None: the newest version) and the
        advice of a model.
        """
        found = await self._parts.book.beats.of(chapter, text)
        return await self._parts.beat_reading.shown(found, text)

    async def quote_beats(self, chapter: ChapterId) -> Quote | None:
        """The price of the advice on the beats of the newest text; None if the agents' model has already given it.

        Raises RunError without beats or text, ModelError without a model.
        """
        await self._parts.base.models.learn_windows()
        return await self._parts.beat_reading.quote(await self._parts.book.beats.of(chapter))

    @handles(CheckBeats)
    async def check_beats(self, command: CheckBeats) -> None:
        self._parts.base.limits.hurry()
        await self._parts.beat_reading.check(await self._parts.book.beats.of(command.chapter))

    async def beat_counts(self) -> dict[ChapterId, BeatCount]:
        """The counts of beats and found names, for every written chapter with beats that name somebody or something."""
        return await self._parts.book.beats.counts()

    @handles(WriteMeta)
    async def write_meta(self, command: WriteMeta) -> None:
        await self._store.book.write_meta(
            command.name,
            clean(command.text),
            "human",
            expected_version=command.expected_version,
            tasks=following(("knowledge",)),
        )
        if command.name == "outline":
            await self._parts.book.outlining.written()
        self._parts.base.work.wake()
        self._parts.base.emit(BookChanged())

    # Search and origin

    async def search(self, query: str, kinds: Sequence[SearchKind] = SEARCH_KINDS, limit: int = 50) -> SearchAnswer:
        """The best `limit` places of each kind in the whole project; an empty query finds nothing."""
        return await self._parts.memory.search.find(query, kinds, limit)

    async def occurrences(self, words: str) -> tuple[Occurrence, ...]:
        """Every place in the manuscript that has exactly these words as whole words, in story order."""
        return await self._parts.memory.search.occurrences(words)

    async def blame(self, chapter: ChapterId) -> tuple[BlamedLine, ...]:
        """Every line of the newest text that is not blank, with the version and output that introduced it."""
        return await self._parts.book.blame.lines(chapter)

    async def provenance(self, chapter: ChapterId, line: int) -> Provenance:
        """The origin of a line by its number: author, run and receipt."""
        return await self._parts.book.blame.provenance(chapter, line)

    # Import and export

    async def preview_import(self, path: Path, last: int | None = None, *, reference: bool = False) -> ImportPreview:
        """Previews the first `last` chapters (None: all), compared with the book, unless for a reference book."""
        return await self._parts.book.importer.preview(path, last, reference=reference)

    @handles(ImportManuscript)
    async def import_manuscript(self, command: ImportManuscript) -> str:
        importer = self._parts.book.importer
        return await importer.reference(command) if command.reference else str(await importer.manuscript(command))

    async def references(self) -> tuple[Reference, ...]:
        """The reference books, oldest first."""
        return await self._store.references.all()

    async def reference_parts(self, book: ReferenceId) -> tuple[tuple[int, str, str], ...]:
        """Number, title and volume of each part; `source` opens one at `reference/<book>/<number>`."""
        return await self._store.references.parts(book)

    async def search_references(
        self, query: str, book: ReferenceId | None = None, limit: int = 20
    ) -> tuple[ReferenceHit, ...]:
        """The passages that hold any of the words, best first, in one reference book or in all."""
        return await self._store.references.search(query.split(), limit, book)

    async def export(
        self, path: Path, form: str, chapters: Sequence[ChapterId] = (), *, comments: bool = False
    ) -> Path:
        """Writes chapters (none: all with text) to a file, with `comments` also the open ones; `form` is its suffix
        where the path has none. Returns the path."""
        from flowcabal_tui.project.book.exporting import export_book  # a project is opened sooner without

        path = path.expanduser()
        target = path if path.suffix or not form else path.with_suffix(f".{form}")
        base = self._parts.base
        return await export_book(self._store, base.folder, base.settings.project, target, chapters, comments=comments)

    async def platforms(self) -> tuple[Platform, ...]:
        """The layouts of platforms, built in or by the user. Raises SettingsError."""
        from flowcabal_tui.project.book.exporting import platforms  # a project is opened sooner without

        return await platforms()

    async def lay_out(
        self, platform: str, chapters: Sequence[ChapterId] = (), target: Path | None = None
    ) -> PlatformExport:
        """Lays out chapters (none: all with text) for a platform, and writes them to `target` if it is given.

        Raises UnknownName, SettingsError, DiskFull.
        """
        from flowcabal_tui.project.book.exporting import lay_out  # a project is opened sooner without

        return await lay_out(self._store, platform, chapters, target)

    async def back_up(self, target: Path) -> BackupManifest:
        """Writes a backup while the project is in use. Raises ProjectExists or DiskFull."""
        from flowcabal_tui.project.book.backup import back_up  # a project is opened sooner without

        parts = self._parts
        return await back_up(parts.store, parts.base.folder, target, parts.base.clock(), parts.memory.knowledge.pack)
