"""Helper processes that begin as forks of one that has imported the product: 6 ms of processor time, not 50 to 100.

    with forked_helpers(): ...

Meanwhile `subprocess.Popen` forks the helper of `flowcabal_tui/project/workshop.py` and starts all other programs as
usual. A forked helper is a child of the caller, with pipes, an environment and a folder of its own, and is waited for
and killed like any other. A helper for another Python or another module path is started as usual, and every one where
the system cannot give a process another parent (all but Linux).
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import pkgutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from flowcabal_tui.project import helper
from flowcabal_tui.system.processes import own_python

STARTED: Final = subprocess.Popen
"""The class that starts every program as usual."""
_PR_SET_CHILD_SUBREAPER: Final = 36
"""See prctl(2): orphans among the descendants of a process become its children."""
_MESSAGE: Final = 1 << 17
"""Bytes of the longest message."""
_IMPORTED: Final = ("agents", "domain", "headings", "manuscript", "proofing")
"""Packages whose functions run in a helper."""


class _Source:
    """The process that is forked. It begins with the first helper."""

    def __init__(self) -> None:
        self.command = own_python(helper.__name__)
        self._turn = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def fork(self, folder: str, environment: dict[str, str], streams: list[int]) -> int:
        """Starts a helper with these standard streams. Returns its process id."""
        with self._turn:
            if self._socket is None:
                self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with its:
                    self._process = STARTED(own_python(__name__), stdin=its, cwd="/")
            prctl = ctypes.CDLL(None).prctl
            prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._socket, [pickle.dumps((folder, environment))], streams)
                return int(self._socket.recv(_MESSAGE))
            finally:
                prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def end(self) -> None:
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()


@contextmanager
def forked_helpers() -> Iterator[None]:
    """Helpers are forked as long as this lasts."""
    source = _Source()

    class Forked(subprocess.Popen[Any]):
        """A process that is forked if it is a helper."""

        def _execute_child(self, args: Any, *given: Any) -> None:
            if list(args) != source.command:
                return super()._execute_child(args, *given)  # type: ignore[misc]  # there is no public way
            folder, environment, pipes = given[4], given[5], given[9:15]  # as in Python 3.3 to 3.14
            self.pid = source.fork(folder, environment, [pipes[0], pipes[3], pipes[5]])
            self._child_created = True
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    if sys.platform == "linux":
        subprocess.Popen = Forked  # type: ignore[misc]  # asyncio starts its processes by this name
    try:
        yield
    finally:
        subprocess.Popen = STARTED  # type: ignore[misc]
        source.end()


def serve() -> None:
    """Forks a helper for each message on the standard input, until its other side is closed."""
    for name in _IMPORTED:
        package = import_module(f"flowcabal_tui.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    gc.freeze()
    source = socket.socket(fileno=os.dup(0))
    while True:
        message, streams, _flags, _address = socket.recv_fds(source, _MESSAGE, 3)
        if not message:
            return
        reader, writer = os.pipe()
        if (between := os.fork()) == 0:
            if found := os.fork():
                os.write(writer, str(found).encode())
                os._exit(0)  # the helper is an orphan, so it becomes a child of the process that asked
            break
        os.close(writer)
        os.waitpid(between, 0)
        source.send(os.read(reader, _MESSAGE))
        for each in (reader, *streams):
            os.close(each)
    for wanted, stream in enumerate(streams):
        os.dup2(stream, wanted)
    source.detach()
    os.closerange(3, max(*streams, reader, writer) + 1)
    folder, environment = pickle.loads(message)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    helper.serve()
