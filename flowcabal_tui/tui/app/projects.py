"""Opens projects: from the list, a new one, the sample, a folder; and runs the wizard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from flowcabal_tui.domain.errors import ProjectLocked
from flowcabal_tui.domain.garbage import end_loading
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, language_in_use, use_language
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.entry import ModelProposal, ProjectAccess, Recent
from flowcabal_tui.tui.app.opening import OpeningScreen
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.typed_path import PathSuggester, typed_path

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.app.departure import Departure
    from flowcabal_tui.tui.app.new_project import NewProject
    from flowcabal_tui.tui.app.theme_choice import ThemeChoice
    from flowcabal_tui.tui.models.model_form import ModelChoice
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen


class ProjectOpener:
    """Opens projects from the start page. `wizard_runs` while themes are only previewed.

    `put_base` replaces every screen.
    """

    def __init__(
        self,
        app: App[int],
        put_base: Callable[[Screen[Any]], None],
        departure: Departure,
        looks: ThemeChoice,
        access: ProjectAccess,
        settings: ScreenSettings,
        proposals: tuple[ModelProposal, ...],
        now: Callable[[], datetime],
    ) -> None:
        self._app, self._put_base, self._departure, self._looks = app, put_base, departure, looks
        self._access, self._settings, self._proposals, self._now = access, settings, proposals, now
        self.wizard_runs = False

    def show_home(self) -> None:
        """Shows the start page with the current list of recent books."""
        from flowcabal_tui.tui.app.home import HomeScreen  # not needed where a project is opened

        self._put_base(HomeScreen(self._access.recents(), self._access.books, self._now))

    def forget(self, recent: Recent) -> None:
        """Removes a project from the list of the start page."""
        from flowcabal_tui.tui.app.home import HomeScreen

        try:
            self._access.books.forget(recent.path)
        except OSError as error:
            self._app.notify(os_reason(error), severity="error")
            return
        if isinstance(self._app.screen, HomeScreen):
            self._app.screen.show_recents(self._access.recents())
        self._app.notify(_("{name} is no longer listed. Its folder is untouched.").format(name=recent.name))

    def show_workspace(self, workspace: WorkspaceScreen) -> None:
        """Shows a project's workspace."""
        self._departure.workspace = workspace
        self._put_base(workspace)

    def open_project(self, folder: Path, *, manuscript: Path | None = None) -> None:
        """Opens a project and shows its workspace; `manuscript` is imported into it."""
        if not isinstance(self._app.screen, OpeningScreen):
            self._put_base(OpeningScreen(folder.name))
        self._work(self._open(folder, manuscript), group="open", exclusive=True)

    def _work(self, work: Coroutine[Any, Any, None], *, group: str = "project", exclusive: bool = False) -> None:
        """Runs it on the first screen, which is never replaced: the workers of a screen end with it."""
        attempt(self._app.screen_stack[0], work, group=group, exclusive=exclusive)

    async def _open(self, folder: Path, manuscript: Path | None) -> None:
        try:
            project = await self._opened(folder)
            if project is None:
                self.show_home()
                return
            from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen

            books, editor = self._access.books, self._settings.editor
            self.show_workspace(WorkspaceScreen(project, self._now, editor, manuscript, books))
        except Exception:  # whatever it was, the writer is not left before a shell that opens nothing
            self.show_home()
            raise
        finally:
            self._app.call_after_refresh(end_loading)

    async def _opened(self, folder: Path) -> Project | None:
        """The project, read-only if another has it and the writer agrees; None if not."""
        try:
            self._departure.project = await self._access.opener(folder, False)
        except ProjectLocked as error:
            if not await self._agreed_to_read(error):
                return None
            self._departure.project = await self._access.opener(folder, True)
        return self._departure.project

    async def _agreed_to_read(self, error: ProjectLocked) -> bool:
        from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

        offer = _("Open it read-only? You cannot change anything then.")
        words = "\n".join(part for part in (error.detail, error.advice, offer) if part)
        return await self._app.push_screen_wait(ConfirmScreen(error.title, words))

    def go(self, where: str) -> None:
        """Starts the choice of the start page: "new", "import", "demo", "open" or "wizard"."""
        match where:
            case "new" | "import":
                self._ask_new_project(manuscript=where == "import")
            case "demo":
                self._work(self._open_demo())
            case "open":
                self._work(self._open_folder())
            case _:
                self.show_wizard()

    def _ask_new_project(self, *, manuscript: bool) -> None:
        from flowcabal_tui.tui.app.new_project import NewProjectScreen

        def made(form: NewProject | None) -> None:
            if form is not None:
                self._work(self._create(form))

        self._app.push_screen(NewProjectScreen(Path.cwd(), language_in_use(), manuscript=manuscript), made)

    async def _create(self, form: NewProject) -> None:
        making = self._access.create(form.folder, form.name, form.language)
        await self._open_made(form.name, making, form.manuscript)

    async def _open_demo(self) -> None:
        language = "zh" if language_in_use().startswith("zh") else "en"
        await self._open_made(_("the sample novel"), self._access.demo(language))

    async def _open_made(self, name: str, making: Awaitable[Path], manuscript: Path | None = None) -> None:
        self._put_base(OpeningScreen(name))
        try:
            folder = await making
        except Exception:  # whatever it was, the writer is not left before a shell that opens nothing
            self.show_home()
            raise
        self.open_project(folder, manuscript=manuscript)

    async def _open_folder(self) -> None:
        from flowcabal_tui.tui.widgets.prompt_line import PromptLine

        typed = await self._app.push_screen_wait(
            PromptLine(_("Folder of the project"), value=f"{Path.cwd()}", suggester=PathSuggester())
        )
        if typed:
            self.open_project(typed_path(typed))

    def show_wizard(self) -> None:
        """Shows the wizard."""
        from flowcabal_tui.tui.app.first_run import FirstRunScreen

        self.wizard_runs = True
        names = self._looks.load()
        shown = replace(self._settings, language=language_in_use(), theme=self._app.theme)
        self._put_base(FirstRunScreen(self._proposals, names, shown))

    def end_wizard(
        self, settings: ScreenSettings | None, model: ModelProposal | ModelChoice | None, start: str
    ) -> None:
        """Stores the choices (None: nothing was chosen), then opens the start that the writer chose."""
        self.wizard_runs = False
        if settings is not None:
            use_language(settings.language or None)
            self._access.settle(settings, model)
        else:
            use_language(self._settings.language or None)
            self._looks.use(self._settings.theme)
            self._access.remember(language_in_use(), self._app.theme)
        self.show_home()
        if start:
            self._app.call_after_refresh(self.go, start)
