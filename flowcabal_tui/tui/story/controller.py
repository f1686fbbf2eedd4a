"""The screens of names and records: opened over the workspace, and told when the book changes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.story.access import StoryAccess

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench
    from flowcabal_tui.tui.story.record_rows import RecordList
    from flowcabal_tui.tui.story.story_page import Place

GoTo = Callable[[ChapterId, int, int], Coroutine[Any, Any, None]]


class StoryController:
    """What the writer looks up and corrects in names, relations, promises, moments and facts.

    The screens are loaded when one is opened: a project is on the screen sooner.
    """

    def __init__(self, screen: Screen[Any], workbench: Workbench, go_to: GoTo) -> None:
        """`go_to` opens a chapter at characters of its text."""
        self._screen, self._access, self._go_to = screen, StoryAccess(workbench), go_to

    def names(self, entity: EntityId | None = None) -> None:
        """Everyone and everything with a name."""
        from flowcabal_tui.tui.story.entities import EntitiesScreen

        self._screen.app.push_screen(EntitiesScreen(self._access, entity), self._go)

    def records(self, listed: RecordList, position: int = 0) -> None:
        """Promises, timeline or facts, these as of the chapter at a position (0: the last that is written)."""
        from flowcabal_tui.tui.story.records import RecordsScreen

        self._screen.app.push_screen(RecordsScreen(self._access, listed, position=position), self._go)

    def proposals(self, chapter: ChapterId | None) -> None:
        """What agents and rules say of the book; `chapter` is the open one."""
        from flowcabal_tui.tui.story.proposals import ProposalsScreen

        self._screen.app.push_screen(ProposalsScreen(self._access, chapter), self._go)

    def _go(self, place: Place | None) -> None:
        if place is not None:
            attempt(self._screen, self._go_to(place.chapter, place.start, place.end))

    def book_moved(self) -> None:
        """Names and records are read again where they are shown."""
        from flowcabal_tui.tui.story.story_page import StoryPage

        for screen in self._screen.app.screen_stack:
            if isinstance(screen, StoryPage):
                screen.book_moved()
