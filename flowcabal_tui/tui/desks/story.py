"""The screens of names and records: opened over the workspace, and told when the book changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.tui.desks.story_doors import StoryDoors
from flowcabal_tui.tui.screens.entities import EntitiesScreen
from flowcabal_tui.tui.screens.records import RecordsScreen
from flowcabal_tui.tui.screens.story_page import Place, StoryPage
from flowcabal_tui.tui.story.shelves import Shelf

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


class StoryDesk:
    """What the writer looks up and corrects in names, relations, promises, moments and facts."""

    def __init__(
        self, screen: Screen[Any], workbench: Workbench, go_to: Callable[[ChapterId, int, int], Awaitable[None]]
    ) -> None:
        """`go_to` opens a chapter at characters of its text."""
        self._screen, self._doors, self._go_to = screen, StoryDoors(workbench), go_to

    async def names(self, entity: EntityId | None = None) -> None:
        """Everyone and everything with a name."""
        await self._open(EntitiesScreen(self._doors, entity))

    async def records(self, shelf: Shelf, position: int = 0) -> None:
        """Promises, timeline or facts, these as of the chapter at a position (0: the last that is written)."""
        await self._open(RecordsScreen(self._doors, shelf, position=position))

    async def _open(self, page: StoryPage) -> None:
        place: Place | None = await self._screen.app.push_screen_wait(page)
        if place is not None:
            await self._go_to(place.chapter, place.start, place.end)

    def book_moved(self) -> None:
        """Names and records are read again where they are shown."""
        for screen in self._screen.app.screen_stack:
            if isinstance(screen, StoryPage):
                screen.book_moved()
