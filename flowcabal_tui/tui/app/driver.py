"""A terminal driver that survives the loss of its terminal."""

from __future__ import annotations

from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver


class _PatientFile:
    """Writes while there is a terminal, and then into nothing."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


class PatientDriver(LinuxDriver):
    """Ends its threads quietly when the terminal is closed.

    In Textual's own driver, a closed terminal ends the writer thread, whose full queue then blocks the loop for ever,
    and makes the reader thread panic. Here both end quietly, and SIGHUP decides what happens.
    """

    def __init__(
        self, app: App[int], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = cast("TextIOWrapper", _PatientFile(cast("TextIO", self._file)))

    def run_input_thread(self) -> None:
        """Reads keys until the terminal is gone."""
        with suppress(OSError):
            super().run_input_thread()
