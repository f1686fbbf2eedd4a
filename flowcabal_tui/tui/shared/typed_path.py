"""Paths from the keyboard."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path
from typing import Final

from textual.suggester import Suggester

_MOST_ENTRIES: Final = 5_000
"""Maximum entries read from a folder; a later name is not suggested and must be typed in full."""


def typed_path(words: str) -> Path:
    """A typed or dragged path, without quotes, with `~` as the home folder."""
    return Path(words.strip().strip("'\"")).expanduser()


class PathSuggester(Suggester):
    """Completes the last name of a path from the disk; the right arrow accepts it. Folders end with a slash."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The path with its last name completed by the first match in alphabetical order."""
        return await asyncio.to_thread(completed, value)


def completed(typed: str) -> str | None:
    """The completion of a typed path; None if nothing on disk matches, or it cannot be read."""
    begun = typed.rpartition("/")[2]
    if not begun or begun in (".", "..", "~"):
        return None
    folder = typed_path(typed[: len(typed) - len(begun)] or ".")
    try:
        entries = islice(folder.iterdir(), _MOST_ENTRIES)
        found = min((each for each in entries if each.name.startswith(begun)), key=lambda each: each.name, default=None)
        if found is None or not found.name.isprintable():
            return None
        return typed + found.name[len(begun) :] + ("/" if found.is_dir() else "")
    except (OSError, RuntimeError):  # no such folder, no leave to read it, or no home folder
        return None
