"""Writes the unsaved text of chapters to the project, one write after the other, so that it survives a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from textual.screen import Screen
from textual.timer import Timer

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.subscriptions import on_request
from flowcabal_tui.tui.shared.trouble import attempt

_SECONDS: Final = 1.0
"""Seconds from the first unwritten change until it is written."""


class ChapterDrafts:
    """Stores the unsaved text of each chapter; `changed` is called when the set of chapters with unsaved text changes.

    All writes share one lock, so that none can finish after a later save or discard.
    """

    def __init__(self, screen: Screen[Any], project: Project, changed: Callable[[], None]) -> None:
        self._screen, self._project, self._changed = screen, project, changed
        self.chapters: frozenset[ChapterId] = frozenset()
        """The chapters with unsaved text."""
        self._typed: dict[ChapterId, tuple[str | None, int | None]] = {}
        self._landed: dict[ChapterId, tuple[int | None, int]] = {}
        """The last save of a chapter: the version that was edited, and the version that it became."""
        self._lock = asyncio.Lock()
        self._timer: Timer | None = None

    async def load(self) -> None:
        """Reads which chapters have unsaved text."""
        chapters = {chapter.id for chapter, _draft in await self._project.drafts.all()}
        for chapter, (text, _base) in self._typed.items():
            (chapters.discard if text is None else chapters.add)(chapter)
        self._mark(chapters)

    def _mark(self, chapters: set[ChapterId]) -> None:
        if chapters != self.chapters:
            self.chapters = frozenset(chapters)
            self._changed()

    @on_request(ManuscriptPane.DraftEdited)
    def edited(self, chapter: ChapterId, text: str | None, base: int | None) -> None:
        """Records text that is based on the version `base`; None: the saved text is restored, which is written at
        once."""
        self._typed[chapter] = (text, self._rebased(chapter, base))
        self._mark({*self.chapters, chapter} if text is not None else {*self.chapters} - {chapter})
        if text is None:
            attempt(self._screen, self.write())
        elif self._timer is None:
            self._timer = self._screen.set_timer(_SECONDS, self._write_soon)

    def _rebased(self, chapter: ChapterId, base: int | None) -> int | None:
        """The version that typed text builds on: the last save, also if the screen has not read it yet."""
        before, after = self._landed.get(chapter, (None, 0))
        return after if after and base == before else base

    def _write_soon(self) -> None:
        self._timer = None
        attempt(self._screen, self.write())

    async def write(self) -> None:
        """Writes everything typed since the last write."""
        async with self._lock:
            while self._typed:
                chapter, typed = self._typed.popitem()
                try:
                    is_draft = await self._project.drafts.put(chapter, *typed)
                except BaseException:  # cut off or failed: it is written the next time
                    self._typed.setdefault(chapter, typed)
                    raise
                if not is_draft and chapter not in self._typed:
                    self._mark({*self.chapters} - {chapter})

    async def save(self, chapter: ChapterId, text: str, base: int) -> None:
        """Makes the unsaved text a version. Raises VersionConflict when the chapter has another text than its base."""
        async with self._lock:
            typed, over = self._typed.pop(chapter, None), self._rebased(chapter, base)
            try:
                command = WriteChapter(chapter, text, expected_version=over, settles_draft=True)
                version = int(await self._project.carry_out(command))
            except BaseException:  # cut off or refused: what was typed is still unsaved
                self._typed.setdefault(chapter, typed or (text, base))
                raise
            self._landed[chapter] = (base, version)
            later, _base = self._typed.pop(chapter, (None, None))
            if later is not None and later != text:
                self._typed[chapter] = (later, version)
            else:
                self._mark({*self.chapters} - {chapter})

    async def discard(self, chapter: ChapterId) -> None:
        """Discards the unsaved text of a chapter."""
        self.edited(chapter, None, None)
        await self.write()

    def forget(self, chapter: ChapterId) -> None:
        """Drops the unsaved text of a purged chapter, so that it is not written again."""
        self._typed.pop(chapter, None)
        self._landed.pop(chapter, None)
        self._mark({*self.chapters} - {chapter})
