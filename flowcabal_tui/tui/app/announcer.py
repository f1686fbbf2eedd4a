"""Shows notices in the row of the topmost screen, one after another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from textual.app import App
from textual.notifications import SeverityLevel
from textual.screen import Screen, SystemModalScreen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

from flowcabal_tui.domain.text import clean
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.notices import Notice, Notices
from flowcabal_tui.tui.widgets.notice_row import NoticeRow, row_space


def _has_no_room(screen: Screen[Any]) -> bool:
    """True for short-lived screens (`HIDES_NOTICES`) and Textual's own: notices wait until they are closed."""
    return isinstance(screen, SystemModalScreen) or getattr(screen, "HIDES_NOTICES", False)


class Announcer:
    """Displays the row, and moves to the next after its time."""

    def __init__(self, app: App[Any], now: Callable[[], datetime]) -> None:
        self._app, self._now = app, now
        self.notices = Notices()
        self._timer: Timer | None = None
        self._was_read = True
        """The row in view may be replaced by another."""

    def say(self, words: str, title: str, severity: SeverityLevel) -> None:
        """Adds a notice; displays it at once if the previous one was visible long enough to be read."""
        self.notices.say(Notice(clean(words), clean(title), severity, self._now()))
        if self._was_read:
            self._next()
        else:
            self.show()

    def hold(self, source: str, words: str) -> None:
        """Shows the current work of `source`; empty words: it has ended."""
        self.notices.hold(source, words)
        self.show()

    def withdraw(self, words: str) -> None:
        """Hides a notice that no longer applies."""
        self.notices.withdraw(words)
        if self.notices.shown is not None and self.notices.shown.words == words:
            self._next()

    def screen_changed(self, _screen: Screen[Any]) -> None:
        """Updates the row after another screen came to the top."""
        self._app.call_after_refresh(self.show)

    def resized(self) -> None:
        """Cuts the rows for the new width."""
        self.notices.fit(row_space(self._app.size.width))
        self.show()

    def _next(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not self._app.screen_stack:  # the application closes
            return
        if _has_no_room(self._app.screen):
            self._was_read, self._timer = False, self._app.set_timer(1.0, self._next)
            return
        self.notices.advance(row_space(self._app.size.width))
        self._was_read = self.notices.shown is None
        if not self._was_read:
            self._timer = self._app.set_timer(self.notices.seconds[0], self._read)
        self.show()

    def _read(self) -> None:
        """Shows the next notice once this one was visible long enough to read; it stays longer if none waits."""
        least, usual = self.notices.seconds
        self._was_read = True
        if self.notices.left or usual <= least:
            self._next()
        else:
            self._timer = self._app.set_timer(usual - least, self._next)

    def show(self) -> None:
        """Updates the row of every screen; only the topmost screen shows words."""
        if not self._app.screen_stack:  # the application closes
            return
        top = self._app.screen
        for screen in self._app.screen_stack[:-1]:
            for behind in screen.query(NoticeRow):
                behind.show_row("", 0, "information")
        if _has_no_room(top) or not top.is_mounted:
            return
        row: NoticeRow | None = next(iter(top.query(NoticeRow)), None)
        if row is None and not self.notices.row:
            return
        sees_cursor = _sees_cursor(top.focused)
        if row is None:
            keys = next(iter(top.query_children(HintLine)), None)
            row = NoticeRow(classes="-added" if keys else "-added -docked")
            top.mount(row, before=keys)
        shown = self.notices.shown
        row.show_row(self.notices.row, self.notices.left, shown.severity if shown else "information")
        if sees_cursor and row.has_class("-added"):
            row.call_after_refresh(_follow_cursor, top)


def _sees_cursor(focused: Widget | None) -> bool:
    return isinstance(focused, TextArea) and focused.region.contains_point(focused.cursor_screen_offset)


def _follow_cursor(screen: Screen[Any]) -> None:
    """The line that is typed into stays in sight when the page loses a row."""
    if isinstance(screen.focused, TextArea):
        screen.focused.scroll_cursor_visible()
