"""Keeps and edits of the writer: one transaction, an immediate answer, and background tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, OutputId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.manuscript import Author, Chapter
from flowcabal_tui.domain.memory import tags_of
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.prompt_text import bindings, fill, node_of
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import CHAPTER_KEEPS, KEEP_EXAMPLE, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_EDIT, AFTER_KEEP, following
from flowcabal_tui.project.book.outside_edits import OutsideEdits
from flowcabal_tui.protocol.book import (
    AcceptRewrite,
    AddChapter,
    BookChanged,
    DeleteOutput,
    EditChapter,
    OutputDeleted,
    OutputPersisted,
    PersistOutput,
    WriteChapter,
)
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.store import Keeping

LONGEST_NAME = 60
PARTIAL = "partial"
"""The tag of a kept text that was cut off."""


class Curation:
    """Makes all changes of the book. Lives on the engine's loop."""

    def __init__(
        self, base: ProjectBase, outside: OutsideEdits, placed: Callable[[Sequence[Chapter]], Awaitable[None]]
    ) -> None:
        """`placed` updates the memory after chapters were placed; it gets the chapters as they were."""
        self._store, self._outside, self._placed = base.store, outside, placed
        self._emit, self._wake, self._clock = base.emit, base.work.wake, base.clock

    async def persist(self, command: PersistOutput) -> OutputId:
        """Keeps an attempt of a run. Keeping the same text for the same place again changes nothing."""
        run = await self._store.runs.run_request(command.run)
        workflow = await self._store.runs.workflow_of(command.run)
        node = fold(await self._store.journal.node_history(command.run, command.node)).node(command.node)
        made = {number: attempt.done for number, attempt in node.attempts.items() if attempt.done}
        if not made and node.state == "done":  # a node that makes no attempts of its own: its output is the only one
            made[1] = {"digest": node.digest, "form": node.form}
        number = command.attempt or node.chosen or max(made, default=0)
        done = made.get(number)
        if not done:
            number = command.attempt or max(node.attempts, default=0)
        partial = "" if done else await self._store.journal.partial_text(command.run, command.node, number)
        if not done and not (command.partial and partial.strip()):
            raise RunError(
                _("There is no finished output of {node} to keep.").format(node=command.node),
                _("Its text was cut off.") if partial.strip() else "",
                _("Continue it, or keep it as it is (`--partial`).")
                if partial.strip()
                else _("Let the node finish first."),
            )
        kind = command.kind or workflow.keep.kind
        chapter = command.chapter or run.chapter
        if kind == "chapter" and chapter is None:
            raise RunError(_("Which chapter is this?"), "", _("Name the chapter that receives the text."))
        subject = await self._entity_name(run, command.run, workflow) if kind == "entity" else ""
        keeping = Keeping(
            text=Output(await self._store.journal.text(Digest(done["digest"])), done.get("form", "text")).text
            if done
            else partial,
            kind=kind,
            mode=command.mode or workflow.keep.mode,
            chapter=chapter,
            subject=subject,
            entity=workflow.keep.entity if kind == "entity" else None,
            tags=tuple(tags_of((*command.tags, *(() if done else (PARTIAL,))))),
            note="" if done else _("partial: the text was cut off"),
            run=command.run,
            node=command.node,
            attempt=number,
            author=done.get("author", "model") if done else "model",
        )
        kept = await self._store.book.keep(keeping, following(AFTER_KEEP))
        output = kept.output
        self._emit(OutputPersisted(output.id, output.chapter, output.version, kept.created, command.node))
        self._changed(output.chapter)
        return output.id

    async def _entity_name(self, request: RunRequest, run: RunId, workflow: Workflow) -> str:
        """The name that the workflow declares, filled in. Raises RunError without one, BindingError for a bad path."""
        declared = workflow.keep
        if not declared.names_entity:
            raise RunError(
                _("{name} does not say which entity its output describes.").format(name=workflow.name or workflow.id),
                _("Nothing was kept."),
                _("Add it to the workflow: {example}").format(example=KEEP_EXAMPLE),
            )
        names: dict[str, object] = {"input": dict(request.inputs)}
        if request.chapter is not None:
            chapter = await self._store.book.chapter(request.chapter)
            names["chapter"] = {"title": chapter.title, "number": str(chapter.position), "volume": chapter.volume}
        texts: dict[NodeId, str] = {}
        for node in filter(None, map(node_of, bindings(declared.name))):
            made = fold(await self._store.journal.node_history(run, node)).node(node)
            if made.digest:
                texts[node] = Output(await self._store.journal.text(made.digest), made.form).text
        name = clean(fill(declared.name, names, texts.get)).strip().partition("\n")[0][:LONGEST_NAME].strip()
        if not name:
            raise RunError(_("The name of the entity is empty."), _("Nothing was kept."))
        return name

    async def write(self, command: WriteChapter) -> str:
        """Keeps the writer's text, like any kept output. Raises VersionConflict; returns the version's number."""
        outside = self._outside.of(command.chapter)
        text, expected = clean(command.text), command.expected_version
        if outside is not None and outside.text != text:  # the outside edit becomes a version of its own, before
            kept = await self._store.book.write(
                command.chapter, outside.text, "outside", expected_version=expected, tasks=following(AFTER_KEEP)
            )
            expected = kept.version
        author: Author = "outside" if outside is not None and outside.text == text else "human"
        written = await self._store.book.write(
            command.chapter,
            text,
            author,
            command.note,
            expected_version=expected,
            settles_draft=command.settles_draft,
            is_older=command.is_older,
            tasks=following(AFTER_KEEP),
        )
        if outside is not None:
            await self._outside.accept(outside)
        self._emit(OutputPersisted(OutputId(""), command.chapter, written.version, True))
        self._changed(command.chapter)
        return str(written.version)

    async def accept_rewrite(self, command: AcceptRewrite) -> None:
        """Records the origin of a rewritten passage; the writer saves the text itself."""
        where = (command.chapter, command.text, command.start, command.end)
        rewrite = Rewrite(*where, command.after, command.model, command.instruction, self._clock())
        await self._store.rewrites.add(rewrite, command.rewrite)

    async def forget(self, command: DeleteOutput) -> Literal["", "edited"]:
        """Removes a kept output from the memory, or restores it. Returns "edited" when the text of its chapter stays
        because it was edited or kept again later, else ""."""
        kept = await (
            self._store.book.restore(command.output, following(AFTER_EDIT))
            if command.restore
            else self._store.book.forget(command.output, following(AFTER_EDIT))
        )
        self._emit(OutputDeleted(command.output, command.restore))
        self._changed(kept.chapter)
        if kept.chapter is None or kept.kind not in CHAPTER_KEEPS or command.restore:
            return ""
        newest, *before = await self._store.book.versions(kept.chapter)
        return "edited" if before and before[0].digest == newest.digest else ""

    async def add(self, command: AddChapter) -> ChapterId:
        """Adds an empty chapter."""
        before = await self._store.book.chapters()
        added = await self._store.book.add_chapter(clean(command.title), clean(command.volume), command.position)
        await self._placed(before)
        self._changed(added.id)
        return added.id

    async def edit(self, command: EditChapter) -> None:
        """Renames, moves, deletes or undeletes a chapter."""
        book = self._store.book
        before = await book.chapters()
        if command.title is not None or command.volume is not None:
            title = (await book.chapter(command.chapter)).title if command.title is None else command.title
            await book.rename(command.chapter, title, command.volume)
        if command.position is not None:
            await book.move(command.chapter, command.position)
        if command.deleted is True:
            await book.delete(command.chapter)
        elif command.deleted is False:
            await book.undelete(command.chapter)
        await self._placed(before)
        self._changed(command.chapter)

    def _changed(self, chapter: ChapterId | None) -> None:
        self._emit(BookChanged(chapter))
        self._wake()
