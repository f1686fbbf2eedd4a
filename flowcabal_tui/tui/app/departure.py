"""Shutdown: stops the intake, saves drafts, closes the project, and only then the screen."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from textual.app import App

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.tui.app.signals import HUNG_UP, TERMINATED, let_go_of_terminal

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen

CLOSING_SECONDS: Final = 5.0


@runtime_checkable
class _Lingering(Protocol):
    """A project that can outlive the screen."""

    async def linger(self) -> None:
        """Returns when no run is active, or only questions are left."""


class Departure:
    """Ends the app in order, exactly once, for any reason.

    `project` and `workspace` are the open project and its screen. After a hang-up, `hung_up` is true and the project
    is still open: the screen is gone, runs continue, and `finish` closes it.
    """

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self.project: Project | None = None
        self.workspace: WorkspaceScreen | None = None
        self.hung_up = False
        self._leaving: asyncio.Task[None] | None = None

    async def leave(self, code: int) -> None:
        """Closes the project and ends the app with an exit code."""
        await self.close_project()
        self._app.exit(code, return_code=code)

    async def close_project(self) -> None:
        """Saves drafts and closes, in at most five seconds."""
        project = self.project
        await self._save_drafts()
        self.project = self.workspace = None
        if project is not None:
            with suppress(TimeoutError, FlowCabalError):
                async with asyncio.timeout(CLOSING_SECONDS):
                    await project.close()

    async def _save_drafts(self) -> None:
        if self.workspace is None:
            return
        self.workspace.stop_intake()
        with suppress(TimeoutError, FlowCabalError):
            async with asyncio.timeout(CLOSING_SECONDS):
                await self.workspace.save_drafts()

    def terminate(self) -> None:
        """Handles SIGTERM: ends at once and cleanly."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self.leave(TERMINATED))

    def hang_up(self) -> None:
        """Handles SIGHUP: the terminal is gone, so the screen ends; runs continue."""
        self.hung_up = True
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave_screen())

    async def _leave_screen(self) -> None:
        await self._save_drafts()
        self._app.exit(HUNG_UP, return_code=HUNG_UP)

    async def finish(self) -> None:
        """Closes the project after the screen; after a hang-up, first lets active runs reach their end or their
        questions."""
        if self.hung_up:
            let_go_of_terminal()
        if self.project is not None:
            with suppress(FlowCabalError):
                if self.hung_up and isinstance(self.project, _Lingering):
                    await self.project.linger()
                await self.project.close()
