"""Runs the knowledge server as its child, and stops it when the program has ended for any reason.

Run as a file, with the standard library only: `python -I -S guard.py LOG MARK GRACE -- COMMAND...`. Standard input is a
pipe from the program; its end (closed, or the program was killed) or a change of parent (a forked worker may still hold
the pipe) stops the server: SIGTERM, and after GRACE seconds SIGKILL to its group. The first line on standard output is
the server's process id; standard output ends when the guard ends. What the server prints goes to LOG (`-`: to standard
output) without the values of `*_KEY` variables. MARK exists while the server runs and remains after an unexpected end,
so the next start looks for missing vectors.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

GRACE = 10.0
NICENESS = 5
"""Runs the server at a lower priority than the screen."""
LOG_LIMIT = 1_000_000
TO_US = "-"
"""In place of LOG: the server's output follows its process id on standard output."""
CANNOT_START = 127


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _open(path: Path) -> IO[bytes]:
    """The log, or the null device when it cannot be written: the server's output must be read in any case."""
    try:
        if str(path) == TO_US:
            return os.fdopen(os.dup(1), "wb", buffering=0)
        if path.exists() and path.stat().st_size > LOG_LIMIT:
            path.replace(path.with_suffix(".old.log"))
        return path.open("ab", buffering=0)
    except OSError:
        return open(os.devnull, "ab", buffering=0)


def _log(output: IO[bytes], path: Path) -> None:
    """Copies the server's lines to `path`, secrets removed, one older file kept."""
    secrets = [value.encode() for name, value in os.environ.items() if name.endswith("_KEY") and value]
    file = _open(path)
    for line in output:
        for secret in secrets:
            line = line.replace(secret, b"***")
        with contextlib.suppress(OSError):
            file.write(line)
        if file.seekable() and file.tell() > LOG_LIMIT:
            file.close()
            file = _open(path)


def _await_end_of_parent(parent: int, ended: threading.Event) -> None:
    while not ended.is_set():
        readable, _, _ = select.select([0], [], [], 1.0)
        if (readable and not os.read(0, 1)) or os.getppid() != parent:
            return


def run(log: Path, mark: Path, grace: float, command: list[str]) -> int:
    """Runs `command` until it ends or the program is gone; returns its exit code (128 + signal)."""
    parent = os.getppid()
    os.nice(NICENESS)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    try:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        with _open(log) as file:
            file.write(f"{error}\n".encode())
        return CANNOT_START
    assert server.stdout is not None
    with contextlib.suppress(OSError):
        os.write(1, b"%d\n" % server.pid)
    with contextlib.suppress(OSError):
        mark.touch()
    ended, in_grace = threading.Event(), threading.Event()

    def stop() -> None:
        _await_end_of_parent(parent, ended)
        in_grace.set()
        _signal_group(server.pid, signal.SIGTERM)
        if not ended.wait(grace):
            in_grace.clear()
            _signal_group(server.pid, signal.SIGKILL)

    signal.signal(signal.SIGTERM, lambda *_: _signal_group(server.pid, signal.SIGTERM))
    logging = threading.Thread(target=_log, args=(server.stdout, log), daemon=True)
    logging.start()
    threading.Thread(target=stop, daemon=True).start()
    code = server.wait()
    if in_grace.is_set():
        with contextlib.suppress(OSError):
            mark.unlink()
    ended.set()
    _signal_group(server.pid, signal.SIGKILL)
    logging.join(1.0)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    _log_path, _mark_path, _grace, _, *_command = sys.argv[1:]
    raise SystemExit(run(Path(_log_path), Path(_mark_path), float(_grace), _command))
