"""Word lists of the rules that work without a model: text files, and tables of TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

_HERE: Final = Path(__file__).parent


def words_of(name: str) -> tuple[str, ...]:
    """The words of `<name>.txt`, separated by white space, in order: patterns try them in this order."""
    return tuple((_HERE / f"{name}.txt").read_text(encoding="utf-8").split())


def word_list(name: str) -> frozenset[str]:
    """The words of `<name>.txt` as a set."""
    return frozenset(words_of(name))


@cache
def word_groups(name: str) -> dict[str, tuple[str, ...]]:
    """The words of `<name>.txt` by group; each group is a line `group: word word`."""
    lines = (_HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    groups = (line.partition(":") for line in lines if line.strip())
    return {group.strip(): tuple(words.split()) for group, _colon, words in groups}


@cache
def word_table(name: str, part: str) -> dict[str, Any]:
    """The table `part` of `<name>.toml`: words by key, separated by white space, and their settings."""
    table: dict[str, Any] = _tables(name)[part]
    return table


@cache
def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))


def alternatives(words: str | Sequence[str]) -> str:
    """A pattern for one of the words, tried in order; a list may hold phrases."""
    return "|".join(words.split() if isinstance(words, str) else words)


def alternatives_of(name: str, part: str) -> dict[str, str]:
    """For each list of the table `part` of `<name>.toml`, a pattern for one of its words."""
    return {key: alternatives(words) for key, words in word_table(name, part).items()}
