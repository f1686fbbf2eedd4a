"""`open` and `demo`: start the screen. The screen is imported last, and a project only when one is opened."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.errors import FlowCabalError, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, use_language
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.paths import PROJECT_FILE

if TYPE_CHECKING:
    from flowcabal_tui.models.discover import DiscoveredModels
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.settings.screen import ScreenSettings
    from flowcabal_tui.settings.user_file import UserSettings
    from flowcabal_tui.tui.app.entry import ModelProposal, Recent
    from flowcabal_tui.tui.models.model_form import ModelChoice
    from flowcabal_tui.tui.shared.known_books import KnownBooks

T = TypeVar("T")


def show(arguments: Namespace) -> int:
    """Opens the screen and returns its exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise FlowCabalError(
            _("This is not a terminal, so the screen cannot open."),
            "",
            _("Use `flowcabal-tui run PROJECT WORKFLOW --json`, or see `flowcabal-tui --help`."),
        )
    folder: Path | None = arguments.project
    if arguments.command == "demo":
        language = arguments.language or arguments.lang
        say(_("Preparing the sample novel ..."), file=sys.stderr)
        folder = asyncio.run(demo_project(arguments.project, language, fresh=arguments.fresh))
    elif folder is None and (Path.cwd() / PROJECT_FILE).exists():
        folder = Path.cwd()
    return _screen(folder, arguments.lang, read_only=getattr(arguments, "read_only", False))


def _screen(folder: Path | None, language: str | None, *, read_only: bool) -> int:
    from flowcabal_tui.domain.garbage import begin_loading

    begin_loading()
    from flowcabal_tui.settings.screen import load_screen
    from flowcabal_tui.tui.app.app import FlowCabalApp, run_app
    from flowcabal_tui.tui.app.entry import ProjectAccess

    user = load_screen() or _load_user()
    first_run = not user.wizard_done and folder is None
    models = _FoundModels(asyncio.run(_discover()) if first_run else ())
    access = ProjectAccess(
        opener=lambda path, only_read: _open(path, read_only=only_read or read_only),
        create=_create,
        demo=lambda code: demo_project(None, code, fresh=False),
        recents=_recents,
        settle=models.settle,
        remember=_save,
        books=_known_books(),
    )
    settings = replace(user, language=language or user.language)
    found, state_folder = models.proposals, paths.state_folder()
    return run_app(FlowCabalApp(access, settings, path=folder, proposals=found, state_folder=state_folder))


async def _discover() -> tuple[DiscoveredModels, ...]:
    from flowcabal_tui.models.discover import discover

    return await discover(os.environ)


async def _open(path: Path, read_only: bool) -> Project:
    from flowcabal_tui.project import Project
    from flowcabal_tui.settings.recent import remember_project

    project = await Project.open(path, read_only=read_only, begin=False)  # the workspace is painted first
    if not read_only:
        remember_project(path)
    return project


async def _create(folder: Path, name: str, language: str) -> Path:
    """Creates a new project with the models that the wizard chose."""
    from flowcabal_tui.project import create_project

    return await create_project(folder, name=name, language=language, models=_load_user().models)


class _FoundModels:
    """The models found on this machine, for the wizard and as settings."""

    def __init__(self, found: tuple[DiscoveredModels, ...]) -> None:
        self._found = {_shown(item): item.endpoint for item in found}

    @property
    def proposals(self) -> tuple[ModelProposal, ...]:
        return tuple(self._found)

    def settle(self, settings: ScreenSettings, model: ModelProposal | ModelChoice | None) -> None:
        """Keeps the wizard's choices; a chosen model becomes that of new projects, its key goes into the secrets."""
        from flowcabal_tui.settings.key_hosts import keep_model_key
        from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
        from flowcabal_tui.tui.models.model_form import ModelChoice

        if isinstance(model, ModelChoice):
            chosen = _written(lambda: keep_model_key(model.endpoint, model.key)) if model.key else model.endpoint
        else:
            chosen = self._found[model] if model else OFFLINE
        _save(settings.language, settings.theme, models=ModelsSettings(user=chosen, agent=chosen))


def _shown(found: DiscoveredModels) -> ModelProposal:
    from flowcabal_tui.models.registry import sent_address
    from flowcabal_tui.tui.app.entry import ModelProposal

    return ModelProposal(found.name, f"{found.endpoint.model} @ {sent_address(found.endpoint)}")


def _load_user() -> UserSettings:
    from flowcabal_tui.settings.user_file import load_user

    return load_user()


def _save(language: str, theme: str, **others: Any) -> None:
    """Also records that the first steps were done or skipped, so that they are not shown again."""
    from flowcabal_tui.settings.user_file import change_user

    _written(
        lambda: change_user(lambda user: replace(user, language=language, theme=theme, wizard_done=True, **others))
    )


def _written(write: Callable[[], T]) -> T:
    """Raises SettingsError where a file of the user cannot be written."""
    try:
        return write()
    except OSError as error:
        raise SettingsError(_("The settings could not be saved."), os_reason(error)) from error


async def demo_project(folder: Path | None, language: str | None, *, fresh: bool) -> Path:
    """The demo's folder, created if it is missing; with `fresh`, created again. Raises FlowCabalError."""
    from flowcabal_tui.project import create_demo

    code = "zh" if (language or use_language(None)).startswith("zh") else "en"
    target = (folder or paths.data_folder() / f"demo-{code}").expanduser().resolve()
    if fresh and (target / PROJECT_FILE).exists():
        _remove_demo(target)
    if not (target / PROJECT_FILE).exists():
        await create_demo(target, code)
    return target


def _remove_demo(target: Path) -> None:
    """Moves an old demo aside: a writer may have written in it."""
    aside = target.with_name(f"{target.name}.{datetime.now():%Y%m%d-%H%M%S}")
    shutil.move(target, aside)


def _recents() -> tuple[Recent, ...]:
    from flowcabal_tui.settings.recent import recent_projects

    return tuple(_recent(path) for path in recent_projects())


def _recent(path: Path) -> Recent:
    """A row for a recent book, from its summary; its folder is read only if there is no summary."""
    from flowcabal_tui.settings.book_summary import book_name, read_summary
    from flowcabal_tui.tui.app.entry import Recent

    summary = read_summary(path)
    if summary is not None:
        with suppress(ValueError):
            return Recent(summary.name, path, datetime.fromisoformat(summary.seen_at), summary)
    try:
        return Recent(book_name(path) or path.name, path)
    except (OSError, ValueError, RecursionError):
        return Recent(path.name, path)


def _known_books() -> KnownBooks:
    from flowcabal_tui.settings.book_summary import book_state, keep_summary, read_summary
    from flowcabal_tui.tui.shared.known_books import KnownBooks

    return KnownBooks(read_summary, keep_summary, book_state, _forget)


def _forget(folder: Path) -> None:
    from flowcabal_tui.settings.recent import forget_project

    forget_project(folder)
