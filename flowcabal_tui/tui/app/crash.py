"""Reports a crash: a file without secrets, and three lines on the terminal."""

from __future__ import annotations

import os
import platform
import re
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from flowcabal_tui import __version__
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _
from flowcabal_tui.settings.secrets import read_secrets
from flowcabal_tui.system.files import open_own

_SECRET_NAME: Final = late(r"KEY|TOKEN|SECRET|PASSWORD|AUTH", re.IGNORECASE)
_SECRET_SHAPE: Final = late(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp)[-_][A-Za-z0-9_\-]{8,}|(?i:bearer|x-api-key:?|authorization:?)\s+\S+|\b[A-Fa-f0-9]{32,}\b"
)
_SHORTEST_SECRET: Final = 6


def scrubbed(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """`text` without strings that look like secrets, without values of secret variables and of the user's secrets file,
    and with `~` for the home folder."""
    secrets = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
    with suppress(SettingsError):
        secrets |= {*read_secrets().values()}
    for value in sorted(secrets, key=len, reverse=True):
        if len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "***")
    text = _SECRET_SHAPE.sub("***", text)
    home = environment.get("HOME", "")
    return text.replace(home, "~") if len(home) > 1 else text


def report_of(error: BaseException, at: datetime) -> str:
    """Versions and the stack trace, without values of variables, which may contain text of the book or keys."""
    lines = [
        f"FlowCabal TUI {__version__}",
        f"{at.isoformat(timespec='seconds')}  Python {platform.python_version()}  {platform.platform(terse=True)}",
        f"TERM={os.environ.get('TERM', '')}  LANG={os.environ.get('LANG', '')}",
        "",
        "".join(traceback.format_exception(error)),
    ]
    return scrubbed("\n".join(lines))


def write_report(folder: Path, error: BaseException, at: datetime) -> Path | None:
    """Writes the report; None when the folder cannot be written."""
    path = folder / f"crash-{at.strftime('%Y%m%d-%H%M%S')}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(open_own(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(report_of(error, at))
    except OSError:
        return None
    return path


def last_words(report: Path | None) -> str:
    """The three lines on the terminal after a crash."""
    where = str(report) if report is not None else _("it could not be written")
    return "\n".join(
        (
            _("FlowCabal TUI has stopped because of an error in the program."),
            _("Everything kept, approved or received is safe; unsaved text is shown again when you open the book."),
            _("Report: {where}").format(where=where),
        )
    )
