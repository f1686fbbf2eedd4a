"""The terminal application: start, keys, themes, errors, quitting.

Nothing heavy is loaded before the first frame: no project, no HTTP, no pydantic.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.events import Event, Key, Paste, Resize
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen, Screen
from textual.theme import Theme
from textual.widgets import Static

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.garbage import end_loading
from flowcabal_tui.locale import _, use_language
from flowcabal_tui.settings.paths import config_folder
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.announcer import Announcer
from flowcabal_tui.tui.app.command_runner import CommandRunner
from flowcabal_tui.tui.app.crash import last_words, write_report
from flowcabal_tui.tui.app.departure import Departure
from flowcabal_tui.tui.app.driver import PatientDriver
from flowcabal_tui.tui.app.entry import ModelProposal, ProjectAccess
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.app.key_order import KeyOrder
from flowcabal_tui.tui.app.opening import OpeningScreen
from flowcabal_tui.tui.app.projects import ProjectOpener
from flowcabal_tui.tui.app.settings.preferences import Preferences
from flowcabal_tui.tui.app.signals import listen
from flowcabal_tui.tui.app.theme_choice import ThemeChoice, role_defaults
from flowcabal_tui.tui.shared.actions import bindings, shown_key
from flowcabal_tui.tui.shared.notices import GoesOn, NoticeOver
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.trouble import Trouble, attempt
from flowcabal_tui.tui.widgets.clipboard import CopyText, copy
from flowcabal_tui.tui.widgets.help import HelpScreen

if TYPE_CHECKING:
    from flowcabal_tui.tui.app.first_run import FirstRunScreen
    from flowcabal_tui.tui.app.guide import Guide
    from flowcabal_tui.tui.app.home import HomeScreen
    from flowcabal_tui.tui.widgets.diff_view import DiffView
    from flowcabal_tui.tui.widgets.stream_view import StreamView
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen


SMALLEST: Final = Size(60, 16)


def is_too_small(size: Size) -> bool:
    """True when the terminal is smaller than the smallest size in which the panes fit."""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


class TooSmallScreen(ModalScreen[None]):
    """Shows the size that the terminal needs; closes by itself."""

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


class FlowCabalApp(App[int]):
    """Home, the wizard and one workspace at a time."""

    TITLE = "FlowCabal"
    # Textual declares these two as variables of the instance, so they cannot be ClassVar here.
    CSS_PATH = ["styles/base.tcss", "styles/workspace.tcss", "styles/writing.tcss"]  # noqa: RUF012  # see above
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (132, "-roomy")]  # noqa: RUF012  # see above
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(
        self,
        access: ProjectAccess,
        settings: ScreenSettings,
        *,
        path: Path | None = None,
        proposals: tuple[ModelProposal, ...] = (),
        state_folder: Path,
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        """`path` is a project to open at once; `state_folder` takes reports of crashes."""
        self.screen_language = use_language(settings.language or None)
        super().__init__(driver_class=PatientDriver, ansi_color=True if "NO_COLOR" in os.environ else None)
        self.looks = ThemeChoice(self, config_folder() / "themes")
        self.looks.first(settings.theme)
        self.departure = Departure(self)
        self.announcer = Announcer(self, clock)
        self._access, self._settings, self._first_path = access, settings, path
        self._state_folder, self._now = state_folder, clock
        self.crash_words = ""
        self._kept_theme = settings.theme
        self.guide: Guide | None = None
        self.preferences = Preferences(self, settings, self._show_language)
        self.front = ProjectOpener(self, access, settings, proposals, clock)
        self._keys = KeyOrder(self, super().on_event)
        self.commands = CommandRunner(self, self.preferences.own_keys)

    async def on_event(self, event: Event) -> None:
        """Keys and pastes of the terminal go one by one."""
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            self.commands.give_up()
            if not self._is_too_early(event):
                await self._keys.take(event)
        else:
            await super().on_event(event)

    def _is_too_early(self, event: Key | Paste) -> bool:
        """Was it typed while the book on the screen was being opened? Keys of the app, such as quit, always count."""
        if isinstance(event, Key) and event.key in self._bindings.key_to_bindings:
            return False
        return getattr(self.screen, "is_opening", False) or event.time < getattr(self.screen, "opened_at", 0.0)

    def get_default_screen(self) -> Screen[Any]:
        """The first frame: the shell of the project that was named, or home."""
        if self._first_path:
            return OpeningScreen(self._first_path.name)
        from flowcabal_tui.tui.app.home import HomeScreen  # not needed where a project is opened

        return HomeScreen(self._access.recents(), self._access.books, self._now)

    def on_mount(self) -> None:
        """Sets colours and keys before the first frame; everything for the panes follows it."""
        for follower in (self.announcer, self.commands):
            self.screen_change_signal.subscribe(self, follower.screen_changed)
        self.preferences.set_keymap()
        if not self.is_headless:
            listen(self.departure.terminate, self.departure.hang_up)
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        """The project is opened, or the wizard asked, behind a screen that is painted already."""
        if not self.is_running:  # who quits at once is let go
            return
        if self._first_path is not None:
            self.front.open_project(self._first_path)
        else:
            end_loading()
            if not self._settings.wizard_done:
                self.front.show_wizard()
        self.preferences.watch()
        self.looks.watch()
        self.theme_changed_signal.subscribe(self, self._remember_theme)

    def _remember_theme(self, theme: Theme) -> None:
        """A theme that was chosen is there at the next start; one that the wizard only shows is not."""
        if not self.front.wizard_runs and theme.name != self._kept_theme:
            self._kept_theme = theme.name
            self._access.remember(self.screen_language, theme.name)

    # The screen at the bottom, and notices

    def put_base(self, screen: Screen[Any]) -> None:
        """Replaces every screen but the first, which Textual cannot switch, by this one."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)
        self.call_after_refresh(lambda: self._notice_size(self.size))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of roles for a theme that has none."""
        return role_defaults()

    def use_screen_language(self, code: str) -> None:
        """Sets the language of all text made from here on."""
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
        """Removes the notice in favour of the next."""
        event.stop()
        self.announcer.withdraw(event.words)

    def action_notices(self) -> None:
        """All notices of the session."""
        from flowcabal_tui.tui.app.notices_screen import NoticesScreen  # not needed for the first frame

        if not isinstance(self.screen, NoticesScreen):
            self.push_screen(NoticesScreen(tuple(self.announcer.notices.listed)))

    def action_conversation(self) -> None:
        """Opens the conversation with the book over the screen on top, or closes it."""
        if (workspace := self.departure.workspace) is not None and not workspace.is_opening:
            workspace.talk.toggle()

    def on_resize(self, event: Resize) -> None:
        """Too small: a notice over everything, gone when there is space again."""
        self._notice_size(event.size)
        self.call_after_refresh(self.announcer.resized)

    def _notice_size(self, size: Size) -> None:
        shown = isinstance(self.screen, TooSmallScreen)
        if is_too_small(size) and not shown:
            self.push_screen(TooSmallScreen())
        elif shown and not is_too_small(size):
            self.pop_screen()

    # Projects

    def on_home_screen_open_wanted(self, event: HomeScreen.OpenWanted) -> None:
        """A project of the list."""
        self.front.open_project(event.path)

    def on_home_screen_forget_wanted(self, event: HomeScreen.ForgetWanted) -> None:
        """A project leaves the list; its folder stays."""
        self.front.forget(event.recent)

    def on_home_screen_wanted(self, event: HomeScreen.Wanted) -> None:
        """A new project, the sample, a folder or the wizard."""
        self.front.go(event.what)

    def on_first_run_screen_theme_tried(self, event: FirstRunScreen.ThemeTried) -> None:
        """A theme is seen while the cursor is on it."""
        self.looks.use(event.name)

    def on_first_run_screen_finished(self, event: FirstRunScreen.Finished) -> None:
        """Stores the choices, then opens the start that the writer chose."""
        self.front.end_wizard(event.settings, event.model, event.start)

    # Actions

    def action_help(self) -> None:
        """Shows the help of the focused widget and its containers."""
        chain = list((self.focused or self.screen).ancestors_with_self)
        display = [
            (active.node, active.binding, shown_key(active.binding.key))
            for active in self.screen.active_bindings.values()
        ]
        self.push_screen(HelpScreen.of_focus(chain, display))

    def action_command_palette(self) -> None:
        """Every command, by its name."""
        self.commands.ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The leader key works in an open book, and is a comma where one types."""
        if action != "leader":
            return True
        types = self.focused is not None and self.focused.check_consume_key("comma", ",")
        return self.departure.workspace is not None and not types and not getattr(self.screen, "is_opening", False)

    def action_leader(self) -> None:
        """One letter more runs a command."""
        self.commands.lead()

    def action_guide(self) -> None:
        """Shows the guide's first ten minutes beside the screen, or leaves them."""
        if self.guide is None:
            from flowcabal_tui.tui.app.guide import Guide  # not needed for the first frame
            from flowcabal_tui.tui.app.tour import BookState

            def seen() -> BookState | None:
                workspace = self.departure.workspace
                return BookState.of(workspace) if workspace is not None else None

            self.guide = Guide(self, seen)
            self.screen_change_signal.subscribe(self, self.guide.screen_changed)
        self.guide.toggle(self.screen_language)

    def action_settings(self) -> None:
        """What the user and the open book have set."""
        self.preferences.show()

    def action_jump(self) -> None:
        """Letters over the panes."""
        from flowcabal_tui.tui.widgets.jump import JumpOverlay

        self.push_screen(JumpOverlay(self.screen))

    def action_language(self) -> None:
        """The other language, at once and for the next start."""
        code = "en" if self.screen_language.startswith("zh") else "zh_CN"
        self._access.remember(code, self.theme)
        self._show_language(code)

    def _show_language(self, code: str) -> None:
        self.use_screen_language(code)
        workspace = self.departure.workspace
        if workspace is not None:
            attempt(workspace, self._same_workspace(workspace))
        else:
            self.front.show_home()

    async def _same_workspace(self, workspace: WorkspaceScreen) -> None:
        await workspace.save_drafts()
        workspace.stop_intake()
        self.front.show_workspace(workspace.again())

    def on_stream_view_copy_requested(self, event: StreamView.CopyRequested) -> None:
        """Text of a pane or dialog."""
        self._copy(event.content)

    def on_diff_view_copy_requested(self, event: DiffView.CopyRequested) -> None:
        """The new text of a difference."""
        self._copy(event.content)

    def on_copy_text(self, event: CopyText) -> None:
        """What a dialog made for the clipboard."""
        self._copy(event.content)

    def _copy(self, text: str) -> None:
        self.notify(copy(self, text, self._state_folder).words, markup=False)

    @on(Request)
    def carry_out(self, request: Request) -> None:
        """A screen that lies over the workspace asks for something."""
        if (workspace := self.departure.workspace) is not None:
            workspace.carry_out(request)

    # Ends

    async def action_quit(self) -> None:
        """Asks when runs are active, then leaves."""
        attempt(self.screen_stack[0], self._ask_and(self.departure.leave, 0), group="leave", exclusive=True)

    def action_close_project(self) -> None:
        """Asks when runs are active, then shows the first page."""
        attempt(self.screen_stack[0], self._ask_and(self._go_home), group="leave", exclusive=True)

    def on_workspace_screen_not_opened(self, event: WorkspaceScreen.NotOpened) -> None:
        """The start page, with the reason."""
        attempt(self.screen_stack[0], self._go_home(event.error), group="leave", exclusive=True)

    async def _go_home(self, error: FlowCabalError | None = None) -> None:
        await self.departure.close_project()
        self.front.show_home()
        if error is not None:
            self.post_message(Trouble(error))

    async def _ask_and(self, leave: Callable[..., Awaitable[None]], *values: int) -> None:
        workspace = self.departure.workspace
        if workspace is not None and not await self._may_leave(workspace):
            return
        await leave(*values)

    async def _may_leave(self, workspace: WorkspaceScreen) -> bool:
        """Asks when runs would be stopped or text is unsaved."""
        title, words = "", []
        if names := await workspace.book.unsaved_names():
            title = _("Quit with unsaved text?")
            kept = _("The text is kept, and is shown as unsaved when you open the project again.")
            words.append(f"{names} {kept}")
        if workspace.active_runs:
            title = _("{n} running: stop and quit?").format(n=workspace.active_runs)
            words.append(
                _(
                    "Runs live in this program and end with it. Text that has arrived is kept, and the next "
                    "start offers to continue."
                )
            )
        if not words:
            return True
        from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

        agreed: bool = await self.push_screen_wait(ConfirmScreen(title, "\n".join(words)))
        return agreed

    @on(Trouble)
    def show_trouble(self, event: Trouble) -> None:
        """An error of a worker is shown; one that nobody foresaw is also written down."""
        event.stop()
        error = event.error
        if not isinstance(error, FlowCabalError):
            report = write_report(self._state_folder, error, self._now())
            advice = _("You can continue. Report: {where}").format(where=report or "-")
            error = FlowCabalError(_("Something went wrong in the program"), type(error).__name__, advice)
        self.push_screen(ErrorScreen.of(error))

    def _fatal_error(self) -> None:
        """Textual's own shows the values of local variables: the book, and perhaps keys. Ours shows three lines."""
        if not self.crash_words:  # Textual comes here again while it closes
            report = write_report(self._state_folder, self._exception or RuntimeError("unknown"), self._now())
            self.crash_words = last_words(report)
        self._close_messages_no_wait()


def run_app(
    access: ProjectAccess,
    settings: ScreenSettings,
    *,
    path: Path | None = None,
    proposals: tuple[ModelProposal, ...] = (),
    state_folder: Path,
) -> int:
    """Runs the screen until the writer leaves; gives the exit code (143 after SIGTERM, 129 after a hang-up)."""
    app = FlowCabalApp(access, settings, path=path, proposals=proposals, state_folder=state_folder)
    app.run()
    asyncio.run(app.departure.finish())
    if app.crash_words:
        sys.stderr.write(app.crash_words + "\n")
        return 70
    return app.return_code or 0
