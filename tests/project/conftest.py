"""A server that fails as told, and a folder for a project."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.viking.server import COMMAND_VARIABLE
from tests.faultserver import FaultServer
from tests.project.case import demos
from tests.viking.fakes import quick_server

__all__ = ["demos", "folder", "quick_knowledge", "server"]


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
