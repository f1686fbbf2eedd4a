"""The summary of the open book for the start page, and the place at which the writer resumes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.project.project import Project
from flowcabal_tui.settings.book_summary import BookSummary
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView

log = logging.getLogger(__name__)
SECONDS: Final = 20.0
"""Seconds between two writes: a killed program loses at most this much of the writer's place, and no text."""


class SummaryKeeper:
    """Stores the summary of the open book: regularly after changes, and when the book is closed."""

    def __init__(
        self, screen: Screen[Any], project: Project, view: OpenView, book: BookController,
        now: Callable[[], datetime], keep: Callable[[Path, BookSummary], None],
    ) -> None:  # fmt: skip
        self._screen, self._project, self._view, self._book = screen, project, view, book
        self._now, self._keep = now, keep
        self._kept: BookSummary | None = None

    def begin(self) -> None:
        """Starts storing the summary."""
        if not self._project.info.read_only:
            self._screen.set_interval(SECONDS, lambda: attempt(self._screen, self.write(), group="summary"))

    def go_on(self, summary: BookSummary) -> None:
        """Restores the cursor to the writer's last place in the open chapter, or to its end if the text is shorter."""
        pane = self._screen.query_one(ManuscriptPane)
        if self._view.chapter != summary.chapter or not self._book.chapter:
            return
        place = min(max(0, summary.place), len(pane.text))
        self._view.show_pane("manuscript")
        if summary.is_editing and not self._project.info.read_only:
            self._screen.call_after_refresh(pane.edit_at, place, place)
        else:
            self._screen.call_after_refresh(pane.go_to, place, place)

    async def write(self) -> None:
        """Writes the changed summary; on a full disk only the start page lacks its numbers."""
        summary = self._summary()
        if summary is None or self._kept == replace(summary, seen_at=self._kept.seen_at if self._kept else ""):
            return
        try:
            await asyncio.to_thread(self._keep, self._project.info.path, summary)
            self._kept = summary
        except OSError as error:
            log.warning("the summary of the book could not be written: %s", error)

    def _summary(self) -> BookSummary | None:
        info, seen = self._project.info, self._book.overview
        if info.read_only or seen is None or not self._screen.is_mounted:
            return None
        chapters, chapter, now = self._book.chapters, self._book.chapter, self._now()
        pane, facts = self._screen.query_one(ManuscriptPane), self._screen.query_one(StatusLine).facts
        return BookSummary(
            name=info.name,
            language=info.language,
            length=sum(each.length for each in chapters),
            chapters=len(chapters),
            chapter=chapter.id if chapter else ChapterId(""),
            position=chapter.position if chapter else 0,
            title=chapter.title if chapter else "",
            place=pane.place,
            is_editing=pane.face == "edit",
            day=seen.day.isoformat() if seen.day else "",
            day_begins=seen.goals.day_begins,
            today=seen.today,
            goal=seen.goals.day,
            decisions=facts.questions + facts.builds,
            findings=facts.findings,
            proposals=facts.proposals,
            unsaved=len(self._book.drafts.chapters),
            seen_at=now.replace(second=0, microsecond=0).isoformat(),
        )
