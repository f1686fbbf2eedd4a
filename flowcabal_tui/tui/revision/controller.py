"""Opens the screens of a revision, and adds comments on the selected passage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.revision import PassId
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.revision import AddComment
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.manuscript_words import NO_CHAPTER, paragraph_with
from flowcabal_tui.tui.shared.subscriptions import on_key
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.story.story_page import StoryPlace

GoTo = Callable[[ChapterId, int, int, bool], Coroutine[Any, Any, None]]


class RevisionController:
    """Opens the screens, which are imported on first use, so that a project is displayed sooner."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        go_to: GoTo,
        save_drafts: Callable[[], Awaitable[None]],
        now: Callable[[], datetime],
    ) -> None:
        """`go_to` opens a chapter at characters of its text; `save_drafts` stores unsaved text."""
        self._screen, self._project, self._view = screen, project, view
        self._go_to, self._save_drafts, self._now = go_to, save_drafts, now
        self._last_pass: PassId | None = None

    @on_key("revision.open")
    def revision(self) -> None:
        """Opens the passes, at the one viewed last."""
        from flowcabal_tui.tui.revision.revision import RevisionScreen

        page = RevisionScreen(self._project, self._now, self._view.chapter, self._last_pass)

        def left(place: StoryPlace | None) -> None:
            self._last_pass = page.shown
            self._go(place)

        self._screen.app.push_screen(page, left)

    @on_key("revision.comments")
    def comments(self) -> None:
        """Opens the comments."""
        from flowcabal_tui.tui.revision.comments import CommentsScreen

        page = CommentsScreen(self._project, self._view.chapter)
        self._screen.app.push_screen(page, self._go)

    @on_key("revision.comment")
    async def comment(self) -> None:
        """Asks for a comment on the selected passage, else on the current paragraph."""
        from flowcabal_tui.tui.revision.comment_form import comment_form

        chapter, (words, start) = self._view.chapter, self._passage()
        if chapter is None:
            self._screen.notify(_(NO_CHAPTER), markup=False)
            return
        noted = await self._screen.app.push_screen_wait(comment_form(words))
        if noted is not None:
            await self._save_drafts()
            await self._project.carry_out(AddComment(chapter, noted.words, noted.kind, words, start))
            self._screen.notify(_("The comment was added: `;` lists all."), markup=False)

    def _passage(self) -> tuple[str, int]:
        """The selected words with their place, else the paragraph at the cursor or the uppermost one in view."""
        pane = self._screen.query_one(ManuscriptPane)
        if pane.face == "edit":
            start, end = pane.area.selected_span
            if start < end:
                words = pane.text[start:end]
                return words.strip(), start + len(words) - len(words.lstrip())
        else:
            start = pane.reader.place
        words, start = paragraph_with(pane.text, start)
        return words.strip(), start + len(words) - len(words.lstrip())

    def _go(self, place: StoryPlace | None) -> None:
        if place is not None:
            attempt(self._screen, self._go_to(place.chapter, place.start, place.end, place.edit))
