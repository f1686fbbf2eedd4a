"""Finds the places of many names in a text at once: the cost is proportional to the text, not to text times names."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import ahocorasick


def occurrences(text: str, names: Iterable[str]) -> dict[str, array[int]]:
    """The offsets of each name, as `str.count` and `re.finditer` find it: places of one name do not overlap."""
    found = {name: array("I") for name in names}
    for name, start in _all(text, found):
        places = found[name]
        if not places or start >= places[-1] + len(name):
            places.append(start)
    return found


def outermost(text: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Start and end of the names, without overlaps: the first wins; of those with the same start, the longest."""
    reached = 0
    for start, end in sorted(((at, at + len(name)) for name, at in _all(text, names)), key=lambda at: (at[0], -at[1])):
        if start >= reached:
            yield start, end
            reached = end


def _all(text: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Every place of every name, in the order of their ends."""
    automaton = ahocorasick.Automaton()
    for name in names:
        automaton.add_word(name, name)
    if len(automaton):
        automaton.make_automaton()
        for end, name in automaton.iter(text):
            yield name, end + 1 - len(name)
