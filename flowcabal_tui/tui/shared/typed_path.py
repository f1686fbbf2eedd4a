"""Paths from the keyboard."""

from __future__ import annotations

from pathlib import Path


def typed_path(words: str) -> Path:
    """A path as it was typed or dragged in: quotes off, `~` is the home folder."""
    return Path(words.strip().strip("'\"")).expanduser()
