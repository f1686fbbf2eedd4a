"""The word lists of the rules, read once. One entry per line: the wrong words, a tab, the right ones."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import ahocorasick


def _lines(name: str) -> list[str]:
    text = files("flowcabal_tui.proofing").joinpath("words", name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip()]


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
