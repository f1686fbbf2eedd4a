"""Signals that end the program: both are handled on the loop, so drafts are saved and the terminal is restored."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Callable
from typing import Final

TERMINATED: Final = 128 + signal.SIGTERM
HUNG_UP: Final = 128 + signal.SIGHUP
LOOK_SECONDS: Final = 1.0


def listen(on_terminate: Callable[[], None], on_hang_up: Callable[[], None]) -> None:
    """Calls back on the running loop at SIGTERM, and at SIGHUP or a closed terminal."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, on_terminate)
    loop.add_signal_handler(signal.SIGHUP, on_hang_up)
    _look(loop, on_hang_up)


def _look(loop: asyncio.AbstractEventLoop, on_hang_up: Callable[[], None]) -> None:
    """The signal goes to the leader of the session; one that waits for us, as make does, does not pass it on."""
    if _is_closed(0):
        on_hang_up()
    else:
        loop.call_later(LOOK_SECONDS, _look, loop, on_hang_up)


def _is_closed(terminal: int) -> bool:
    poll = select.poll()
    poll.register(terminal, 0)
    return any(event & select.POLLHUP for _file, event in poll.poll(0))


def let_go_of_terminal() -> None:
    """Redirects the three standard files to the null device: a library's output must not fail on a closed terminal."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
