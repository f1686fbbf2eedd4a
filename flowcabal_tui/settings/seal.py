"""A secret of this user that no project contains, so that values derived from it cannot be forged."""

from __future__ import annotations

import logging
import re
import secrets
from functools import cache
from pathlib import Path
from typing import Final

from flowcabal_tui.settings import paths
from flowcabal_tui.settings.locked import locked
from flowcabal_tui.system.files import write_whole

log = logging.getLogger(__name__)
_FORM: Final = re.compile(r"[0-9a-f]{32}")


def user_seal() -> str:
    """32 hexadecimal digits, created once; valid only for this process if they cannot be stored."""
    file = paths.state_folder() / "seal"
    try:
        if (known := _read(file)) is None:
            with locked(file):
                if (known := _read(file)) is None:
                    known = secrets.token_hex(16)
                    write_whole(file, f"{known}\n".encode())
    except OSError as error:
        log.warning("the user's seal: %s", error)
        return _of_this_process()
    return known


def _read(file: Path) -> str | None:
    try:
        text = file.read_text("ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    return text if _FORM.fullmatch(text) else None


@cache
def _of_this_process() -> str:
    return secrets.token_hex(16)
