"""A server that fails as told, a folder for a project, and projects without a helper process."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.agents.checking.rules import kept
from flowcabal_tui.project import helper
from flowcabal_tui.project.helper import WorkLimits
from flowcabal_tui.project.workshop import USUAL, Arguments, T, Workshop
from flowcabal_tui.viking.server import COMMAND_VARIABLE
from tests.faultserver import FaultServer
from tests.project.case import demos
from tests.viking.fakes import quick_server

__all__ = ["demos", "folder", "quick_knowledge", "server", "work_here"]


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "novel"


@pytest.fixture
def quick_knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects with a knowledge server start the installed OpenViking without libraries that no test needs."""
    monkeypatch.setenv(COMMAND_VARIABLE, quick_server(tmp_path))


class WorkshopHere(Workshop):
    """Does the work in a thread. What goes in and out is pickled, as for a process; limits do not apply."""

    async def do(self, work: Callable[[*Arguments], T], *arguments: *Arguments, limits: WorkLimits = USUAL) -> T:
        async with self._turn:
            its, given = pickle.loads(pickle.dumps((work, arguments)))
            try:
                result: T = pickle.loads(pickle.dumps(await asyncio.to_thread(its, *given)))
            except Exception as error:  # as at the edge of the process
                raise pickle.loads(helper._pickled(error)) from None
            return result

    async def close(self) -> None:
        """Forgets what the rules have read, as the end of a process does."""
        async with self._turn:
            kept._read.clear()


@pytest.fixture
def work_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects that are opened start no helper process, for tests that are about something else."""
    monkeypatch.setattr("flowcabal_tui.project.base.Workshop", WorkshopHere)
