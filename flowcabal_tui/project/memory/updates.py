"""Updates the memory after a change of the book or of the story's records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, TaskKind
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import tasks
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection

if TYPE_CHECKING:
    from flowcabal_tui.project.memory.steps import Steps


class MemoryUpdates:
    """Queues the background work that keeps the memory up to date. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, knowledge: KnowledgeConnection, steps: Steps) -> None:
        self._store, self._wake, self._knowledge, self._steps = base.store, base.work.wake, knowledge, steps

    async def chapters_placed(self, before: Sequence[Chapter]) -> None:
        """Queues the tasks that follow when chapters were moved, renamed, deleted or restored."""
        old_places = {chapter.id: chapter for chapter in before}
        after = {chapter.id: chapter for chapter in await self._store.book.chapters()}
        self._knowledge.set_positions({chapter.id: chapter.position for chapter in after.values()})
        found: list[BackgroundTask] = []
        for chapter in (old_places | after).values():
            old, new = old_places.get(chapter.id), after.get(chapter.id)
            same_name = old is not None and new is not None and (old.title, old.volume) == (new.title, new.volume)
            if chapter.digest is None or (same_name and old and new and old.position == new.position):
                continue
            place = [chapter.position, chapter.title, chapter.volume, chapter.digest, new is not None]
            kinds: tuple[TaskKind, ...] = ("mirror",) if same_name else ("mirror", "knowledge")
            found += tasks(kinds, chapter.id, digest_of(place), chapter.position)
        await self._store.outbox.add(found)
        await self._steps.enqueue_story()

    async def story_changed(self) -> None:
        """Updates the knowledge server with the current records of the story."""
        await self._steps.enqueue_story()
        self._wake()

    async def chapters_moved(self) -> None:
        """Queues the summaries of all arcs, since other chapters may belong to them."""
        await self._store.outbox.add(await self._steps.summaries.all_arc_tasks())
        self._wake()
