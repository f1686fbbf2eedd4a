"""Opens the pages that cover the workspace, then the place that the writer chose there.

A page is imported when it is first opened, so that the first frame need not wait for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.locale import _
from flowcabal_tui.tui.book.browser_controller import BrowserController
from flowcabal_tui.tui.book.proof_controller import ProofController
from flowcabal_tui.tui.book.search_controller import SearchController
from flowcabal_tui.tui.memory.knowledge_controller import KnowledgeController
from flowcabal_tui.tui.memory.queue_controller import QueueController
from flowcabal_tui.tui.shared.subscriptions import on_key
from flowcabal_tui.tui.shared.view import OpenView

OpenAt = Callable[[ChapterId, int, int, bool], Awaitable[None]]


class PageOpener:
    """Opens the pages of the book and of its memory; `open_at` opens a place, to read it or to edit it."""

    def __init__(
        self,
        screen: Screen[Any],
        view: OpenView,
        now: Callable[[], datetime],
        open_at: OpenAt,
        *,
        browser: BrowserController,
        proof: ProofController,
        search: SearchController,
        background: QueueController,
        knowledge: KnowledgeController,
    ) -> None:
        self._screen, self._view, self._now, self._open_at = screen, view, now, open_at
        self._browser, self._proof, self._search = browser, proof, search
        self._background, self._knowledge = background, knowledge

    @on_key("book.browser", group="looking")
    async def browse(self) -> None:
        """Opens the manuscript browser."""
        from flowcabal_tui.tui.book.browser import BrowserScreen

        info = self._browser.project.info
        page = BrowserScreen(info.name, info.language, self._browser, self._view.chapter)
        place = await self._screen.app.push_screen_wait(page)
        if place is not None:
            await self._open_at(place.chapter, place.start, place.end, False)

    @on_key("book.search", group="looking")
    async def search(self) -> None:
        """Opens the search as it was closed."""
        from flowcabal_tui.tui.book.search import SearchScreen

        page = SearchScreen(self._search, self._search.query, self._search.last_hit)
        found = await self._screen.app.push_screen_wait(page)
        self._search.query = page.words
        if found is not None:
            self._search.last_hit = found
            await self._open_at(ChapterId(found.uri.removeprefix("manuscript/")), found.start, found.end, False)

    @on_key("book.proof", group="looking")
    async def proof(self) -> None:
        """Lists the marks of the proofing rules; the chosen place is opened in the editor."""
        from flowcabal_tui.tui.book.proof import ProofScreen

        if self._browser.book.chapter is None:
            self._screen.notify(_("No chapter is open: `+` in the list of chapters adds one."), markup=False)
            return
        place = await self._screen.app.push_screen_wait(ProofScreen(self._proof))
        if place is not None:
            await self._open_at(place.chapter, place.start, place.end, True)

    @on_key("memory.queue", group="looking")
    @on_key("memory.rebuild", group="looking", rebuilds=True)
    async def background_work(self, *, rebuilds: bool = False) -> None:
        """Opens the page of background work; with `rebuilds` it asks at once for the parts to rebuild."""
        from flowcabal_tui.tui.memory.queue import QueueScreen

        await self._screen.app.push_screen_wait(QueueScreen(self._background, self._now, rebuilds=rebuilds))

    @on_key("memory.knowledge", group="looking")
    async def knowledge(self) -> None:
        """Opens the page of the knowledge server."""
        from flowcabal_tui.tui.memory.knowledge import KnowledgeScreen

        await self._screen.app.push_screen_wait(KnowledgeScreen(self._knowledge))
