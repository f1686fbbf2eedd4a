"""Copies text over any connection by the sequence OSC 52, which the terminal does not answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from textual.app import App
from textual.message import Message

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.system.files import Folder

LARGEST: Final = 100_000
"""UTF-8 bytes that are sent to a terminal; many drop longer sequences."""


@dataclass
class CopyText(Message):
    """The user wants `content` on the clipboard."""

    content: str


@dataclass(frozen=True, slots=True)
class Copied:
    """The destination of the text: the terminal (`path` None) or a file; `words` inform the user."""

    path: Path | None
    words: str


def copy(app: App[Any], text: str, folder: Path) -> Copied:
    """Sends `text` to the terminal's clipboard, or writes it to a file in `folder` if it is too long.

    Raises DiskFull when that file cannot be written.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) > LARGEST:
        path = folder / "clipboard.txt"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            Folder(folder).write(encoded, path.name)
        except OSError as error:
            raise DiskFull(_("The text could not be copied."), str(error), _("Select a shorter part.")) from error
        return Copied(path, _("Too long for the clipboard: written to {path}.").format(path=path))
    app.copy_to_clipboard(encoded.decode())
    words = _("Sent to the terminal's clipboard.")
    if os.environ.get("TMUX"):
        words = sentences(words, _("In tmux this needs `set -s set-clipboard on`."))
    return Copied(None, words)
