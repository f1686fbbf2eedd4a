"""Projects to measure with, and the child processes that work on them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.providers import Provider
from flowcabal_tui.project import create_project
from flowcabal_tui.settings.project_file import ModelsSettings, ProjectSettings, load_project, save_project
from tests.bench.report import given
from tests.trusting import confirmed

FOLDERS: Final = ("CONFIG", "STATE", "CACHE", "DATA")
TITLE: Final = "红楼梦"


def novel() -> Path:
    """The Chinese novel that is measured with. Raises Missing."""
    return given("FLOWCABAL_BENCH_NOVEL", "a long Chinese novel")


def openviking() -> Path:
    """The knowledge server's command. Raises Missing."""
    return given("FLOWCABAL_OPENVIKING_SERVER", "openviking-server")


@contextmanager
def own_folders() -> Iterator[Path]:
    """A temporary folder in which all that the program writes goes, also in child processes."""
    folder = Path(tempfile.mkdtemp(prefix="flowcabal-bench-"))
    before = {name: os.environ.get(f"FLOWCABAL_{name}_DIR") for name in FOLDERS}
    os.environ.update({f"FLOWCABAL_{name}_DIR": str(folder / name.lower()) for name in FOLDERS})
    try:
        yield folder
    finally:
        for name, value in before.items():
            os.environ.pop(f"FLOWCABAL_{name}_DIR")
            if value is not None:
                os.environ[f"FLOWCABAL_{name}_DIR"] = value
        shutil.rmtree(folder, ignore_errors=True)


def model_at(url: str, provider: Provider, name: str = "mock", concurrency: int = 4) -> Endpoint:
    """A model of a server on this machine."""
    base = f"{url}/v1" if provider == "openai" else url
    return Endpoint(provider=provider, model=name, base_url=base, concurrency=concurrency)


def hosted_at(url: str, name: str = "mock") -> Endpoint:
    """The same, asked for structured answers as a provider elsewhere is: by tools."""
    return model_at(url, "openai", name).model_copy(update={"structured": "tool"})


def new_project(folder: Path, user: Endpoint, agent: Endpoint, **tables: Any) -> ProjectSettings:
    """A project for the Chinese novel; `tables` replace those of its settings."""
    models = ModelsSettings(user=user, agent=agent)
    asyncio.run(create_project(folder, name=TITLE, language="zh", models=models))
    settings = load_project(folder).model_copy(update=tables)
    save_project(folder, settings)
    confirmed(folder)
    return settings


class Child:
    """A scenario in a process of its own; its lines of JSON are read one by one."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "tests.bench.scenario", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says, until it ends. Raises RuntimeError when it ends badly."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)
        if self.process.wait():
            raise RuntimeError(f"the scenario ended with {self.process.returncode}")

    def until(self, phase: str, *, begins: bool) -> dict[str, Any]:
        """Reads on to the begin or end of a phase."""
        for line in self.lines():
            if line.get("phase") == phase and line.get("begins") is begins:
                return line
        raise RuntimeError(f"the scenario ended before {phase}")
