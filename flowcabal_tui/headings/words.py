"""The words by which a heading is recognised, from `words.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


def alternatives(table: str, name: str) -> str:
    """A pattern for one of the words, tried in order."""
    return "|".join(words_of(table, name))


def words_of(table: str, name: str) -> list[str]:
    """The words of a table in order."""
    return _tables()[table][name].split()


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
