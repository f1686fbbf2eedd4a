"""Finds the words of a vocabulary in a wish, with their places. Sentences are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.agents.builder.words import words

TEMPERATURE: Final = re.compile(r"(?:temperature|温度)\D{0,6}(\d(?:\.\d{1,2})?)", re.IGNORECASE)
LONGEST: Final = 4000
"""Characters of a wish that are looked at."""
_DIGITS: Final = re.compile(r"\d{1,7}(?:\.\d{1,4})?")
_QUOTED: Final = re.compile(r"[“「『\"]([^“”「」『』\"]{1,80})[”」』\"]")
_TITLE: Final = re.compile(r"《[^《》]{1,40}》")
_SINGLE: Final = re.compile(r"(?<![A-Za-z])'([^'\n]{1,60})'(?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class Hit:
    """A word of the vocabulary in the wish: its table, its entry, and where it stands."""

    table: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number in the wish."""

    value: float
    start: int
    end: int


class Wish:
    """A wish with all that the vocabulary of its language finds in it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text[:LONGEST]
        self.folded = self.text.casefold()
        self.reach = 8 if language == "zh" else 26
        """Characters between two words that belong together."""
        tables = words(language, "vocabulary")
        self.units: dict[str, list[str]] = tables["units"]
        self.hits = {name: _hits(self.folded, name, table) for name, table in tables.items() if name != "units"}
        self.numbers = _numbers(self.folded, tables["numbers"])
        self.quoted = [(match[1], match.start()) for match in _QUOTED.finditer(self.text)]
        if language != "zh":
            self.quoted += [(match[1], match.start()) for match in _SINGLE.finditer(self.text)]

    def marks(self, *keys: str) -> list[Hit]:
        """Where one of these marks stands, in order."""
        return [hit for hit in self.hits["marks"] if hit.key in keys]

    def has(self, *keys: str) -> bool:
        """Does one of these marks stand anywhere?"""
        return bool(self.marks(*keys))

    def is_denied(self, hit: Hit) -> bool:
        """Does a "not" stand directly before it?"""
        return any(0 <= hit.start - each.end <= self.reach // 3 for each in self.marks("not", "never"))

    def number_by(self, unit: str, least: float = 1, most: float = 100) -> int | None:
        """The first number with one of the words of a unit directly behind it."""
        for number in self.numbers:
            behind = self.folded[number.end : number.end + self.reach]
            if least <= number.value <= most and any(_begins(behind, each) for each in self.units[unit]):
                return int(number.value)
        return None

    def number_after(self, place: int) -> Number | None:
        """The first number behind a place."""
        return next((each for each in self.numbers if each.start >= place), None)


def _begins(behind: str, unit: str) -> bool:
    """Stands the unit next, with at most one other word between?"""
    at = behind.find(unit.casefold())
    if at < 0:
        return False
    between = behind[:at].strip()
    return len(between.split()) <= 1 and len(between) <= 12 and "," not in between


def _numbers(text: str, table: dict[str, int]) -> list[Number]:
    found = [Number(float(match[0]), match.start(), match.end()) for match in _DIGITS.finditer(text)]
    found += [
        Number(table[hit.key], hit.start, hit.end) for hit in _hits(text, "numbers", {key: [key] for key in table})
    ]
    return sorted(found, key=lambda each: each.start)


def _hits(text: str, table: str, entries: dict[str, Any]) -> list[Hit]:
    """All words of a table; where two overlap, the longer one."""
    found: list[Hit] = []
    for key, listed in entries.items():
        for word in listed if isinstance(listed, list) else ():
            found += [Hit(table, key, start, start + len(word)) for start in places(text, word.casefold())]
    found.sort(key=lambda hit: (hit.start - hit.end, hit.start))
    taken: list[Hit] = []
    for hit in found:
        if all(hit.end <= other.start or hit.start >= other.end for other in taken):
            taken.append(hit)
    return sorted(taken, key=lambda hit: hit.start)


def places(text: str, word: str) -> Iterable[int]:
    """Where a word begins; a Latin one stands by itself."""
    at = text.find(word)
    while at >= 0 and word:
        ends = at + len(word)
        latin = word[0].isascii() and word[0].isalnum()
        if not latin or not (_in_word(text, at - 1) or _in_word(text, ends)):
            yield at
        at = text.find(word, at + 1)


def _in_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isascii() and text[at].isalnum()
