"""Opens the outline of the chapter beside its text, in all panes and in the writing view, and updates it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from textual.screen import Screen
from textual.timer import Timer

from flowcabal_tui.domain.errors import HelperFailed
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import BookChanged, CheckBeats, OutputDeleted, OutputPersisted
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.memory.beats_panel import BeatsPanel
from flowcabal_tui.tui.memory.outline import OutlineController, PartOf
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.spending import agrees_to_spend
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView

_PAUSE: Final = 0.5
"""Seconds after a change, in which further ones are waited for, until beats are counted again."""
_CLASS: Final = "-beats"
_HIDDEN_BY: Final = frozenset({"output", "prompt", "context", "profiles"})
"""Panes in whose place the text or the panel is."""


class BeatsBeside:
    """Controls the outline panel, which is created when it is first opened and replaces the right column."""

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView) -> None:
        self._screen, self._project, self._view = screen, project, view
        self._panel: BeatsPanel | None = None
        self._is_wanted = False
        self._timer: Timer | None = None

    @property
    def is_on(self) -> bool:
        """True when the panel is open."""
        return self._screen.has_class(_CLASS)

    @property
    def _pane(self) -> ManuscriptPane:
        return self._screen.query_one(ManuscriptPane)

    @on_key("book.beats", group="beats-open", exclusive=True)
    async def toggle(self) -> None:
        """Opens and focuses the panel, or closes it."""
        if self.is_on:
            self.close()
            return
        if self._view.chapter is None:
            self._screen.notify(_("No chapter is open: `+` in the list of chapters adds one."), markup=False)
            return
        if self._view.pane != "manuscript":
            self._view.show_pane("manuscript")
        if self._panel is None:
            self._panel = BeatsPanel()
            await self._screen.query_one("#centre").mount(self._panel)
            self._screen.watch(self._pane.reader, "texts_shown", self._read_again, init=False)
            self._screen.watch(self._pane, "face", self._read_again, init=False)
        self._is_wanted = True
        self._screen.add_class(_CLASS)
        self._screen.call_after_refresh(self._panel.query_one(PickList).focus)
        self._read_again()

    def close(self) -> None:
        """Hides the panel and focuses the text."""
        self._is_wanted = False
        had_focus = self._panel is not None and self._panel.has_focus_within
        self._screen.remove_class(_CLASS)
        if had_focus:
            self._screen.call_after_refresh(self._to_text)

    def pane_shown(self, pane: str) -> None:
        """Hides the panel if it and the pane now in view do not both fit; shows it again later."""
        if self._screen.has_class("-narrow") and pane != "manuscript":
            self._is_wanted = False
            self._screen.remove_class(_CLASS)
        if self._is_wanted:
            self._screen.set_class(pane not in _HIDDEN_BY, _CLASS)
            if self.is_on:
                self._read_again()

    @on_request(ManuscriptPane.DraftEdited)
    def typed(self, chapter: ChapterId, text: str | None, base: int | None) -> None:
        """Updates the panel after typing has stopped."""
        self._read_again()

    def count(self) -> None:
        """Requests the counts of beats for the list of chapters."""
        attempt(self._screen, self._count(), group="beat-counts", exclusive=True)

    async def _count(self) -> None:
        with suppress(HelperFailed):
            self._screen.query_one(ChapterList).show_beats(await self._project.book.beat_counts())

    @on_event
    def _changed(self, _event: BookChanged | OutputPersisted | OutputDeleted) -> None:
        self._read_again()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._screen.set_timer(_PAUSE, self.count)

    def _read_again(self) -> None:
        if self.is_on:
            attempt(self._screen, self._read(), group="beats", exclusive=True)

    async def _read(self) -> None:
        chapter, text = self._view.chapter, self._pane.text
        if chapter is None or self._panel is None:
            return
        try:
            found = await self._project.book.beats(chapter, text)
        except HelperFailed:  # a list beside the text is no reason to stop anybody
            return
        if self._view.chapter == chapter and self._pane.text == text:  # else another one is on its way
            self._panel.show(found)

    # What the panel asks for

    def _to_text(self) -> None:
        face = self._pane.face
        self._pane.query_one(f"#{face}").focus()

    @on_request(BeatsPanel.Left)
    def leave(self) -> None:
        """Focuses the text; closes a panel that covers it."""
        if self._screen.has_class("-narrow"):
            self.close()
        else:
            self._to_text()

    @on_request(BeatsPanel.PlaceChosen)
    def go(self, start: int, end: int) -> None:
        """Marks the place in the text; in the editor, moves the cursor to its beginning."""
        self.leave()
        self._screen.call_after_refresh(self._go, start, end)

    def _go(self, start: int, end: int) -> None:
        if self._pane.face == "edit":
            self._pane.edit_at(start, start)  # selected words would go with the next key
        elif self._pane.face == "read":
            self._pane.go_to(start, end)

    @on_request(BeatsPanel.CheckRequested, group="beats-check", exclusive=True)
    async def check(self) -> None:
        """Asks the agents' model which beats the saved text covers, after the writer has agreed to the price."""
        chapter = self._view.chapter
        if chapter is None:
            return
        quote = await self._project.book.quote_beats(chapter)
        if quote is None:
            self._screen.notify(_("The model has answered for this text and these beats."), markup=False)
            return
        title = _("Ask the model which beats the text covers?")
        if await agrees_to_spend(self._screen.app, self._project, title, quote, "agent"):
            self._screen.notify(_("The model reads the chapter."), markup=False)
            await self._project.carry_out(CheckBeats(chapter))
            self._read_again()

    @on_request(BeatsPanel.EditRequested)
    async def edit(self, part: int | None, of_volume: bool) -> None:
        """Opens the outline's text for the chapter beside the chapter."""
        chapter = self._view.chapter
        if chapter is None:
            return
        book, version = await self._project.book.outline()
        own = book.of(chapter)
        placed = book.volume_of(chapter) if of_volume else own[min(part or 0, len(own) - 1)] if own else None
        if await OutlineController(self._screen, self._project).edit(PartOf(placed, chapter), book, version):
            self._read_again()
