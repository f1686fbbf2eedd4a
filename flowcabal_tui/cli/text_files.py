"""Text files that a command reads or writes; `-` reads standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _


def text_from(source: Path) -> str:
    """The text of a file, or of standard input. Raises BadArgument when it cannot be read as text."""
    try:
        return sys.stdin.read() if str(source) == "-" else source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument(
            _("Cannot read {file}.").format(file=source), _("Nothing was changed."), _("Give a text file in UTF-8.")
        ) from error


def write_lines(out: Path, lines: Iterable[str]) -> None:
    """Writes a file of lines. Raises DiskFull when it cannot be written."""
    try:
        out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise DiskFull(_("Cannot write {file}.").format(file=out.name), os_reason(error)) from error
