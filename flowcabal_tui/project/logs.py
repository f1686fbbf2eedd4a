"""The project's log: a file beside the database, small, without keys, and nothing on the screen."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from flowcabal_tui.settings.paths import PROJECT_STATE
from flowcabal_tui.system.files import Folder, open_own

_NAME: Final = "flowcabal.log"
_SIZE: Final = 512 * 1024
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _LogFile(RotatingFileHandler):
    """Ignores failed writes: a full disk is reported by the command that needs the space, not by its log."""

    def _open(self) -> TextIOWrapper:
        """Opens the file without following a link, since the folder may come from a stranger."""
        descriptor = open_own(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return open(descriptor, "a", encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Does nothing: logging's own handler would print a traceback to the terminal for each line."""

    def close_stream(self) -> None:
        """Closes the file; the next line opens it again."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    def close(self) -> None:
        with suppress(OSError):
            super().close()


def open_log(folder: Path, *, read_only: bool) -> logging.Handler:
    """Sends log records of the program to `.flowcabal/flowcabal.log` (one old file is kept); nowhere when read-only."""
    handler: logging.Handler = (
        logging.NullHandler()
        if read_only
        else _LogFile(folder / PROJECT_STATE / _NAME, maxBytes=_SIZE, backupCount=1, encoding="utf-8", delay=True)
    )
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger = logging.getLogger("flowcabal_tui")
    logger.addHandler(handler)
    logger.propagate = False
    return handler


def close_log(handler: logging.Handler) -> None:
    """Removes and closes the handler of `open_log`."""
    logging.getLogger("flowcabal_tui").removeHandler(handler)
    handler.close()


def forget_in_log(handler: logging.Handler, folder: Path, holds: Callable[[str], bool]) -> None:
    """Removes the lines for which `holds` is true from the log and its older file. Raises OSError."""
    handler.acquire()
    try:
        if isinstance(handler, _LogFile):
            handler.close_stream()
        project = Folder(folder)
        for name in (_NAME, f"{_NAME}.1"):
            if project.status(PROJECT_STATE, name) is None:
                continue
            lines = project.read(PROJECT_STATE, name).decode("utf-8", "replace").splitlines(keepends=True)
            left = [line for line in lines if not holds(line)]
            if len(left) < len(lines):
                project.write("".join(left).encode(), PROJECT_STATE, name)
    finally:
        handler.release()
