"""Opens the conversation on top of any screen, and passes the engine's events to it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.conversation import Chip, Citation, ConversationId
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.protocol.conversations import AnswerStreaming, TurnChanged
from flowcabal_tui.tui.conversation.other_pages import OtherPages
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.subscriptions import on_event
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.conversation.question_line import UnsentQuestion
    from flowcabal_tui.tui.conversation.screen import ConversationScreen

OpenAt = Callable[[ChapterId, int, int], Coroutine[Any, Any, None]]


class ConversationController:
    """Controls the panel, which is imported when it is first opened, so that a project is displayed sooner."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        open_at: OpenAt,
        selection: Callable[[], Chip | None],
        workflow: Callable[[], str],
        pages: OtherPages,
    ) -> None:
        """`open_at` opens a chapter at characters of its text; `selection` and `workflow` return the current ones."""
        self._screen, self._project, self._view, self._open_at = screen, project, view, open_at
        self._selection, self._workflow, self._pages = selection, workflow, pages
        self._identity: ConversationId | None = None
        self._typed: UnsentQuestion | None = None

    def toggle(self) -> None:
        """Opens the panel on top of the current screen, or closes it."""
        if (shown := self._shown()) is not None:
            if self._screen.app.screen is shown:
                shown.dismiss(None)
            return
        attempt(self._screen, self._open(), group="talk", exclusive=True)

    async def _open(self) -> None:
        from flowcabal_tui.tui.conversation.question_line import UnsentQuestion
        from flowcabal_tui.tui.conversation.screen import ConversationScreen, InView, last_used

        identity = await last_used(self._project, self._identity)
        typed = self._typed = self._typed or UnsentQuestion()
        in_view = InView(self._view.chapter, self._selection(), self._workflow())
        panel = ConversationScreen(self._project, identity, in_view, typed, self._pages)

        def closed(place: Citation | None) -> None:
            self._identity = panel.identity
            if place is not None:
                attempt(self._screen, self._go_to(place))

        self._screen.app.push_screen(panel, closed)

    async def _go_to(self, place: Citation) -> None:
        """In the workspace the chapter itself; over another screen the text beside it."""
        if self._screen.app.screen is self._screen:
            await self._open_at(place.chapter, place.at, place.until)
        else:
            uri = f"manuscript/{place.chapter}"
            found = await self._project.memory.source(uri, place.at, place.until)
            self._screen.app.push_screen(SourceScreen(found))

    def _shown(self) -> ConversationScreen | None:
        from flowcabal_tui.tui.conversation.screen import ConversationScreen

        screens = self._screen.app.screen_stack
        return next((each for each in screens if isinstance(each, ConversationScreen)), None)

    @on_event
    def _pass_on(self, event: AnswerStreaming | TurnChanged) -> None:
        if self._typed is None or (shown := self._shown()) is None:
            return
        if isinstance(event, AnswerStreaming):
            shown.heard(event)
        else:
            shown.changed(event)
