"""The command line as a user calls it, in this process, and a model server in a thread of its own."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui import locale
from flowcabal_tui.cli import main
from flowcabal_tui.cli.argparse_words import Parser
from flowcabal_tui.cli.parser import parser
from flowcabal_tui.models.offline import OfflineModel
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import make_one, settled_demo
from tests.trusting import confirmed
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Called:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The lines of `--json`."""
        return [json.loads(line) for line in self.out.splitlines()]

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]


Call = Callable[..., Called]
Make = Callable[..., Path]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls a command with words and, perhaps, lines on standard input."""

    def call(*words: object, lines: str = "") -> Called:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return Called(code, out, err)

    return call


@pytest.fixture
def project(tmp_path: Path) -> Make:
    """Makes a project with these models and an empty chapter."""

    def project(models: ModelsSettings | None = None) -> Path:
        return asyncio.run(make_one(tmp_path / "novel", models))

    return project


@cache
def _parser_in(language: str, keys: str) -> Parser:
    return parser()


@pytest.fixture(autouse=True)
def _builds_the_parser_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program builds it once, for its one command."""

    def once() -> Parser:
        return _parser_in(locale.language_in_use(), repr(locale._named_keys))

    monkeypatch.setattr("flowcabal_tui.cli.parser.parser", once)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The offline model types at once."""
    monkeypatch.setattr("flowcabal_tui.models.offline.OfflineModel", partial(OfflineModel, pace=0.0))


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return settled_demo(tmp_path_factory.mktemp("sample") / "demo", "en")


@pytest.fixture
def demo(sample: Path, tmp_path: Path) -> Path:
    """The demo, its memory complete."""
    return confirmed(shutil.copytree(sample, tmp_path / "demo"))


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """The fault server on a loop that runs beside the command."""
    loop, server = asyncio.new_event_loop(), FaultServer()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(PATIENCE)
    yield server
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(PATIENCE)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(PATIENCE)
    loop.close()
