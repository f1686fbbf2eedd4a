"""The app as its parts know it: one screen at the bottom, a theme, a language, notices."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Final

from textual import on
from textual.app import App, ComposeResult
from textual.events import Resize
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from flowcabal_tui.locale import _, use_language
from flowcabal_tui.tui.app.announcer import Announcer
from flowcabal_tui.tui.app.departure import Departure
from flowcabal_tui.tui.app.driver import PatientDriver
from flowcabal_tui.tui.shared.notices import GoesOn, NoticeOver

TERMINAL_THEMES: Final = ("ansi-dark", "ansi-light")
DEFAULT_THEME: Final = "ink"


SMALLEST: Final = Size(60, 16)


def is_too_small(size: Size) -> bool:
    """Is the terminal smaller than the smallest that the panes fit in?"""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


class TooSmallScreen(ModalScreen[None]):
    """Says how large the terminal must be; goes away by itself."""

    HIDES_NOTICES: ClassVar[bool] = True
    DEFAULT_CSS = """
    TooSmallScreen { align: center middle; background: $background; }
    TooSmallScreen Static { width: auto; }
    """

    def compose(self) -> ComposeResult:
        """Two lines."""
        yield Static(
            _("This terminal is too small.\nAt least {width} x {height} characters are needed.").format(
                width=SMALLEST.width, height=SMALLEST.height
            ),
            markup=False,
        )


class Stage(App[int]):
    """Shows screens; which ones, and when, is for those who stand on it."""

    def __init__(self, language: str, now: Callable[[], datetime]) -> None:
        """`language` is a code, or empty for that of the environment."""
        self.screen_language = use_language(language or None)
        super().__init__(driver_class=PatientDriver)
        self.departure = Departure(self)
        self.announcer = Announcer(self, now)

    def on_mount(self) -> None:
        """Notices follow to the screen on top. Textual calls this beside that of a subclass."""
        self.screen_change_signal.subscribe(self, self.announcer.screen_changed)

    def put_base(self, screen: Screen[Any]) -> None:
        """Replaces every screen but the first, which Textual cannot switch, by this one."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)
        self.call_after_refresh(lambda: self._notice_size(self.size))

    def use_theme(self, name: str) -> None:
        """The theme of that name, or the one that is always there."""
        known = (name, DEFAULT_THEME, TERMINAL_THEMES[0])
        self.theme = next(item for item in known if item in self.available_themes)

    def use_screen_language(self, code: str) -> None:
        """The words of what is made from here on."""
        self.screen_language = use_language(code or None)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Every notice of the app goes into the row of notices: never markup, as long as reading takes."""
        self.announcer.say(message, title, severity)

    @on(GoesOn)
    def show_what_goes_on(self, event: GoesOn) -> None:
        """Words that are in view while no notice is."""
        event.stop()
        self.announcer.hold(event.source, event.words)

    @on(NoticeOver)
    def withdraw_notice(self, event: NoticeOver) -> None:
        """It gives way to the next."""
        event.stop()
        self.announcer.withdraw(event.words)

    def action_notices(self) -> None:
        """All notices of the session."""
        from flowcabal_tui.tui.app.notices_screen import NoticesScreen  # not needed for the first frame

        if not isinstance(self.screen, NoticesScreen):
            self.push_screen(NoticesScreen(tuple(self.announcer.notices.listed)))

    def on_resize(self, event: Resize) -> None:
        """Too small: a notice over everything, gone when there is room again."""
        self._notice_size(event.size)
        self.call_after_refresh(self.announcer.resized)

    def _notice_size(self, size: Size) -> None:
        shown = isinstance(self.screen, TooSmallScreen)
        if is_too_small(size) and not shown:
            self.push_screen(TooSmallScreen())
        elif shown and not is_too_small(size):
            self.pop_screen()
