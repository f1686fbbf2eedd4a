"""A text given by the name of its file, or by `-` on standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.locale import _


def text_from(source: Path) -> str:
    """The text of a file, or of standard input. Raises BadArgument when it cannot be read as text."""
    try:
        return sys.stdin.read() if str(source) == "-" else source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument(
            _("Cannot read {file}.").format(file=source), _("Nothing was changed."), _("Give a text file in UTF-8.")
        ) from error
