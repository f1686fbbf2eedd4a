"""The state of the book, and the words written by day."""

from __future__ import annotations

import asyncio
from datetime import date

from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.overview import BookOverview, ChapterStatus, Goals
from flowcabal_tui.domain.writing_days import WritingLog, day_of, start_of, writing_days
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.outside_edits import OutsideEdits


class OverviewReader:
    """Reads the state of the book. Reads only; lives on the engine's loop."""

    def __init__(self, base: ProjectBase, outside: OutsideEdits) -> None:
        self._base, self._store, self._outside, self._clock = base, base.store, outside, base.clock
        self._stale: tuple[Generation, frozenset[ChapterId]] = (Generation(-1), frozenset())

    async def overview(self) -> BookOverview:
        """The state of each chapter, and the words of the day."""
        chapters = await self._store.book.chapters()
        tasks: dict[ChapterId, list[BackgroundTask]] = {chapter.id: [] for chapter in chapters}
        for task in await self._store.outbox.all():
            if task.kind != "knowledge":  # a server that is down is owed, not waited for
                tasks.get(_chapter_of(task.subject), []).append(task)
        goals, stale = self.goals, await self._stale_chapters()
        today = day_of(self._clock(), goals.day_begins)
        unsaved = {draft.chapter for draft in await self._store.drafts.all()}
        return BookOverview(
            tuple(
                ChapterStatus(
                    chapter,
                    self._outside.of(chapter.id) is not None,
                    sum(task.state in ("waiting", "running", "stale") for task in tasks[chapter.id]),
                    tuple(task.error for task in tasks[chapter.id] if task.state == "failed"),
                    chapter.id in stale,
                    chapter.id in unsaved,
                )
                for chapter in chapters
            ),
            goals,
            await self._words_of(today, goals),
            today,
        )

    @property
    def goals(self) -> Goals:
        """The goals in the settings of the book."""
        return Goals(**dict(self._base.settings.goals))

    async def log(self) -> WritingLog:
        """Words written by day, compared with the goals."""
        chapters, goals = await self._store.book.chapters(), self.goals
        grown = await self._store.days.grown()
        days = await asyncio.to_thread(writing_days, grown, goals.day_begins)
        volumes: dict[str, int] = {}
        for chapter in chapters:
            volumes[chapter.volume] = volumes.get(chapter.volume, 0) + chapter.length
        return WritingLog(
            day_of(self._clock(), goals.day_begins),
            days,
            goals,
            sum(chapter.length for chapter in chapters),
            tuple((volume, length) for volume, length in volumes.items() if volume),
        )

    async def _words_of(self, today: date, goals: Goals) -> int:
        since = start_of(today, goals.day_begins).astimezone(self._clock().tzinfo)
        grown = await self._store.days.grown(since)
        days = writing_days(grown, goals.day_begins)
        return sum(each.counted(goals) for each in days if each.day == today)

    async def _stale_chapters(self) -> frozenset[ChapterId]:
        """The chapters with outdated derived texts; recomputed only when the memory has changed."""
        generation = await self._store.memory.generation()
        if generation != self._stale[0]:
            found = await (await self._store.memory.view(None)).stale()
            self._stale = generation, frozenset(chapter for each in found for chapter in each.chapters)
        return self._stale[1]


def _chapter_of(subject: str) -> ChapterId:
    """The chapter that a background task is about: `<chapter>`, `manuscript/<chapter>` or `<entity>@<chapter>`."""
    return ChapterId(subject.rpartition("@")[2].removeprefix("manuscript/"))
