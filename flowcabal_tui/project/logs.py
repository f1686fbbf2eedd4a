"""The project's log: a file beside the database, small, without keys, and nothing on the screen."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from flowcabal_tui.settings.paths import PROJECT_STATE

_SIZE: Final = 512 * 1024
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"


def open_log(folder: Path, *, read_only: bool) -> logging.Handler:
    """Sends what the program logs to `.flowcabal/flowcabal.log` (one old file is kept); nowhere when read-only."""
    handler: logging.Handler = (
        logging.NullHandler()
        if read_only
        else RotatingFileHandler(
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
