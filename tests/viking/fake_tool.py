"""Stands in for pip: makes a real environment, and puts a stand-in for OpenViking into it in one of several ways."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from flowcabal_tui.viking.install_tools import ToolName
from tests.viking.fake_wheels import START

Way = Literal["whole", "full", "unreachable", "waits", "broken"]
_FETCH: Final = """
import os, pathlib, sys, time
environment, cache, way, start = sys.argv[1:]
(pathlib.Path(cache) / "wheel").write_text("fetched")
print("Collecting openviking\\n  Downloading openviking-0.5.2.whl (30 MB)", flush=True)
if way == "full":
    with open("/dev/full", "w") as file:
        file.write("x" * 10**6)
if way == "unreachable":
    raise SystemExit("ERROR: Could not find a version of openviking at https://me:secret@index.example/simple")
if way == "waits":
    time.sleep(600)
site, = pathlib.Path(environment).glob("lib/python*/site-packages")
(site / "openviking-0.5.2.dist-info").mkdir()
(site / "openviking_cli").mkdir()
(site / "openviking_cli" / "server_bootstrap.py").write_text(start)
"""


@dataclass(frozen=True)
class FakeTool:
    """`way`: how the installation ends."""

    way: Way = "whole"
    name: ToolName = "pip"

    def make(self, environment: Path) -> list[str]:
        return [sys.executable, "-I", "-m", "venv", "--without-pip", str(environment)]

    def ask(self, environment: Path) -> list[str]:
        return [sys.executable, "-I", "-c", "print('index.example')"]

    def sources(self, output: str) -> tuple[str, ...]:
        return tuple(output.split())

    def install(self, environment: Path, cache: Path) -> list[str]:
        start = START % {"code": 3 if self.way == "broken" else 0}
        return [sys.executable, "-I", "-c", _FETCH, str(environment), str(cache), self.way, start]
