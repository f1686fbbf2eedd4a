"""The words and characters by which files are read and written, from `words.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


def word_table(name: str) -> dict[str, str]:
    """A table of `words.toml`: words by key, separated by blanks, or sets of characters."""
    return _tables()[name]


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
