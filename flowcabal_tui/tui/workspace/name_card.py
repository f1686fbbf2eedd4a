"""Shows the card of the name at the cursor of the manuscript."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.known_names import KnownNames, NameHit
from flowcabal_tui.domain.name_card import CardPlace, NameCard
from flowcabal_tui.locale import _
from flowcabal_tui.project.card_words import FIRST, NAMES, PROFILE, RELATION, SEEN, card_head, card_lines
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import BookChanged, OutputDeleted, OutputPersisted
from flowcabal_tui.protocol.memory import BackgroundChanged, ProfileUpdated
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.name_card import CardRow, NameCardPanel
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.story.controller import StoryController
from flowcabal_tui.tui.story.words import BY_ENTITY, kind_words
from flowcabal_tui.tui.widgets.role_words import facts_words

OpenAt = Callable[[ChapterId, int, int], Awaitable[None]]
ShowProfile = Callable[[str], Awaitable[None]]
_NEAR: Final = 1_000
"""Characters to each side of the cursor in which a name is looked for when the card is opened."""


class NameCardController:
    """Opens and closes the card, and shows the name at the cursor. While it is closed, nothing is looked up."""

    def __init__(
        self, screen: Screen[Any], project: Project, view: OpenView, story: StoryController, open_at: OpenAt,
        show_profile: ShowProfile,
    ) -> None:  # fmt: skip
        """`open_at` opens a chapter at characters of its text."""
        self._screen, self._project, self._view, self._story = screen, project, view, story
        self._open_at, self._show_profile = open_at, show_profile
        self._names, self._panel = KnownNames(), NameCardPanel()
        self._shown: tuple[EntityId, ChapterId | None] | None = None
        self._card: NameCard | None = None

    @property
    def _pane(self) -> ManuscriptPane:
        return self._screen.query_one(ManuscriptPane)

    @on_key("manuscript.card", group="name-card-panel")
    async def toggle(self) -> None:
        """Opens the card, or closes it."""
        if self._panel.is_open:
            self._leave()
            self._panel.is_open = False
        else:
            await self._open()

    async def _open(self) -> None:
        if self._view.pane != "manuscript":
            self._view.show_pane("manuscript")
        if not self._panel.is_attached:
            await self._pane.mount(self._panel)
            self._follow_text()
        self._panel.fit(self._pane.size.width)
        self._panel.is_open = True
        await self._read_names()

    def _follow_text(self) -> None:
        watch = self._screen.watch
        watch(self._pane.reader, "texts_shown", self._follow, init=False)
        watch(self._pane.reader, "scroll_y", self._follow, init=False)
        watch(self._pane, "face", self._follow, init=False)
        watch(self._pane.area, "selection", self._follow, init=False)
        watch(self._pane, "virtual_size", self._fit, init=False)

    def _fit(self) -> None:
        self._panel.fit(self._pane.size.width)

    @on_event
    def _read_again(self, _event: BookChanged | OutputPersisted | OutputDeleted | ProfileUpdated) -> None:
        self._renew()

    @on_event
    def _note_task(self, event: BackgroundChanged) -> None:
        """Background work has found names or read records."""
        if event.task is not None and event.task.state == "fresh" and event.task.kind in ("index", "entities", "story"):
            self._renew()

    def _renew(self) -> None:
        if self._panel.is_open:
            attempt(self._screen, self._read_names(), group="known-names", exclusive=True)

    async def _read_names(self) -> None:
        entities = await self._project.story.entities()
        self._names = await asyncio.to_thread(KnownNames, entities)
        known, self._shown = self._shown, None
        self._follow()
        if self._shown is None and known is not None:
            self._show(known[0])

    def _follow(self) -> None:
        """Shows the card of the name at the cursor; where there is none, the last one stays."""
        if not self._panel.is_open:
            return
        hit = self._hit()
        if hit is None and self._shown is None:
            hit = self._near()
        if hit is not None:
            self._show(hit.entity)

    def _hit(self) -> NameHit | None:
        if self._pane.face == "edit":
            row, column = self._pane.area.cursor_location
            return self._names.at(self._pane.area.document.get_line(row), column)
        if self._pane.face == "proposal":
            return None
        span, (first, last) = self._pane.reader.highlighted, self._pane.reader.in_view
        if span is not None and first <= span[0] < last:
            return self._names.at(self._pane.text, span[0])
        return self._names.first_in(self._pane.text, first, last)

    def _near(self) -> NameHit | None:
        """The last name before the cursor of the editor, else the first behind it, in the same paragraph."""
        if self._pane.face != "edit":
            return None
        row, column = self._pane.area.cursor_location
        line = self._pane.area.document.get_line(row)
        before = self._names.last_in(line, column - _NEAR, column)
        return before or self._names.first_in(line, column, column + _NEAR)

    def _show(self, entity: EntityId) -> None:
        if (entity, self._view.chapter) != self._shown:
            self._shown = entity, self._view.chapter
            attempt(self._screen, self._read(*self._shown), group="name-card", exclusive=True)

    async def _read(self, entity: EntityId, chapter: ChapterId | None) -> None:
        try:
            self._card = card = await self._project.story.name_card(entity, chapter)
        except Gone:  # the name or the chapter has just been removed
            self._card = None
            self._panel.show(_("No name is at the cursor."), ())
        else:
            kind = facts_words(kind_words(card.entity), _(BY_ENTITY[card.entity.by]))
            self._panel.show(card_head(card), [CardRow(*line) for line in card_lines(card, kind)])

    @on_key("manuscript.next-name", step=1, group="name-card-panel")
    @on_key("manuscript.previous-name", step=-1, group="name-card-panel")
    async def go_to_name(self, step: int) -> None:
        """Goes to the next or previous name in the text, and shows its card."""
        if not self._panel.is_open:
            await self._open()
        text, (start, end) = self._pane.text, self._here()
        after = self._names.first_in(text, end, len(text))
        hit = after if step > 0 else self._names.last_in(text, 0, start)
        if hit is None:
            self._screen.notify(_("No further name in this chapter."), markup=False)
        elif self._pane.face == "edit":
            self._pane.area.select_span(hit.start, hit.end)
        else:
            self._pane.go_to(hit.start, hit.end)
        self._follow()

    def _here(self) -> tuple[int, int]:
        """The span of the name where one is, else the cursor or the first character in view."""
        if self._pane.face == "edit":
            return self._pane.area.selected_span
        span, (first, last) = self._pane.reader.highlighted, self._pane.reader.in_view
        return span if span is not None and first <= span[0] < last else (first, first)

    @on_request(NameCardPanel.Left)
    def _leave(self) -> None:
        if self._panel.has_focus_within:
            (self._pane.area if self._pane.face == "edit" else self._pane.reader).focus()

    @on_request(NameCardPanel.RenameRequested)
    async def _rename(self) -> None:
        if self._card is not None:
            await self._story.rename_name(self._card.entity.name)

    @on_request(NameCardPanel.Opened)
    async def _open_row(self, target: str) -> None:
        if (card := self._card) is None:
            return
        places: dict[str, CardPlace | None] = {SEEN: card.seen, FIRST: card.first}
        if (place := places.get(target)) is not None:
            await self._open_at(place.chapter, place.start, place.end)
        elif target == PROFILE:
            await self._show_profile(card.profile)
            self._view.show_pane("profiles")
        elif target == NAMES:
            self._story.names(card.entity.id)
        elif target.startswith(RELATION):
            self._show(EntityId(target.removeprefix(RELATION)))
