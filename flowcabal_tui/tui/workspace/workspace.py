"""The workspace: the screen of an open project, and the controllers behind its panes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import DescendantFocus, Event, ScreenResume
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.actions import bindings
from flowcabal_tui.tui.shared.known_books import NO_BOOKS, KnownBooks
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import Request, Subscriptions
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.workspace.columns import FIRST_PANE, PaneColumns

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.runs.output import OutputPane
    from flowcabal_tui.tui.workspace.controllers import Controllers

_CONTROLLERS: Final = "flowcabal_tui.tui.workspace.controllers"


def drain_seconds(environment: Mapping[str, str] = os.environ) -> float:
    """Seconds between two reads of the feed: ten per second, four over SSH, where every repaint is sent."""
    return 0.25 if environment.get("SSH_CONNECTION") else 0.1


class WorkspaceScreen(Screen[None]):
    """One project on the screen.

    The only place where events of the engine, requests of the panes and keys become calls of controllers.
    """

    @dataclass
    class NotOpened(Message):
        """The book could not be opened completely, though its chapters were readable."""

        error: FlowCabalError

    BINDINGS: ClassVar[list[BindingType]] = bindings("workspace")
    AUTO_FOCUS = ""
    """Textual would take the chapters' filter, which styles have not hidden yet."""

    controllers: Controllers
    """Created when the visible panes are painted; `book` exists before."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """Textual would repaint the whole screen; here only the widgets that gain or lose the focus are repainted."""

    def __init__(
        self, project: Project, now: Callable[[], datetime], editor: str = "", manuscript: Path | None = None,
        books: KnownBooks = NO_BOOKS,
    ) -> None:  # fmt: skip
        """`editor` is an external editor's command from the settings; `manuscript` is imported at once.

        `books` stores the place at which the book was left; it opens there.
        """
        super().__init__()
        self._books = books
        self._project, self._now, self._editor = project, now, editor
        self._first_import, self._is_new = manuscript, True
        self.is_opening, self.opened_at = True, 0.0
        """Keys are dropped while the panes are filled; `opened_at` is in the time of events."""
        self._drain_timer: Timer | None = None
        self._subscriptions = Subscriptions(self)
        self._is_ready = False
        """Have the controllers been made?"""
        self.status = StatusLine()
        self._columns = PaneColumns(self, self.status, clean_line(project.folder.name))
        self.view = OpenView(self.action_pane, self._subscriptions.publish)
        self._left = books.of(project.folder) if manuscript is None else None
        if self._left is not None and self._left.chapter:
            self.view.chapter = ChapterId(self._left.chapter)
        self.book = BookController(self, project, self.view, now, editor)

    def add_controllers(self, output: OutputPane) -> None:
        """Creates the controllers of the panes, and carries out requests that waited for them."""
        from flowcabal_tui.tui.workspace.controllers import Controllers

        self.controllers = Controllers(
            self, self._project, self.view, self.book, output, self._now, self._editor, self._books
        )
        self._subscriptions.add(*self.controllers.in_order)
        self._is_ready = True

    def compose(self) -> ComposeResult:
        """Yields the panes in their columns."""
        yield from self._columns.compose()

    def again(self) -> WorkspaceScreen:
        """A new screen of the same project in the current language."""
        fresh = WorkspaceScreen(self._project, self._now, self._editor, books=self._books)
        fresh.view.chapter = self.view.chapter
        return fresh

    @property
    def active_runs(self) -> int:
        """The number of runs that quitting would stop."""
        return len(self.controllers.runs.active) if self._is_ready else 0

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Skips restyling on the first resume: its widgets were styled when they were mounted."""
        if self._is_new:
            event.refresh_styles = self._is_new = False
        if self._is_ready:  # the settings page may have changed the models
            self.status.show_project(self._project.info)

    @property
    def keys_of_the_moment(self) -> tuple[str, ...]:
        """Ids of the actions that the footer names first: answering a question, stopping a run."""
        questions = ("decisions.open",) * bool(self.controllers.questions.count)
        running = ("run.stop",) * bool(self.active_runs)
        return (*questions, *running, "output.approve", "output.edit", "output.retry")

    def on_mount(self) -> None:
        """Fills the visible panes after the first frame, then the others."""
        self.action_pane(FIRST_PANE)
        self.query_one(ManuscriptPane).book_language = self._project.language
        self.status.facts = replace(self.status.facts, is_opening=True)
        attempt(self, self._load(), group="load")

    async def _add_rest(self) -> None:
        """The panes that are not in view, and the controllers; the feed is drained from then on."""
        await self._project.complete()
        info = self._project.info
        self.status.show_project(info)
        await asyncio.to_thread(import_module, _CONTROLLERS)  # the panes in view are painted meanwhile
        output, prompt = await self._columns.mount_hidden()
        output.book_language, prompt.models = info.language, info.model_names
        self.add_controllers(output)
        self.controllers.questions.set_title()
        self.controllers.proof.follow_editor()
        self.controllers.comment_marks.follow_text()
        self._drain_timer = self.set_interval(drain_seconds(), self.drain)

    async def _painted(self) -> None:
        """Waits until the chapters are painted, because imports after this point would delay them."""
        painted = asyncio.Event()
        self.call_after_refresh(painted.set)
        await painted.wait()

    async def _load(self) -> None:
        try:
            try:
                await self.book.load_chapters()
                await self._painted()
            finally:
                await self._add_rest()
            await self.book.count_today()
            await self.controllers.memory.load()
            await self.controllers.questions.load()
            await self.controllers.builds.load()
            # last, because the engine then imports what validates a workflow
            await self.controllers.runs.load(self.view.chapter)
            self.controllers.runs.show_counts()
            self.controllers.story.count_proposals()
            if self._left is not None:
                self.controllers.summary.go_on(self._left)
            self.controllers.summary.begin()
            self.controllers.beats.count()
        except FlowCabalError as error:
            if self._is_ready:
                raise
            self.post_message(self.NotOpened(error))  # until the start page is there, keys stay unused
            return
        finally:
            if self._is_ready:
                self.is_opening, self.opened_at = False, Event().time
                self._columns.opened()
                self._project.begin()
                self.status.facts = replace(self.status.facts, is_opening=False)
        await self.book.reading.load()  # imports the agents
        if self._first_import is not None:
            path, self._first_import = self._first_import, None
            await self.book.import_book(path)

    def drain(self) -> None:
        """Passes the events since the last call to the controllers."""
        for event in self._project.take():
            self._subscriptions.publish(event)

    def stop_intake(self) -> None:
        """Stops taking events from the feed."""
        if self._drain_timer is not None:
            self._drain_timer.stop()

    async def save_drafts(self) -> None:
        """Saves unsaved text where it survives a crash; stores an edited workflow as a version."""
        if self._is_ready and (typed := self.query_one(ManuscriptPane).typed_now()) is not None:
            self.book.drafts.edited(typed.chapter, typed.text, typed.base)
        await self.book.drafts.write()
        if self._is_ready:
            await self.controllers.document.put_away()
            await self.controllers.summary.write()

    @on(Request)
    def carry_out(self, request: Request) -> None:
        """Passes the request of a pane, or of a screen over the workspace, to the controllers."""
        if self._subscriptions.request(request):
            request.stop()

    def action_key(self, action: str) -> None:
        """Passes a key to its controller."""
        self._subscriptions.carry_out(action)

    def action_pane(self, pane: str) -> None:
        """Shows a pane and focuses it."""
        self._turn_to(pane)

    def _turn_to(self, pane: str, *, focus: bool = True) -> None:
        """Shows another pane; stores changed blocks if that leaves the prompt."""
        if self.view.pane == "prompt" and pane != "prompt":
            attempt(self, self.controllers.document.put_away(), group="workflow")
        self.view.pane = pane
        if self._is_ready:
            if pane != "manuscript":
                self.controllers.writing.leave()
            self.controllers.beats.pane_shown(pane)
        self._columns.show(pane, focus=focus)

    @on(PaneChosen)
    def choose_pane(self, event: PaneChosen) -> None:
        """Shows the clicked pane; ignored until all panes exist."""
        if not self.is_opening:
            self.action_pane(event.pane)

    @on(DescendantFocus)
    def follow_focus(self, event: DescendantFocus) -> None:
        """Updates the current pane after Tab or the mouse moved the focus."""
        if (pane := self._columns.pane_of(event.widget)) is not None:
            self._turn_to(pane, focus=False)

    def action_cycle(self, step: int) -> None:
        """Goes to the next or previous pane."""
        self.action_pane(self._columns.beside(step))

    def action_zoom(self) -> None:
        """Shows only the current pane, or all panes again."""
        self.toggle_class("-zoom")
