"""Model servers in processes of their own: ours, and one that is named by the environment."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it. `sent` counts the events of its answer that were written."""

    path: str
    sent: int
    outcome: str


class ModelServer(Protocol):
    """A running server."""

    url: str

    def log(self) -> list[Request]: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _Process:
    """The life of a server."""

    url: str
    _process: subprocess.Popen[str]

    def _start(self, command: list[str]) -> str:
        """Starts it; returns the first line that it prints."""
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


class OurServer(_Process):
    """tests/faultserver.py."""

    def __init__(self, *faults: dict[str, Any]) -> None:
        """`faults` are pushed before the first request."""
        self.url = self._start([sys.executable, "-m", "tests.bench.served", json.dumps(faults)])

    def log(self) -> list[Request]:
        """All requests so far."""
        assert self._process.stdin is not None
        self._process.stdin.write("log\n")
        self._process.stdin.flush()
        return [Request(entry["path"], entry["sent"], entry["outcome"]) for entry in json.loads(self._line())]


class GivenServer(_Process):
    """A server that prints `listening URL` and tells its log at /__fault/log."""

    def __init__(self, script: Path, *faults: dict[str, Any]) -> None:
        self.url = self._start([sys.executable, str(script), "--port", "0"]).rpartition(" ")[2]
        urllib.request.urlopen(f"{self.url}/__fault/push", json.dumps(faults).encode()).close()

    def log(self) -> list[Request]:
        """All requests so far."""
        with urllib.request.urlopen(f"{self.url}/__fault/log") as answer:
            entries = json.load(answer)
        return [Request(entry["path"], entry["chunks"], entry["outcome"]) for entry in entries]


class PacedServer(_Process):
    """tests/bench/pacer.py: streams that keep time."""

    def __init__(self, rate: float, seconds: float) -> None:
        self.tokens = int(rate * seconds)
        self.url = self._start([sys.executable, "-m", "tests.bench.pacer", str(rate), str(seconds)])

    def streams(self) -> tuple[list[dict[str, float]], list[float]]:
        """The streams so far, and the lags of the server's own loop in seconds."""
        assert self._process.stdin is not None
        self._process.stdin.write("log\n")
        self._process.stdin.flush()
        said = json.loads(self._line())
        return said["streams"], said["lags"]
