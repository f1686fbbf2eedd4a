"""Looking through the book: search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.search import SearchAnswer, SearchHit, SearchKind
from flowcabal_tui.tui.screens.search import SearchScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.views import SourceText, Workbench

OpenAt = Callable[[ChapterId, int, int], Awaitable[None]]


class LookingDesk:
    """Lays the screens over the workspace that show the whole book; `open_at` opens a chapter at a place."""

    def __init__(self, screen: Screen[Any], workbench: Workbench, open_at: OpenAt) -> None:
        self._screen, self._workbench, self._open_at = screen, workbench, open_at
        self._query = ""
        self._last_hit: SearchHit | None = None

    # SearchDoors

    async def search(self, query: str, kinds: Sequence[SearchKind], limit: int) -> SearchAnswer:
        """What a search finds."""
        return await self._workbench.search(query, kinds, limit)

    async def look(self, hit: SearchHit) -> SourceText:
        """The text of a hit."""
        return await self._workbench.source(hit.uri, hit.start, hit.end, hit.level)

    async def find(self) -> None:
        """The search, as it was left; a hit of the manuscript is opened where it stands."""
        page = SearchScreen(self, self._query, self._last_hit)
        found = await self._screen.app.push_screen_wait(page)
        self._query = page.words
        if isinstance(found, SearchHit):
            self._last_hit = found
            await self._open_at(ChapterId(found.uri.removeprefix("manuscript/")), found.start, found.end)
