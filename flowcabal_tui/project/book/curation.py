"""What the human keeps: one transaction, an answer at once, and the work that follows in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, OutputId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.manuscript import Author, Chapter
from flowcabal_tui.domain.memory import BackgroundTask, TaskKind
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.prompt_text import bindings, fill, node_of
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.domain.workflow import KEEP_EXAMPLE, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.mirror import Edited, Mirror
from flowcabal_tui.protocol.base import Event, Status
from flowcabal_tui.protocol.book import (
    AcceptRewrite,
    AddChapter,
    BookChanged,
    DeleteOutput,
    EditChapter,
    OutputDeleted,
    OutputPersisted,
    OutsideEdit,
    PersistOutput,
    WriteChapter,
)
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.store import Keeping, Store, TaskMaker

log = logging.getLogger(__name__)
WATCH_SECONDS = 3.0
"""Between two looks at the times of the chapters' files."""
LONGEST_NAME = 60
PARTIAL = "partial"
"""The tag of a kept text that was cut off."""
AFTER_KEEP: tuple[TaskKind, ...] = ("mirror", "index", "entities", "story", "l1", "l0", "check", "knowledge")
AFTER_IMPORT: tuple[TaskKind, ...] = ("mirror", "index", "l1", "l0", "check", "knowledge")
"""An import spends no money: imported chapters are summarised by rule, from sentences of their own, and checked by
rule."""
AFTER_FORGET: tuple[TaskKind, ...] = tuple(kind for kind in AFTER_KEEP if kind != "check")
"""Nobody asks for advice on what is taken out."""


def tasks(kinds: Sequence[TaskKind], subject: str, source: Digest, position: int) -> tuple[BackgroundTask, ...]:
    """New outbox rows; the store gives them their ids. The knowledge server is told of uris.

    A subject that is no chapter (`meta/outline`, `entity/<id>`) concerns the knowledge server only.
    """
    uri = subject if "/" in subject else f"manuscript/{subject}"
    return tuple(
        BackgroundTask(0, kind, uri if kind == "knowledge" else subject, source, "waiting", position)
        for kind in kinds
        if kind == "knowledge" or subject != uri
    )


def following(kinds: Sequence[TaskKind]) -> TaskMaker:
    """What follows a change: these steps for its subject."""
    return partial(tasks, kinds)


class Curation:
    """Everything that changes the book. Lives on the engine's loop."""

    def __init__(
        self,
        store: Store,
        mirror: Mirror,
        emit: Callable[[Event], None],
        wake: Callable[[], None],
        moved: Callable[[Mapping[ChapterId, int]], None],
        retell: Callable[[], Awaitable[None]],
        clock: Callable[[], datetime],
    ) -> None:
        """`wake` starts the background worker; `moved` is told the chapters' places; `retell` has the knowledge
        server told what the story says by now."""
        self._store, self._mirror = store, mirror
        self._emit, self._wake, self._moved, self._retell = emit, wake, moved, retell
        self._clock = clock
        self._outside: dict[ChapterId, Edited] = {}

    async def persist(self, command: PersistOutput) -> OutputId:
        """Keeps an attempt of a run. Keeping the same text for the same place again changes nothing."""
        run = await self._store.runs.run_request(command.run)
        workflow = await self._store.runs.workflow_of(command.run)
        node = fold(await self._store.runs.node_history(command.run, command.node)).node(command.node)
        made = {number: attempt.done for number, attempt in node.attempts.items() if attempt.done}
        if not made and node.state == "done":  # a node that makes no attempts of its own: its output is the only one
            made[1] = {"digest": node.digest, "form": node.form}
        number = command.attempt or node.chosen or max(made, default=0)
        done = made.get(number)
        if not done:
            number = command.attempt or max(node.attempts, default=0)
        partial = "" if done else await self._store.runs.partial_text(command.run, command.node, number)
        if not done and not (command.partial and partial.strip()):
            raise RunError(
                _("There is no finished output of {node} to keep.").format(node=command.node),
                _("Its text was cut off.") if partial.strip() else "",
                _("Continue it, or keep it as it is (`--partial`).")
                if partial.strip()
                else _("Run the node to its end first."),
            )
        kind = command.kind or workflow.keep.kind
        chapter = command.chapter or run.chapter
        if kind == "chapter" and chapter is None:
            raise RunError(_("Which chapter is this?"), "", _("Name the chapter that takes the text."))
        subject = await self._entity_name(run, command.run, workflow) if kind == "entity" else ""
        keeping = Keeping(
            text=Output(await self._store.runs.text(Digest(done["digest"])), done.get("form", "text")).text
            if done
            else partial,
            kind=kind,
            mode=command.mode or workflow.keep.mode,
            chapter=chapter,
            subject=subject,
            entity=workflow.keep.entity if kind == "entity" else None,
            tags=command.tags if done else (*command.tags, PARTIAL),
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
            made = fold(await self._store.runs.node_history(run, node)).node(node)
            if made.digest:
                texts[node] = Output(await self._store.runs.text(made.digest), made.form).text
        name = clean(fill(declared.name, names, texts.get)).strip().partition("\n")[0][:LONGEST_NAME].strip()
        if not name:
            raise RunError(_("The name of the entity is empty."), _("Nothing was kept."))
        return name

    async def write(self, command: WriteChapter) -> str:
        """Keeps what the writer typed, like any kept output. Raises VersionConflict; returns the version's number."""
        outside = self._outside.get(command.chapter)
        text, expected = clean(command.text), command.expected_version
        if outside is not None and outside.text != text:  # what another program wrote is kept below what is written now
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
            tasks=following(AFTER_KEEP),
        )
        if outside is not None:
            self._outside.pop(command.chapter, None)
            await self._mirror.accept(outside)
        self._emit(OutputPersisted(OutputId(""), command.chapter, written.version, True))
        self._changed(command.chapter)
        return str(written.version)

    async def accept_rewrite(self, command: AcceptRewrite) -> None:
        """Remembers whose words the passage has; the text itself is saved by the writer."""
        where = (command.chapter, command.text, command.start, command.end)
        rewrite = Rewrite(*where, command.after, command.model, command.instruction, self._clock())
        await self._store.rewrites.add(rewrite)

    async def forget(self, command: DeleteOutput) -> None:
        """Takes a kept output out of the memory, or brings it back."""
        kept = await (
            self._store.book.restore(command.output, following(AFTER_FORGET))
            if command.restore
            else self._store.book.forget(command.output, following(AFTER_FORGET))
        )
        self._emit(OutputDeleted(command.output, command.restore))
        self._changed(kept.chapter)

    async def add(self, command: AddChapter) -> ChapterId:
        """Adds an empty chapter."""
        before = await self._store.book.chapters()
        added = await self._store.book.add_chapter(clean(command.title), clean(command.volume), command.position)
        await self.placed(before)
        self._changed(added.id)
        return added.id

    async def edit(self, command: EditChapter) -> None:
        """Renames, moves, deletes or undeletes."""
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
        await self.placed(before)
        self._changed(command.chapter)

    async def placed(self, chapters: Sequence[Chapter]) -> None:
        """What follows when chapters moved, were named anew, left or came back: their files, and the server's tree."""
        before = {chapter.id: chapter for chapter in chapters}
        after = {chapter.id: chapter for chapter in await self._store.book.chapters()}
        self._moved({chapter.id: chapter.position for chapter in after.values()})
        found: list[BackgroundTask] = []
        for chapter in (before | after).values():
            old, new = before.get(chapter.id), after.get(chapter.id)
            same_name = old is not None and new is not None and (old.title, old.volume) == (new.title, new.volume)
            if chapter.digest is None or (same_name and old and new and old.position == new.position):
                continue
            place = [chapter.position, chapter.title, chapter.volume, chapter.digest, new is not None]
            kinds: tuple[TaskKind, ...] = ("mirror",) if same_name else ("mirror", "knowledge")
            found += tasks(kinds, chapter.id, digest_of(place), chapter.position)
        await self._store.outbox.add(found)
        await self._retell()

    async def watch_outside(self) -> None:
        """Offers what other programs changed in the chapters' files as new versions, as long as the project is open.

        A file that changes is looked at when it has rested, so that half a file is never offered.
        """
        seen = looked = await self._mirror.stamps()
        await self._mirror.sweep()
        await self._look_outside(None)
        await self._write_again(await self._mirror.left_behind())
        lost = await self._write_lost()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            before, seen = seen, await self._mirror.stamps()
            if lost or before.keys() - seen.keys():
                lost = await self._write_lost()
            rested = {name: stamp for name, stamp in seen.items() if looked.get(name) != stamp == before.get(name)}
            if rested:
                looked = looked | rested
                await self._look_outside(rested)

    async def _write_lost(self) -> bool:
        """Files of chapters that were deleted or renamed outside are written again: a chapter goes by a command.

        True when there were such files, so that it is looked whether they are there.
        """
        lost = await self._mirror.lost()
        await self._write_again(lost)
        return bool(lost)

    async def _write_again(self, chapters: Sequence[Chapter]) -> None:
        if chapters:
            add = [tasks(("mirror",), one.id, digest_of(["lost", one.digest]), one.position) for one in chapters]
            await self._store.outbox.add(task for made in add for task in made)
            await self._store.outbox.again(("mirror",), [one.id for one in chapters])
            self._wake()

    async def _look_outside(self, names: Collection[str] | None) -> None:
        try:
            found = await self._mirror.edited_outside(names)
        except FlowCabalError as error:
            log.warning("mirror: %s", error)
            self._emit(Status("error", error.title))
            return
        for known in tuple(self._outside.values()):
            if (names is None or known.path.name in names) and known.path not in [edited.path for edited in found]:
                del self._outside[known.chapter.id]  # changed back
                self._emit(BookChanged(known.chapter.id))
        for edited in found:
            self.offer(edited)

    def offer(self, edited: Edited) -> None:
        """Tells the guests of an edit made outside, once; writing that chapter settles it."""
        known = self._outside.get(edited.chapter.id)
        self._outside[edited.chapter.id] = edited
        if known is not None and known.text == edited.text:
            return
        self._emit(OutsideEdit(edited.chapter.id, str(edited.path)))

    def outside_text(self, chapter: ChapterId) -> str | None:
        """The text of the changed file, to be compared with the kept one."""
        return self._outside[chapter].text if chapter in self._outside else None

    def _changed(self, chapter: ChapterId | None) -> None:
        self._emit(BookChanged(chapter))
        self._wake()
