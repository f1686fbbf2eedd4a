"""Starts OpenViking as a child process on loopback, supervises it, and restarts it when it dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.system.processes import find_program, minimal_environment
from flowcabal_tui.viking import guard
from flowcabal_tui.viking.child import GuardedChild
from flowcabal_tui.viking.client import Address, KnowledgeClient
from flowcabal_tui.viking.installed import installed, used_by
from flowcabal_tui.viking.layout import RESOURCES
from flowcabal_tui.viking.status import Absent, Failed, KnowledgeStatus, Ready, Restarting, Starting, Stopped

COMMAND_VARIABLE: Final = "FLOWCABAL_OPENVIKING_SERVER"
_COMMAND: Final = "openviking-server"
_INHERITED: Final = frozenset(
    {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
)
_POLL_SECONDS: Final = 0.1
_STEADY_SECONDS: Final = 60.0
_LONGEST_WAIT: Final = 60.0
_STOP_SECONDS: Final = guard.GRACE + 5.0
_LOG: Final = "server.log"
_MARK: Final = "running"


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """Our loopback endpoint, OpenAI-compatible: the server's only embedder."""

    url: str
    key: str = field(repr=False)
    dimension: int
    model: str = "flowcabal-embedding"


def find_server() -> tuple[str, ...]:
    """The command of the openviking-server to run: named by the environment, beside our Python, on PATH, or installed
    by `knowledge install`; () if there is none.

    Never one of the current folder; see `find_program`.
    """
    named = os.environ.get(COMMAND_VARIABLE)
    places = [named] if named else [str(Path(sys.executable).parent / _COMMAND), _COMMAND]
    found = next((program for place in places if (program := find_program(place))), None)
    if found or named:
        return (found,) if found else ()
    own = installed()
    return own.command if own and own.can_start else ()


def free_port() -> int:
    """A free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def configuration(endpoint: EmbeddingEndpoint) -> str:
    """ov.conf: OpenViking itself replaces `${...}` from its environment, so no secret is in it.

    It names no chat model: with one, removing a file would cost seven calls of OpenViking's summariser, which would
    also overwrite our L0 and L1.
    """
    dense = {
        "provider": "openai",
        "model": endpoint.model,
        "input": "text",
        "dimension": endpoint.dimension,
        "api_base": "${FLOWCABAL_MODEL_URL}",
        "api_key": "${FLOWCABAL_MODEL_KEY}",
        "encoding_format": "float",
    }
    observability = {"usage_audit": {"enabled": False}, "metrics": {"enabled": False}}
    return json.dumps(
        {
            "storage": {
                "workspace": "${FLOWCABAL_VIKING_WORKSPACE}",
                "agfs": {"backend": "local"},
                "vectordb": {"backend": "local"},
            },
            "embedding": {
                "dense": dense,
                "max_concurrent": 8,
                "max_retries": 3,
                "max_input_tokens": 8192,
                "allow_metadata_override": False,
            },
            "memory": {"extraction_enabled": False},
            "enable_watch_scheduler": False,
            "git": {"enabled": False},
            "server": {
                "host": "127.0.0.1",
                "workers": 1,
                "auth_mode": "trusted",
                "root_api_key": "${FLOWCABAL_VIKING_KEY}",
                "cors_origins": [],
                "observability": observability,
            },
            "log": {"level": "WARNING", "output": "stdout"},
        },
        indent=1,
    )


class OpenVikingServer:
    """One server for one workspace: `folder` gets ov.conf, server.log and the workspace itself.

    `publish` is called on the loop with every change of status. The key exists in this process's and
    the child's memory only; the port is new at every start.
    """

    def __init__(
        self,
        folder: Path,
        endpoint: EmbeddingEndpoint,
        publish: Callable[[KnowledgeStatus], None],
        *,
        command: Sequence[str] | None = None,
        start_seconds: float = 30.0,
        first_wait: float = 1.0,
        tries: int = 6,
        port: Callable[[], int] = free_port,
        look_seconds: float = 2.0,
        grace: float = guard.GRACE,
    ) -> None:
        """`look_seconds`: the interval of checks that the workspace exists; `grace`: the time from SIGTERM to
        SIGKILL."""
        self._folder, self._endpoint, self._publish = folder, endpoint, publish
        self._command, self._start_seconds, self._first_wait = command, start_seconds, first_wait
        self._tries, self._port, self._look_seconds, self._grace = tries, port, look_seconds, grace
        self._key = secrets.token_urlsafe(32)
        self._status: KnowledgeStatus = Stopped()
        self._supervision: asyncio.Task[None] | None = None
        self._guard: GuardedChild | None = None
        self._address: Address | None = None

    @property
    def workspace(self) -> Path:
        """OpenViking's own files, which `KnowledgeSync` may prepare on disk."""
        return self._folder / "workspace"

    def address(self) -> Address:
        """The current address; raises KnowledgeError unless it is ready."""
        if not isinstance(self._status, Ready) or self._address is None:
            raise KnowledgeError(
                _("The knowledge server is not running."),
                "",
                _("Everything continues without it; missing texts are sent when it is back."),
            )
        return self._address

    async def start(self) -> None:
        """Starts the server in the background, unless it is not installed or already running."""
        if self._supervision is not None and not self._supervision.done():
            return
        command = self._command or find_server()
        if not command:
            self._set_status(Absent())
            return
        self._supervision = asyncio.create_task(self._supervise(list(command)))

    async def stop(self, *, wait: bool) -> None:
        """Stops the server. Without `wait`, returns at once while the guard completes the stop."""
        if self._supervision is not None:
            self._supervision.cancel()
            await asyncio.wait([self._supervision])
        stopping, self._guard, self._supervision = self._guard, None, None
        if stopping is not None:
            stopping.stop()
            if wait:
                await stopping.ended(_STOP_SECONDS)
            stopping.release()
        self._set_status(Stopped())

    def _set_status(self, status: KnowledgeStatus) -> None:
        if status != self._status:
            self._status = status
            self._publish(status)

    async def _supervise(self, command: list[str]) -> None:
        """Restarts the server when it ends, up to `tries` failures; a run of more than a minute resets their count."""
        loop, tries = asyncio.get_running_loop(), 0
        while True:
            began = loop.time()
            reason = await self._run_once(command, self._start_seconds * 2 ** min(tries, 2))
            tries = 1 if loop.time() - began > _STEADY_SECONDS + self._start_seconds else tries + 1
            if tries >= self._tries:
                self._set_status(Failed(reason))
                return
            seconds = min(self._first_wait * 2.0 ** (tries - 1), _LONGEST_WAIT)
            self._set_status(Restarting(tries, seconds, reason))
            await asyncio.sleep(seconds)

    async def _run_once(self, command: list[str], start_seconds: float) -> str:
        """Runs the server once; returns the reason of its end."""
        port = self._port()
        self._set_status(Starting())
        log = self._folder / _LOG
        try:
            repair = self._prepare()
            logged = log.stat().st_size if log.exists() else 0
            with used_by(command) as descriptors:
                running = GuardedChild(
                    [*command, "--config", str(self._folder / "ov.conf"), "--port", str(port)],
                    self._folder,
                    self._environment(),
                    mark=self._folder / _MARK,
                    grace=self._grace,
                    log=log,
                    descriptors=descriptors,
                )
        except OSError as error:
            return _("The folder of the knowledge server cannot be used: {error}").format(error=error)
        self._guard = running
        await running.watch()
        address = Address(f"http://127.0.0.1:{port}", self._key)
        if await self._becomes_ready(running, address, start_seconds):
            self._address = address
            self._set_status(Ready(address.url, repair))
            lost = await self._lost_its_files(running)
            self._address = None
            code = None if lost else running.code
        else:
            lost = False
            code = running.code if running.over else None
        if code is None:
            running.stop()
            await running.ended(_STOP_SECONDS)
        running.release()
        self._guard = None
        if lost:  # files written there since are incomplete
            await asyncio.to_thread(shutil.rmtree, self.workspace, ignore_errors=True)
            return _("Its folder was removed; everything is sent to it again.")
        if code is None:
            return _("The knowledge server did not answer within {seconds} seconds.").format(
                seconds=round(start_seconds)
            )
        return _reason(code, log_tail(log, logged, (self._key, self._endpoint.key)))

    async def _lost_its_files(self, running: GuardedChild) -> bool:
        """Waits until the server ends or its files are deleted: it would keep answering from memory without them."""
        had = self._folders()
        while not running.over:
            await running.ended(self._look_seconds)
            if not had <= self._folders():
                return True
        return False

    def _folders(self) -> set[tuple[str, int]]:
        """The folders of the workspace and itself, so that others made in their place are recognised."""
        found = set()
        with contextlib.suppress(OSError):
            found.add((".", self.workspace.stat().st_ino))
            found |= {(entry.name, entry.inode()) for entry in os.scandir(self.workspace) if entry.is_dir()}
        return found

    async def _becomes_ready(self, running: GuardedChild, address: Address, seconds: float) -> bool:
        """Polls until it answers *us*: /health alone could be another server on that port."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        client = KnowledgeClient(lambda: address, answer_seconds=2.0)
        try:
            while not running.over and (passed := loop.time() - began) < seconds:
                self._set_status(Starting(int(passed)))
                with contextlib.suppress(KnowledgeError):
                    if await client.is_healthy():
                        await client.ls(f"{RESOURCES}/")
                        return not running.over
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            await client.aclose()
        return False

    def _prepare(self) -> bool:
        """Creates the folder and the configuration. Returns True if the previous server ended unexpectedly."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.workspace.mkdir(exist_ok=True)
        path = self._folder / "ov.conf"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(configuration(self._endpoint))
        return (self._folder / _MARK).exists()

    def _environment(self) -> dict[str, str]:
        """The environment of the child: of the user's variables only the search path and the locale."""
        return {name: value for name, value in minimal_environment().items() if name in _INHERITED} | {
            "HOME": str(self._folder),
            "NO_PROXY": "127.0.0.1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "FLOWCABAL_VIKING_WORKSPACE": str(self.workspace),
            "FLOWCABAL_VIKING_KEY": self._key,
            "FLOWCABAL_MODEL_URL": self._endpoint.url,
            "FLOWCABAL_MODEL_KEY": self._endpoint.key,
        }


def _reason(code: int, tail: str) -> str:
    """The reason why the server ended, for the user, from its exit code and its last output."""
    if "already using the data directory" in tail:
        return _("Another knowledge server still uses this book's folder.")
    if "address already in use" in tail.lower():
        return _("Another program took the port of the knowledge server.")
    if code > 128:
        return _("The knowledge server was killed (signal {number}).").format(number=code - 128)
    last = next((line for line in reversed(tail.splitlines()) if line.strip()), "")[:300]
    return _("The knowledge server ended with code {code}. {last}").format(code=code, last=last).strip()


def log_tail(path: Path, start: int, hidden: Sequence[str], size: int = 4000) -> str:
    """The end of a log after byte `start`, at most `size` bytes, without escapes and the `hidden` strings."""
    try:
        with path.open("rb") as file:
            length = path.stat().st_size
            file.seek(max(start if start <= length else 0, length - size))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    for secret in hidden:
        text = text.replace(secret, "***")
    return clean(text)
