"""Opens the screens of names and records, and refreshes them when the book changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.impact import BookChange, ChapterChanged, ChapterMoved, Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Proposal, ProposalFilter
from flowcabal_tui.domain.story import StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import BookChanged, OutputDeleted, OutputPersisted, OutsideEdit
from flowcabal_tui.protocol.findings import CheckProgress, FindingsChanged
from flowcabal_tui.protocol.memory import BackgroundChanged
from flowcabal_tui.protocol.revision import CommentsChanged, RevisionChanged
from flowcabal_tui.protocol.story import CorrectProposal
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import read_cast
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

if TYPE_CHECKING:
    from flowcabal_tui.tui.story.record_rows import RecordList
    from flowcabal_tui.tui.story.story_page import StoryPlace

PREPARE_SECONDS: Final = 1.0
"""After the count of findings: the workspace is filled then."""
GoTo = Callable[[ChapterId, int, int, bool], Coroutine[Any, Any, None]]


class StoryController:
    """Opens names, records, proposals and findings.

    The screens are imported when they are opened, so that a project is displayed sooner.
    """

    def __init__(
        self, screen: Screen[Any], project: Project, view: OpenView, go_to: GoTo, now: Callable[[], datetime]
    ) -> None:
        """`go_to` opens a chapter at characters of its text, to read or to edit them."""
        self._screen, self._project, self._view, self._go_to = screen, project, view, go_to
        self._now = now
        self._last_finding: str | None = None
        self._is_prepared = False

    @on_key("story.names")
    def names(self, entity: EntityId | None = None) -> None:
        """Opens the list of names."""
        from flowcabal_tui.tui.story.entities import EntitiesScreen

        self._screen.app.push_screen(EntitiesScreen(self._project, entity), self._go)

    @on_key("story.promises", listed="promises")
    @on_key("story.timeline", listed="timeline")
    @on_key("story.facts", listed="facts")
    def records(self, listed: RecordList) -> None:
        """Opens promises, the timeline or facts, these as of the open chapter."""
        from flowcabal_tui.tui.story.records import RecordsScreen

        self._screen.app.push_screen(RecordsScreen(self._project, listed, position=self._view.position), self._go)

    @on_key("story.proposals")
    def proposals(self) -> None:
        """Opens the proposals of agents and rules."""
        from flowcabal_tui.tui.story.proposals import ProposalsScreen

        self._screen.app.push_screen(ProposalsScreen(self._project, self._view.chapter), self._go)

    async def correct(self, proposal: Proposal) -> None:
        """Opens the form of the name or record of a proposal, and writes it as edited there."""
        from flowcabal_tui.tui.story.proposals import form_of

        form = form_of(proposal, await read_cast(self._project))
        change: Entity | StoryRecord | None = None
        if form is not None:
            change = await self._screen.app.push_screen_wait(form)
        if change is not None:
            await self._project.carry_out(CorrectProposal(proposal.id, change))

    @on_key("story.findings")
    def findings(self) -> None:
        """Opens the findings of checks, at the one viewed last."""
        from flowcabal_tui.tui.story.findings import FindingsScreen

        page = FindingsScreen(self._project, self._now, self._view.chapter, self._last_finding)

        def left(place: StoryPlace | None) -> None:
            self._last_finding = page.rows.picked
            self._go(place)

        self._screen.app.push_screen(page, left)

    @on_key("story.rename", group="looking")
    async def rename(self) -> None:
        """Asks for a name and its new form, and shows every place."""
        if old := await self._typed(_("Rename everywhere: which name?")):
            await self.rename_name(old)

    async def rename_name(self, old: str) -> None:
        """Asks for the new form of a name, and shows every place."""
        new = await self._typed(_("Rename {name} everywhere to").format(name=one_line(old, 40)), old)
        if new and new != old:
            self._open_impact(Rename(old, new))

    @on_key("story.impact", group="looking")
    async def impact(self) -> None:
        """Shows the places that depend on the last edit or move of the open chapter."""
        chapters = await self._project.book.chapters()
        chapter = next((each for each in chapters if each.id == self._view.chapter), None)
        if chapter is None:
            return
        title = _("What depends on chapter {n}? Enter: on its last edit; a number: on a move to that place.")
        typed = await self._typed(title.format(n=chapter.position))
        if typed and typed.isdecimal():
            self._open_impact(ChapterMoved(chapter.id, int(typed)))
        elif typed == "" and chapter.version > 1:
            self._open_impact(ChapterChanged(chapter.id))
        elif typed == "":
            self._screen.notify(_("The chapter was never edited."), markup=False)

    async def _typed(self, title: str, value: str = "") -> str | None:
        typed: str | None = await self._screen.app.push_screen_wait(PromptLine(title, value=value))
        return None if typed is None else typed.strip()

    def _open_impact(self, change: BookChange) -> None:
        from flowcabal_tui.tui.story.impact import ImpactScreen

        self._screen.app.push_screen(ImpactScreen(self._project, change), self._go)

    def _go(self, place: StoryPlace | None) -> None:
        if place is not None:
            attempt(self._screen, self._go_to(place.chapter, place.start, place.end, place.edit))

    def count_proposals(self) -> None:
        """Updates the number of waiting items in the status line."""
        attempt(self._screen, self._count_proposals(), group="proposals", exclusive=True)

    async def _count_proposals(self) -> None:
        page = await self._project.story.proposals(ProposalFilter(("waiting",)), 0, 1)
        found = await self._project.findings.findings(FindingFilter(notes=True), 0, 1)
        status = self._screen.query_one(StatusLine)
        proposals, findings = page.counts.get("waiting", 0), found.counts.get("waiting", 0)
        status.facts = replace(status.facts, proposals=proposals, findings=findings)
        if found.total and not self._is_prepared:
            self._is_prepared = True
            self._screen.set_timer(PREPARE_SECONDS, self._prepare)

    async def _prepare(self) -> None:
        """Loads the code and the styles of the list of findings, so that its first opening takes no longer than later
        ones."""
        loaded = await asyncio.to_thread(import_module, "flowcabal_tui.tui.story.findings")
        page, styles = loaded.FindingsScreen(self._project, self._now), self._screen.app.stylesheet
        for widget in (page, *page.compose(), *loaded.Passages().compose()):
            for read_from, css, tie_breaker, scope in widget._get_default_css():  # as Textual does at mounting
                styles.add_source(
                    css, read_from=read_from, is_default_css=True, tie_breaker=tie_breaker, scope=scope
                )  # fmt: skip
        styles.parse()

    @on_event
    def _note_check(self, event: CheckProgress) -> None:
        from flowcabal_tui.tui.story.story_page import StoryPage

        for screen in self._screen.app.screen_stack:
            if isinstance(screen, StoryPage):
                screen.note_check(event.done, event.total)

    @on_event
    def _read_again(
        self, _event: OutputPersisted | OutputDeleted | OutsideEdit | BookChanged | FindingsChanged
    ) -> None:
        self.count_proposals()
        self.book_moved()

    @on_event
    def _count_again(self, _event: BackgroundChanged) -> None:
        """Updates the counts of background work on an open page of names or records."""
        if self._screen.app.screen is not self._screen:
            self.book_moved()

    @on_event
    def _refresh(self, _event: CommentsChanged | RevisionChanged) -> None:
        self.book_moved()

    def book_moved(self) -> None:
        """Refreshes names and records on open screens."""
        from flowcabal_tui.tui.story.story_page import StoryPage

        for screen in self._screen.app.screen_stack:
            if isinstance(screen, StoryPage):
                screen.book_moved()
