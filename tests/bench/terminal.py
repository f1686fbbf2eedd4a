"""A program in a terminal of its own: keys go in, painted bytes come out, and may be left unread."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from types import TracebackType
from typing import Final, Self

from tests.bench.processes import tree

COLUMNS, ROWS = 160, 48
ENTER, ESCAPE = "\r", "\x1b"
F5 = "\x1b[15~"
QUIT, SAVE = "\x11", "\x13"
_ANSWERS: Final = {b"\x1b[c": b"\x1b[?62;22c", b"\x1b[?2026$p": b"\x1b[?2026;2$y", b"\x1b[?2048$p": b"\x1b[?2048;0$y"}
_ESCAPES: Final = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[P_^][^\x1b]*\x1b\\|[ -/]*[0-~])"
)


class NotPainted(Exception):
    """A text did not appear in time; holds what was painted last."""


class Terminal:
    """Runs `python -m flowcabal_tui ARGUMENTS` in a pseudo-terminal until the context ends."""

    def __init__(self, *arguments: object) -> None:
        self.started = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            for name in ("COLUMNS", "LINES", "SSH_CONNECTION", "SSH_TTY"):
                os.environ.pop(name, None)
            os.execv(sys.executable, [sys.executable, "-m", "flowcabal_tui", *map(str, arguments)])
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.painted = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for member in reversed(tree(self.pid)):
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                continue
        os.waitpid(self.pid, 0)
        os.close(self._master)

    def press(self, *keys: str) -> None:
        """Keys as a terminal sends them."""
        for key in keys:
            os.write(self._master, key.encode())

    def read(self, seconds: float) -> bytes:
        """What is painted within so many seconds."""
        until, output = time.perf_counter() + seconds, b""
        while (left := until - time.perf_counter()) > 0:
            output += self._some(left)
        return output

    def wait_for(self, text: str, seconds: float = 20.0) -> float:
        """Seconds until the text has been painted, counted from this call. Raises NotPainted."""
        began = time.perf_counter()
        wanted, output = text.encode(), b""
        while (left := began + seconds - time.perf_counter()) > 0:
            output += self._some(left)
            if wanted in _ESCAPES.sub(b"", output):
                return time.perf_counter() - began
        last = _ESCAPES.sub(b" ", output)[-2000:].decode(errors="replace")
        raise NotPainted(f"{text!r} was not painted in {seconds:g} s, but {last}")

    def echo(self, key: str, text: str, seconds: float = 20.0) -> float:
        """Milliseconds from a key to the text that it paints. Raises NotPainted."""
        self.press(key)
        return self.wait_for(text, seconds) * 1000

    def leave(self, seconds: float = 10.0) -> None:
        """Quits and waits for the end."""
        self.press(QUIT)
        until = time.perf_counter() + seconds
        while (
            time.perf_counter() < until and os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        ):
            self._some(0.1)

    def _some(self, seconds: float) -> bytes:
        if not select.select([self._master], [], [], seconds)[0]:
            return b""
        try:
            output = os.read(self._master, 65536)
        except OSError:  # the program has ended
            time.sleep(min(seconds, 0.05))
            return b""
        for query, answer in _ANSWERS.items():
            if query in output:
                os.write(self._master, answer)
        return output
