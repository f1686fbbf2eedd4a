"""A server that fails as told, and a folder for a project."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.faultserver import FaultServer
from tests.project.case import settled_demo


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "novel"


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A demo in each language."""
    root = tmp_path_factory.mktemp("demos")
    return {language: settled_demo(root / language, language) for language in ("en", "zh")}
