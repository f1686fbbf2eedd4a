"""How the program ends in a real terminal: signals, a terminal that is closed, a crash."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from pathlib import Path

import pytest

from flowcabal_tui.settings.secrets import keep_secret
from flowcabal_tui.tui.app.crash import scrubbed
from tests.waiting import looks

ROOT = Path(__file__).parents[2]
ALTERNATE_OFF = b"\x1b[?1049l"
HOME = "import sys; sys.argv.append('--home'); from tests.tui.try_out import main; sys.exit(main())"
BROKEN = """
import sys
from pathlib import Path
from flowcabal_tui.tui.app.app import FlowCabalApp, run_app
from flowcabal_tui.settings.screen import ScreenSettings
from tests.tui.try_out import invented_access

def broken(self):
    key = "sk-0123456789abcdef"
    raise RuntimeError(f"refused {key} for " + Path.home().as_posix() + "/novel")

FlowCabalApp.action_help = broken
settings = ScreenSettings(language="en", wizard_done=True)
sys.exit(run_app(FlowCabalApp(invented_access("en"), settings, state_folder=Path(sys.argv[1]))))
"""
LEADER = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
sys.exit(subprocess.call([sys.executable, "-c", sys.argv[1]]))
"""


class Terminal:
    """A program in a pseudo-terminal of 80x24."""

    def __init__(self, program: str, *arguments: str) -> None:
        self.written = b""
        self.child, self._master = pty.fork()
        if self.child == 0:
            os.chdir(ROOT)
            words = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
            os.execve(sys.executable, [sys.executable, "-c", program, *arguments], {**os.environ, **words})
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read_until(self, wanted: bytes) -> None:
        """Reads what the program writes until `wanted` was among it."""
        for _look in looks(f"{wanted!r} is written"):
            if wanted in self.written:
                return
            if select.select([self._master], [], [], 0)[0]:
                self.written += os.read(self._master, 65536)

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def close(self) -> None:
        """The window is closed: what reads and writes here is gone."""
        os.close(self._master)

    def ended(self, *, read: bool = True) -> int:
        """The exit code; what was still written is read first."""
        try:
            for _look in looks("the program ends"):
                done, status = os.waitpid(self.child, os.WNOHANG)
                while read and select.select([self._master], [], [], 0)[0]:
                    try:
                        self.written += os.read(self._master, 65536)
                    except OSError:
                        read = False
                if done:
                    return os.waitstatus_to_exitcode(status)
        except AssertionError:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            raise
        raise AssertionError("looks end with an error or not at all")


def test_sigterm_restores_the_terminal_and_tells_it_by_the_exit_code():
    terminal = Terminal(HOME)
    terminal.read_until(b"New project")
    os.kill(terminal.child, signal.SIGTERM)
    assert terminal.ended() == 143
    assert ALTERNATE_OFF in terminal.written


def test_sighup_to_a_living_terminal_restores_it_too():
    terminal = Terminal(HOME)
    terminal.read_until(b"New project")
    os.kill(terminal.child, signal.SIGHUP)
    assert terminal.ended() == 129
    assert ALTERNATE_OFF in terminal.written


def test_a_closed_terminal_ends_the_program_in_order():
    terminal = Terminal(HOME)
    terminal.read_until(b"New project")
    terminal.close()
    assert terminal.ended(read=False) == 129


def test_a_closed_terminal_ends_the_program_also_when_another_keeps_the_signal():
    terminal = Terminal(LEADER, HOME)
    terminal.read_until(b"New project")
    terminal.close()
    assert terminal.ended(read=False) == 129


def test_a_crash_restores_the_terminal_and_leaves_three_lines_and_a_report_without_secrets(tmp_path):
    terminal = Terminal(BROKEN, str(tmp_path))
    terminal.read_until(b"New project")
    terminal.press(b"?")
    assert terminal.ended() == 70
    after = terminal.written.split(ALTERNATE_OFF)[-1].decode()
    report = next(tmp_path.glob("crash-*.txt"))
    assert str(report) in after
    assert "Traceback" not in after
    words = report.read_text()
    assert "RuntimeError: refused *** for ~/novel" in words
    assert "sk-0123456789abcdef" not in words
    assert report.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "secret", ["sk-abcdef1234567890", "Bearer abc.def-ghi", "x-api-key: 12345", "0123456789abcdef0123456789abcdef"]
)
def test_what_looks_like_a_secret_is_taken_out(secret):
    assert secret.split()[-1] not in scrubbed(f"header {secret} end", {})


def test_values_of_secret_variables_are_taken_out_whatever_they_look_like():
    assert scrubbed("it was correct horse", {"MY_API_KEY": "correct horse"}) == "it was ***"


def test_values_of_the_secrets_file_are_taken_out():
    keep_secret("deepseek", "correct horse")
    assert scrubbed("it was correct horse", {}) == "it was ***"
