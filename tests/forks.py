"""Python processes of tests that begin as forks of one that has imported the product: 6 ms, not 80 to 600.

    with forks():
        ...  # the helper of flowcabal_tui/project/workshop.py is forked
        subprocess.Popen([python(), "-c", CODE, ...])  # so are the programs of tests that ask for it
        subprocess.Popen([python(), "-m", MODULE, ...])

A forked process is a child of the caller, with pipes, an environment and a folder of its own, and is waited for and
killed like any other. A program that is forked has its helpers forked. Every other command line starts as usual, also a
helper for another Python or another module path, and all of them where the system gives a process no other parent (all
but Linux).
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from flowcabal_tui.project import helper
from flowcabal_tui.system.processes import own_python

STARTED: Final = subprocess.Popen
"""The class that starts every program as usual."""
_FORKED: Final = "a fork of Python"
_PR_SET_CHILD_SUBREAPER: Final = 36
"""See prctl(2): orphans among the descendants of a process become its children."""
_MESSAGE: Final = 1 << 17
"""Bytes of the longest message."""
_OF_HELPERS: Final = ("agents", "domain", "headings", "manuscript", "proofing")
_OF_PROGRAMS: Final = (*_OF_HELPERS, "actions", "cli", "models", "nodes", "project", "runner", "settings", "store")
"""Packages that are imported before the first fork."""


def python() -> str:
    """The program for command lines that begin with `-c` or `-m`: a fork inside `forks()`, else this Python."""
    return sys.executable if subprocess.Popen is STARTED else _FORKED


class _Source:
    """The process that is forked. It begins with the first fork."""

    def __init__(self, begin: Callable[[socket.socket], subprocess.Popen[bytes] | int]) -> None:
        self._begin = begin
        self._turn = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | int = 0

    def begin(self) -> socket.socket:
        self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = self._begin(its)
        return self._socket

    def fork(self, arguments: list[str], folder: str | None, environment: Mapping[str, str], streams: list[int]) -> int:
        """Begins a process with these standard streams. Returns its id."""
        with self._turn:
            source = self._socket or self.begin()
            message = pickle.dumps((arguments, folder or os.getcwd(), dict(environment)))
            prctl = ctypes.CDLL(None).prctl
            prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(source, [message], streams)
                return int(source.recv(_MESSAGE))
            finally:
                prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def end(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if isinstance(self._process, subprocess.Popen):
            self._process.wait()


def _started(packages: tuple[str, ...]) -> Callable[[socket.socket], subprocess.Popen[bytes]]:
    return lambda its: STARTED([*own_python(__name__), *packages], stdin=its, cwd="/")


def _forked(its: socket.socket) -> int:
    """A source for the helpers of a process that is itself a fork, and has one thread."""
    if process := os.fork():
        return process
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    _serve(its)
    os._exit(0)


@contextmanager
def forks() -> Iterator[None]:
    """Helpers, and the programs of `python()`, are forked as long as this lasts."""
    sources = {"helper": _Source(_started(_OF_HELPERS)), "program": _Source(_started(_OF_PROGRAMS))}
    if sys.platform == "linux":
        _fork_instead(sources)
    try:
        yield
    finally:
        subprocess.Popen = STARTED  # type: ignore[misc]
        for source in sources.values():
            source.end()


def _fork_instead(sources: dict[str, _Source]) -> None:
    command = own_python(helper.__name__)

    class Forked(subprocess.Popen[Any]):
        """A process that is forked if it can be."""

        def _execute_child(self, args: Any, *given: Any) -> None:
            arguments = list(args)
            if arguments != command and arguments[:1] != [_FORKED]:
                return super()._execute_child(args, *given)  # type: ignore[misc]  # there is no public way
            folder, environment, pipes = given[4], given[5], given[9:15]  # as in Python 3.3 to 3.14
            streams = [own if pipe == -1 else pipe for own, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
            source = sources["program" if arguments[0] == _FORKED else "helper"]
            self.pid = source.fork(arguments, folder, os.environ if environment is None else environment, streams)
            self._child_created = True
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    subprocess.Popen = Forked  # type: ignore[misc]  # asyncio starts its processes by this name


def serve() -> None:
    """The main loop of a source that was started: `sys.argv` ends with the packages that are imported first."""
    for name in set(sys.argv) & set(_OF_PROGRAMS):
        package = import_module(f"flowcabal_tui.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    gc.freeze()
    _serve(socket.socket(fileno=os.dup(0)))


def _serve(source: socket.socket) -> None:
    """Forks a process for each message, until the other side is closed."""
    while True:
        message, streams, _flags, _address = socket.recv_fds(source, _MESSAGE, 3)
        if not message:
            return
        reader, writer = os.pipe()
        if (between := os.fork()) == 0:
            if found := os.fork():
                os.write(writer, str(found).encode())
                os._exit(0)  # the new process is an orphan, so it becomes a child of the process that asked
            for wanted, stream in enumerate(streams):
                os.dup2(stream, wanted)
            source.detach()
            os.closerange(3, max(*streams, reader, writer) + 1)
            return _become(*pickle.loads(message))
        os.close(writer)
        os.waitpid(between, 0)
        source.send(os.read(reader, _MESSAGE))
        for each in (reader, *streams):
            os.close(each)


def _become(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if arguments[0] != _FORKED:
        return helper.serve()
    source = _Source(_forked)
    source.begin()  # while this process has one thread
    _fork_instead({"helper": source})
    if arguments[1] == "-m":
        sys.argv = arguments[2:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c", *arguments[3:]]
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(arguments[2], vars(main))
