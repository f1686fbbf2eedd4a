"""Finds the words of a vocabulary in a wish, with their places. Sentences are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.agents.builder.words import words

_TEMPERATURE: Final = re.compile(
    r"(?:temperature|温度)\D{0,24}(\d(?:\.\d{1,2})?)(?:\s?(?:down to|up to|to|->|→|降到|升到|调到|改到|改成|改为|到)\s?"
    r"(\d(?:\.\d{1,2})?))?",
    re.IGNORECASE,
)
LONGEST: Final = 4000
"""Characters of a wish that are looked at."""
_DIGITS: Final = re.compile(r"\d{1,3}(?:,\d{3}){1,2}|\d{1,7}(?:\.\d{1,4})?")
_CLAUSE: Final = re.compile(r"[,.;:!?，。；：！？、\n]|\b(?:and|or|then|but)\b")
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
        self.hits = {
            name: _hits(self.folded, name, table) for name, table in tables.items() if name not in ("units", "times")
        }
        self.numbers = _numbers(self.folded, tables["numbers"], tables["times"])
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

    def abouts(self) -> list[str]:
        """What checks look at: words of the vocabulary, and where a check has none, the words behind it."""
        told = {hit.start: hit.key for hit in self.hits["about"]}
        for hit in [each for each in self.hits["steps"] if each.key == "check"]:
            literal = self.clause_after(hit.end)
            begin = max((each.end() for each in _CLAUSE.finditer(self.text, 0, hit.start)), default=0)
            stop = hit.end + len(literal)
            if len(literal) > 1 and not any(begin <= each.start <= stop for each in self.hits["about"]):
                told[hit.end] = literal
        return list(dict.fromkeys(told[at] for at in sorted(told)))

    @property
    def temperature(self) -> float | None:
        """The temperature that is named; of "from 0.7 to 0.4" the second."""
        named = _TEMPERATURE.search(self.text)
        return float(named[2] or named[1]) if named else None

    def is_followed(self, hit: Hit, unit: str) -> bool:
        """Stands one of the words of a unit directly behind it?"""
        behind = self.folded[hit.end :].lstrip()
        return any(behind.startswith(each) for each in self.units[unit])

    def clause_after(self, place: int) -> str:
        """The words from a place to the end of their clause; "" where a mark or a number stands among them."""
        end = _CLAUSE.search(self.text, place)
        stop = end.start() if end else len(self.text)
        taken = [each.start for each in self.hits["marks"]] + [each.start for each in self.numbers]
        inside = any(place <= each < stop for each in taken)
        return "" if inside or stop - place > self.reach * 3 else self.text[place:stop].strip()


def _begins(behind: str, unit: str) -> bool:
    """Stands the unit next, with at most one other word between?"""
    at = behind.find(unit.casefold())
    if at < 0:
        return False
    between = behind[:at].strip()
    return len(between.split()) <= 1 and len(between) <= 12 and "," not in between


def _numbers(text: str, table: dict[str, int], times: dict[str, int]) -> list[Number]:
    """Numbers in digits and in words, with what multiplies them: 四千五百, 20,000, three thousand."""
    found = [Number(float(match[0].replace(",", "")), match.start(), match.end()) for match in _DIGITS.finditer(text)]
    found += [
        Number(table[hit.key], hit.start, hit.end) for hit in _hits(text, "numbers", {key: [key] for key in table})
    ]
    made: list[Number] = []
    for each in sorted(found, key=lambda number: number.start):
        if made and each.start < made[-1].end:
            continue
        larger = _multiplied(each, text, times)
        if made and larger.start == made[-1].end and larger.value < made[-1].value:
            made[-1] = Number(made[-1].value + larger.value, made[-1].start, larger.end)
        else:
            made.append(larger)
    return made


def _multiplied(number: Number, text: str, times: dict[str, int]) -> Number:
    for word, value in times.items():
        space = len(text) > number.end and text[number.end] == " " and word.isascii()
        at = number.end + space
        if text.startswith(word, at) and not (word.isascii() and _in_word(text, at + len(word))):
            return Number(number.value * value, number.start, at + len(word))
    return number


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
