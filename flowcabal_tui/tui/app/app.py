"""The terminal application: start, keys, themes, errors, quitting.

No heavy module is imported before the first frame: no project, no HTTP, no pydantic.
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
from flowcabal_tui.locale import _, language_in_use, ngettext, use_language
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
from flowcabal_tui.tui.widgets.help import HelpScreen, help_sections

if TYPE_CHECKING:
    from flowcabal_tui.tui.app.first_run import FirstRunScreen
    from flowcabal_tui.tui.app.guide import Guide
    from flowcabal_tui.tui.app.home import HomeScreen
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen


SMALLEST: Final = Size(60, 16)


def is_too_small(size: Size) -> bool:
    """True when the terminal is smaller than the smallest size in which the panes fit."""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


class TooSmallScreen(ModalScreen[None]):
    """Shows the required size of the terminal; closes by itself."""

    HIDES_NOTICES: ClassVar[bool] = True
    DEFAULT_CSS = """
    TooSmallScreen { align: center middle; background: $background; }
    TooSmallScreen Static { width: auto; }
    """

    def compose(self) -> ComposeResult:
        """Yields two lines."""
        yield Static(
            _("This terminal is too small.\nAt least {width} x {height} characters are needed.").format(
                width=SMALLEST.width, height=SMALLEST.height
            ),
            markup=False,
        )


class FlowCabalApp(App[int]):
    """The app with the start page, the wizard, and one workspace at a time."""

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
        """`path` is a project to open at once; crash reports are written to `state_folder`."""
        use_language(settings.language or None)
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
        self.preferences = Preferences(self, self.departure, self.looks, settings, self._show_language)
        self.front = ProjectOpener(self, self._put_base, self.departure, self.looks, access, settings, proposals, clock)
        self.commands = CommandRunner(self, self.departure, self.preferences.own_keys)
        self._keys = KeyOrder(self, super().on_event, self.commands.begun)

    async def on_event(self, event: Event) -> None:
        """Delivers keys and pastes of the terminal one by one."""
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            self.commands.give_up()
            if not self._is_too_early(event):
                await self._keys.take(event)
        else:
            await super().on_event(event)

    def _is_too_early(self, event: Key | Paste) -> bool:
        """True when the key was pressed while the displayed book was still opening.

        Keys of the app, such as quit, are never too early.
        """
        if isinstance(event, Key) and event.key in self._bindings.key_to_bindings:
            return False
        return getattr(self.screen, "is_opening", False) or event.time < getattr(self.screen, "opened_at", 0.0)

    def get_default_screen(self) -> Screen[Any]:
        """The first screen: the shell of the given project, or the start page."""
        if self._first_path:
            return OpeningScreen(self._first_path.name)
        from flowcabal_tui.tui.app.home import HomeScreen  # not needed where a project is opened

        return HomeScreen(self._access.recents(), self._access.books, self._now)

    def on_mount(self) -> None:
        """Sets colours and keys before the first frame; everything for the panes follows later."""
        for follower in (self.announcer, self.commands):
            self.screen_change_signal.subscribe(self, follower.screen_changed)
        self.preferences.set_keymap()
        if not self.is_headless:
            listen(self.departure.terminate, self.departure.hang_up)
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        """Opens the project or the wizard behind a screen that is painted already."""
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
        """Stores a chosen theme for the next start, but not one that the wizard only previews."""
        if not self.front.wizard_runs and theme.name != self._kept_theme:
            self._kept_theme = theme.name
            self._access.remember(language_in_use(), theme.name)

    # The screen at the bottom, and notices

    def _put_base(self, screen: Screen[Any]) -> None:
        """Replaces every screen but the first, which Textual cannot switch, by this one."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)
        self.call_after_refresh(lambda: self._notice_size(self.size))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of roles for a theme without its own."""
        return role_defaults()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Shows a notice in the row of notices: never as markup, and as long as it takes to read."""
        self.announcer.say(message, title, severity)

    @on(GoesOn)
    def show_what_goes_on(self, event: GoesOn) -> None:
        """Shows the current work in the row of notices while there is no notice."""
        event.stop()
        self.announcer.hold(event.source, event.words)

    @on(NoticeOver)
    def withdraw_notice(self, event: NoticeOver) -> None:
        """Removes a notice in favour of the next."""
        event.stop()
        self.announcer.withdraw(event.words)

    def action_notices(self) -> None:
        """Shows all notices of the session."""
        from flowcabal_tui.tui.app.notices_screen import NoticesScreen  # not needed for the first frame

        if not isinstance(self.screen, NoticesScreen):
            self.push_screen(NoticesScreen(tuple(self.announcer.notices.listed)))

    def action_conversation(self) -> None:
        """Opens the conversation with the book on top of the current screen, or closes it."""
        if (workspace := self.departure.workspace) is not None and not workspace.is_opening:
            workspace.controllers.talk.toggle()

    def on_resize(self, event: Resize) -> None:
        """Shows a message while the terminal is too small."""
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
        """Opens a project of the list."""
        self.front.open_project(event.path)

    def on_home_screen_forget_wanted(self, event: HomeScreen.ForgetWanted) -> None:
        """Removes a project from the list; its folder stays."""
        self.front.forget(event.recent)

    def on_home_screen_wanted(self, event: HomeScreen.Wanted) -> None:
        """Opens a new project, the sample, a folder or the wizard."""
        self.front.go(event.what)

    def on_first_run_screen_theme_tried(self, event: FirstRunScreen.ThemeTried) -> None:
        """Shows the theme under the cursor."""
        self.looks.use(event.name)

    def on_first_run_screen_finished(self, event: FirstRunScreen.Finished) -> None:
        """Stores the choices of the wizard, then opens the start that the writer chose."""
        self.front.end_wizard(event.settings, event.model, event.start)

    # Actions

    def action_help(self) -> None:
        """Shows the help of the focused widget and its containers."""
        chain = list((self.focused or self.screen).ancestors_with_self)
        display = [
            (active.node, active.binding, shown_key(active.binding.key))
            for active in self.screen.active_bindings.values()
        ]
        self.push_screen(HelpScreen(help_sections(chain, display)))

    def action_command_palette(self) -> None:
        """Shows the command palette."""
        self.commands.ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables the leader key in an open book; in text fields it is a comma."""
        if action != "leader":
            return True
        types = self.focused is not None and self.focused.check_consume_key("comma", ",")
        return self.departure.workspace is not None and not types and not getattr(self.screen, "is_opening", False)

    def action_leader(self) -> None:
        """Waits for a letter and runs its command."""
        self.commands.lead()

    def action_undo_change(self) -> None:
        """Asks which change of the whole book to undo."""
        self.commands.run("book.changes")

    def action_guide(self) -> None:
        """Opens the guide's first ten minutes beside the screen, or closes it."""
        if self.guide is None:
            from flowcabal_tui.tui.app.guide import Guide  # not needed for the first frame
            from flowcabal_tui.tui.app.tour import BookState

            def seen() -> BookState | None:
                workspace = self.departure.workspace
                return BookState.of(workspace) if workspace is not None else None

            self.guide = Guide(self, seen)
            self.screen_change_signal.subscribe(self, self.guide.screen_changed)
        self.guide.toggle(language_in_use())

    def search_themes(self) -> None:
        """Lists the themes, and applies the chosen one."""
        self.looks.choose()

    def action_save_picture(self) -> None:
        """Saves a picture of the screen."""
        self.looks.save_picture(self._state_folder, self._now())

    def action_settings(self) -> None:
        """Opens the settings of the user and of the open book."""
        self.preferences.show()

    def action_jump(self) -> None:
        """Shows letters over the panes to jump to."""
        from flowcabal_tui.tui.widgets.jump import JumpOverlay

        self.push_screen(JumpOverlay(self.screen))

    def action_language(self) -> None:
        """Switches the language, at once and for the next start."""
        code = "en" if language_in_use().startswith("zh") else "zh_CN"
        self._access.remember(code, self.theme)
        self._show_language(code)

    def _show_language(self, code: str) -> None:
        use_language(code)
        workspace = self.departure.workspace
        if workspace is not None:
            attempt(workspace, self._same_workspace(workspace))
        else:
            self.front.show_home()

    async def _same_workspace(self, workspace: WorkspaceScreen) -> None:
        await workspace.save_drafts()
        workspace.stop_intake()
        self.front.show_workspace(workspace.again())

    def on_copy_text(self, event: CopyText) -> None:
        """Copies text of a pane or dialog to the clipboard."""
        self.notify(copy(self, event.content, self._state_folder).words, markup=False)

    @on(Request)
    def carry_out(self, request: Request) -> None:
        """Carries out a request of a screen on top of the workspace."""
        if (workspace := self.departure.workspace) is not None:
            workspace.carry_out(request)

    # Ends

    def action_help_quit(self) -> None:
        """Answers Ctrl+C where nothing is selected that it could copy."""
        bound = (key for key, active in self.active_bindings.items() if active.binding.action in ("quit", "app.quit"))
        if key := next(bound, ""):
            words = _("`{key}` closes the program; Ctrl+C only copies selected text.")
            self.notify(words.format(key=shown_key(key)))

    async def action_quit(self) -> None:
        """Quits, after a question if runs are active."""
        attempt(self.screen_stack[0], self._ask_and(self.departure.leave, 0), group="leave", exclusive=True)

    def action_close_project(self) -> None:
        """Closes the project, after a question if runs are active, and shows the start page."""
        attempt(self.screen_stack[0], self._ask_and(self._go_home), group="leave", exclusive=True)

    def on_workspace_screen_not_opened(self, event: WorkspaceScreen.NotOpened) -> None:
        """Shows the start page, with the reason."""
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
            title = _("Leave with unsaved text?")
            kept = _("The text is kept, and is shown as unsaved when you open the project again.")
            words.append(f"{names} {kept}")
        if workspace.active_runs:
            runs = workspace.active_runs
            title = ngettext("Stop {n} run and leave?", "Stop {n} runs and leave?", runs).format(n=runs)
            words.append(
                _(
                    "A run stops when its book is closed. Text that has arrived is kept, and you can continue when you "
                    "open the book again."
                )
            )
        if not words:
            return True
        from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

        agreed: bool = await self.push_screen_wait(ConfirmScreen(title, "\n".join(words)))
        return agreed

    @on(Trouble)
    def show_trouble(self, event: Trouble) -> None:
        """Shows an error of a worker; an unexpected one is also written to a report."""
        event.stop()
        error = event.error
        if not isinstance(error, FlowCabalError):
            report = write_report(self._state_folder, error, self._now())
            advice = _("You can continue. Report: {where}").format(where=report or "-")
            error = FlowCabalError(_("Something went wrong in the program"), type(error).__name__, advice)
        self.push_screen(ErrorScreen(error))

    def _fatal_error(self) -> None:
        """Replaces Textual's report, which shows local variables (the book, perhaps keys), with three lines."""
        if not self.crash_words:  # Textual comes here again while it closes
            report = write_report(self._state_folder, self._exception or RuntimeError("unknown"), self._now())
            self.crash_words = last_words(report)
        self._close_messages_no_wait()


def run_app(app: FlowCabalApp) -> int:
    """Runs the screen until the writer leaves; returns the exit code (143 after SIGTERM, 129 after a hang-up)."""
    app.run()
    asyncio.run(app.departure.finish())
    if app.crash_words:
        sys.stderr.write(app.crash_words + "\n")
        return 70
    return app.return_code or 0
