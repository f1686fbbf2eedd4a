"""The book at a glance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.overview import ChapterStanding, Goals, Overview
from flowcabal_tui.project.book.outside_edits import OutsideEdits
from flowcabal_tui.settings.project_file import ProjectSettings
from flowcabal_tui.store import Store


class OverviewReader:
    """Reads only; lives on the engine's loop."""

    def __init__(
        self,
        store: Store,
        settings: Callable[[], ProjectSettings],
        outside: OutsideEdits,
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._settings, self._outside, self._clock = store, settings, outside, clock
        self._stale: tuple[Generation, frozenset[ChapterId]] = (Generation(-1), frozenset())

    async def overview(self) -> Overview:
        """The day begins at midnight where the writer is."""
        chapters = await self._store.book.chapters()
        tasks: dict[ChapterId, list[BackgroundTask]] = {chapter.id: [] for chapter in chapters}
        for task in await self._store.outbox.all():
            if task.kind != "knowledge":  # a server that is down is owed, not waited for
                tasks.get(_chapter_of(task.subject), []).append(task)
        goals, stale = self._settings().goals, await self._stale_chapters()
        unsaved = {draft.chapter for draft in await self._store.drafts.all()}
        return Overview(
            tuple(
                ChapterStanding(
                    chapter,
                    self._outside.of(chapter.id) is not None,
                    sum(task.state in ("waiting", "running", "stale") for task in tasks[chapter.id]),
                    tuple(task.error for task in tasks[chapter.id] if task.state == "failed"),
                    chapter.id in stale,
                    chapter.id in unsaved,
                )
                for chapter in chapters
            ),
            Goals(goals.book, goals.chapter, goals.day, goals.counting),
            sum(chapter.length for chapter in chapters) - await self._length_this_morning(),
        )

    async def _stale_chapters(self) -> frozenset[ChapterId]:
        """Asked again only when the memory has changed."""
        generation = await self._store.memory.generation()
        if generation != self._stale[0]:
            found = await (await self._store.memory.view(None)).stale()
            self._stale = generation, frozenset(chapter for each in found for chapter in each.chapters)
        return self._stale[1]

    async def _length_this_morning(self) -> int:
        now = self._clock().astimezone()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(self._clock().tzinfo)
        return await self._store.edits.length_at(midnight)


def _chapter_of(subject: str) -> ChapterId:
    """The chapter that a background task is about: `<chapter>`, `manuscript/<chapter>` or `<entity>@<chapter>`."""
    return ChapterId(subject.rpartition("@")[2].removeprefix("manuscript/"))
