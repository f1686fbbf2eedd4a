"""The project's log: a file beside the database, small, without keys, and nothing on the screen."""

from __future__ import annotations

import logging
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from flowcabal_tui.settings.paths import PROJECT_STATE

_SIZE: Final = 512 * 1024
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _LogFile(RotatingFileHandler):
    """Goes without what cannot be written: a full disk is told by the command that needs the room, not by its log."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Logging's own would print a traceback to the terminal for each line."""

    def close(self) -> None:
        with suppress(OSError):
            super().close()


def open_log(folder: Path, *, read_only: bool) -> logging.Handler:
    """Sends what the program logs to `.flowcabal/flowcabal.log` (one old file is kept); nowhere when read-only."""
    handler: logging.Handler = (
        logging.NullHandler()
        if read_only
        else _LogFile(
            folder / PROJECT_STATE / "flowcabal.log", maxBytes=_SIZE, backupCount=1, encoding="utf-8", delay=True
        )
    )
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger = logging.getLogger("flowcabal_tui")
    logger.addHandler(handler)
    logger.propagate = False
    return handler


def close_log(handler: logging.Handler) -> None:
    """Ends what `open_log` began."""
    logging.getLogger("flowcabal_tui").removeHandler(handler)
    handler.close()
