"""Rebuilds derived texts, and lists those that are out of date."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, get_args

from flowcabal_tui.domain.errors import FlowCabalError, KnowledgeError
from flowcabal_tui.domain.memory import Freshness, StaleText, TaskKind
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_IMPORT, tasks
from flowcabal_tui.project.book.indexing import index_text
from flowcabal_tui.project.memory.background import Background
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.updates import MemoryUpdates
from flowcabal_tui.project.views import RebuildPlan
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import BookChanged
from flowcabal_tui.protocol.memory import RebuildPart, RebuildProgress
from flowcabal_tui.store.memory.indexing import ChapterIndex

STEPS: Final[Mapping[RebuildPart, tuple[TaskKind, ...]]] = {
    "index": (),
    "summaries": ("story", "l1", "l0"),
    "profiles": ("profile", "arc"),
    "knowledge": ("knowledge",),
    "stale": ("l1", "l0", "profile", "arc"),
    "all": ("mirror", "story", "l1", "l0", "profile", "arc", "knowledge"),
}
"""The background steps that each part of a rebuild repeats; a step without changes ends at once."""


class Rebuilder:
    """Rebuilds derived texts. Lives on the engine's loop."""

    def __init__(
        self, base: ProjectBase, background: Background, knowledge: KnowledgeConnection, updates: MemoryUpdates
    ) -> None:
        self._base, self._store, self._emit = base, base.store, base.emit
        self._background, self._knowledge, self._updates = background, knowledge, updates

    async def stale(self) -> tuple[StaleText, ...]:
        """The derived texts whose sources changed since, in story order."""
        return await (await self._store.memory.view(None)).stale()

    async def plan(self, what: RebuildPart) -> RebuildPlan:
        """The plan of a rebuild; changes nothing."""
        written = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        there = await self._store.outbox.all(get_args(Freshness))
        done = [task for task in there if task.state != "running" and not task.job]
        stale = await self.stale()
        concerned = _subjects(stale)
        kinds = [
            task.kind for task in done if task.kind in STEPS[what] and (what != "stale" or task.subject in concerned)
        ]
        return RebuildPlan(
            len(written) if what in ("index", "all") else 0,
            await self._store.maintenance.damaged() if what in ("summaries", "profiles", "all") else (),
            stale,
            tuple((kind, kinds.count(kind)) for kind in STEPS[what] if kind in kinds),
        )

    async def rebuild(self, what: RebuildPart, uris: Collection[str] = ()) -> int:
        """Repairs the index, then queues the rest as background work; returns the number of waiting steps.

        `uris` limits the rebuild to these outdated texts or subjects of the knowledge server.
        """
        if what in ("index", "all"):
            await self._index()
        if what in ("summaries", "profiles", "all"):
            await self._store.maintenance.forget_damaged()
            await self._add_missing()
        if what in ("knowledge", "all"):
            await self._empty_knowledge(uris if what == "knowledge" else ())
            await self._updates.chapters_placed(await self._store.book.chapters())  # of all chapters
        stale = [text for text in await self.stale() if not uris or text.uri in uris]
        concerned = _subjects(stale) if what == "stale" else uris if uris and what == "knowledge" else None
        waiting = await self._store.outbox.again(STEPS[what], concerned, as_then=what != "stale")
        await self._background.emit_counts()
        self._base.work.wake()
        self._emit(BookChanged())
        return waiting

    async def _index(self) -> None:
        """Rebuilds the index in one transaction, so that a search never sees half an index."""
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        entities = await self._store.memory.names()
        indexes: list[ChapterIndex] = []
        for chapter in chapters:
            text = await self._store.book.text(chapter.id)
            passages, mentions = await self._base.workshop.do(
                index_text, chapter.id, chapter.position, text, entities, self._base.language
            )
            indexes.append(ChapterIndex(chapter.id, chapter.version, passages, mentions))
            self._emit(RebuildProgress(len(indexes), len(chapters)))
        wrong = await self._store.maintenance.restore_index(indexes)
        self._emit(RebuildProgress(len(chapters), len(chapters), wrong))

    async def _add_missing(self) -> None:
        """Adds steps of chapters that were never queued, such as those of a book of an earlier release."""
        steps = [kind for kind in AFTER_IMPORT if kind in STEPS["summaries"]]
        known = {task.subject for task in await self._store.outbox.all(get_args(Freshness)) if task.kind == "l1"}
        for chapter in await self._store.book.chapters():
            if chapter.digest and chapter.id not in known:
                await self._store.outbox.add(tasks(steps, chapter.id, chapter.digest, chapter.position))

    async def _empty_knowledge(self, subjects: Collection[str]) -> None:
        """Empties the server if it is available; otherwise it is compared with the book at its next start."""
        try:
            await self._knowledge.rebuild(subjects)
        except KnowledgeError:
            if self._knowledge.is_up:
                raise

    async def tidy(self) -> None:
        """Deletes rows that no run reads any more; called when the project is opened."""
        try:
            await self._store.maintenance.sweep()
        except FlowCabalError as error:
            self._emit(Status("error", error.title))


def _subjects(stale: Collection[StaleText]) -> tuple[str, ...]:
    """The subjects of the steps that make these texts: an arc's uri, a chapter, a profile as of a chapter."""
    return tuple(
        subject
        for text in stale
        for subject in (text.uri, text.uri.removeprefix("manuscript/"), f"{text.uri}@{text.anchor}")
    )
