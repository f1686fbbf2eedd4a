"""The word lists of the rules, read once: text files, and tables of `rules.toml`.

In a `.tsv` file each line is an entry: the wrong words, a tab, the right ones.
"""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib.resources import files

import ahocorasick


def _text(name: str) -> str:
    return files("flowcabal_tui.proofing").joinpath("words", name).read_text(encoding="utf-8")


def _lines(name: str) -> list[str]:
    return [line for line in _text(name).splitlines() if line.strip()]


@lru_cache(maxsize=4)
def wrong_words(name: str) -> ahocorasick.Automaton:
    """Finds all wrong words of a list in one pass; its values are (wrong, right)."""
    automaton = ahocorasick.Automaton()
    for line in _lines(name):
        wrong, _tab, right = line.partition("\t")
        automaton.add_word(wrong, (wrong, right))
    automaton.make_automaton()
    return automaton


@lru_cache(maxsize=4)
def words(name: str) -> frozenset[str]:
    """The words of a list, separated by blanks."""
    return frozenset(word for line in _lines(name) for word in line.split())


def rule_words(rule: str) -> dict[str, str]:
    """The words of a rule in `rules.toml` by key, separated by blanks."""
    return _tables()[rule]


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(_text("rules.toml"))
