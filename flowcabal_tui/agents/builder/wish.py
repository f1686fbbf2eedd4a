"""Finds the words of a vocabulary in a wish, with their places. Sentences are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from flowcabal_tui.agents.builder.words import words

LONGEST: Final = 4000
"""Characters of a wish that are looked at."""
_FAR: Final = 30
"""Characters between "temperature" and its number."""
_DIGITS: Final = re.compile(r"\d{1,3}(?:,\d{3}){1,2}|\d{1,7}(?:\.\d{1,4})?")
_CLAUSE: Final = re.compile(r"[,.;:!?，。；：！？、\n]|\b(?:and|or|then|but)\b")
_QUOTED: Final = re.compile(
    r"[“「『\"]([^“”「」『』\"]{1,80})[”」』\"]|(?<![A-Za-z])['‘]([^'’\n]{1,60})['’](?![A-Za-z])"
)


class Hit(NamedTuple):
    """A word of the vocabulary in the wish: its entry, its place, and its number, if it has one."""

    key: str
    start: int
    end: int
    value: float = 0

    def gap(self, other: Hit) -> int:
        """Characters between the two."""
        return max(other.start - self.end, self.start - other.end)


class Wish:
    """A wish with all that the vocabulary of its language finds in it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text[:LONGEST]
        self.folded = self.text.casefold()
        self.said, self.tables = words(language), words(language, "vocabulary")
        self.reach: int = self.tables["reach"]
        """Characters between two words that belong together."""
        listed = ("steps", "marks", "things", "keep", "about", "outside", "actions")
        self.hits = {name: _hits(self.folded, self.tables[name]) for name in listed}
        self.numbers = _numbers(self.folded, self.tables["numbers"], self.tables["times"], self.tables["no_number"])
        self.quoted = [Hit(each[1] or each[2], *each.span()) for each in _QUOTED.finditer(self.text)]

    def marks(self, *keys: str, denied: bool = True) -> list[Hit]:
        """The places of these marks or things; without `denied` only those with no "not" before them."""
        named = [hit for table in ("marks", "things") for hit in self.hits[table] if hit.key in keys]
        return [hit for hit in named if denied or not self.is_denied(hit)]

    def has(self, *keys: str) -> bool:
        """True when the wish contains one of these marks."""
        return bool(self.marks(*keys))

    def is_denied(self, hit: Hit) -> bool:
        """True when a "not" comes directly before the hit."""
        nots = [each for each in self.hits["marks"] if each.key in ("not", "never")]
        return any(0 <= hit.start - each.end <= self.reach // 3 for each in nots)

    def verbs(self) -> list[Hit]:
        """The steps that the wish names."""
        return [hit for hit in self.hits["steps"] if not self.is_denied(hit)]

    def numbers_by(self, unit: str, least: float, most: float) -> list[Hit]:
        """The numbers with one of the words of a unit behind them, and at most one other word between."""
        return [each for each in self.numbers if least <= each.value <= most and self._counts(each, unit)]

    def _counts(self, number: Hit, unit: str) -> bool:
        behind = self.folded[number.end : number.end + self.reach]
        units: list[str] = self.tables["units"][unit]
        found = [behind[:at] for at in map(behind.find, units) if at >= 0]
        return self.folded[number.start : number.end] in units or any(
            len(between.split()) <= 1 and len(between) <= self.reach // 2 and "," not in between for between in found
        )

    def bounds(self, least: float = 0) -> list[tuple[Hit, Hit]]:
        """ "Longer" and "shorter" with the number of this size next to each: 超过两万字, 两万字以上."""
        numbers = [each for each in self.numbers if each.value >= least]
        near = {hit: [n for n in numbers if hit.gap(n) <= self.reach] for hit in self.marks("longer", "shorter")}
        return [(hit, min(found, key=hit.gap)) for hit, found in near.items() if found]

    def clause(self, at: int) -> range:
        """The characters of the clause around a place."""
        begin = max((each.end() for each in _CLAUSE.finditer(self.text, 0, at)), default=0)
        end = _CLAUSE.search(self.text, at)
        return range(begin, end.start() if end else len(self.text))

    def abouts(self) -> list[str]:
        """The subjects of checks: words of the vocabulary, and where a check has none, the words after it."""
        told = {hit.start: hit.key for hit in self.hits["about"]}
        for hit in [each for each in self.hits["steps"] if each.key == "check"]:
            literal, clause = self.clause_after(hit.end), self.clause(hit.start)
            if len(literal) > 1 and not any(each.start in clause for each in self.hits["about"]):
                told[hit.end] = literal
        return list(dict.fromkeys(told[at] for at in sorted(told)))

    def clause_after(self, place: int) -> str:
        """The words from a place to the end of their clause; "" when the clause contains a mark or a number."""
        stop = self.clause(place).stop
        inside = any(place <= each.start < stop for each in (*self.hits["marks"], *self.numbers))
        return "" if inside or stop - place > self.reach * 3 else self.text[place:stop].strip()

    @property
    def temperature(self) -> float | None:
        """The temperature that is named; of "from 0.7 to 0.4" the second."""
        places = [range(mark.end, mark.end + _FAR) for mark in self.marks("temperature")]
        near = [each for each in self.numbers if each.value <= 2 and any(each.start in place for place in places)]
        ends = [each for each in near[1:2] if any(near[0].end <= to.start < each.start for to in self.marks("to"))]
        return (ends or near)[0].value if near else None


def _numbers(text: str, table: Mapping[str, int], times: Mapping[str, int], other: Mapping[str, Any]) -> list[Hit]:
    """Numbers in digits and in words, with what multiplies them: 四千五百, 20,000, three thousand.

    `other`: words that only begin like a number, such as 一点.
    """
    found = [Hit("", at.start(), at.end(), float(at[0].replace(",", ""))) for at in _DIGITS.finditer(text)]
    found += [each._replace(value=table[each.key]) for each in _hits(text, {key: [key] for key in table} | dict(other))]
    made: list[Hit] = []
    for each in sorted(found, key=lambda number: number.start):
        if made and each.start < made[-1].end:
            continue
        for word, value in times.items():
            start = each.end + (text[each.end : each.end + 1] == " " and word.isascii())
            if text.startswith(word, start) and not (word.isascii() and _in_word(text, start + len(word))):
                each = each._replace(value=each.value * value, end=start + len(word))
                break
        if made and each.start == made[-1].end and each.value < made[-1].value:
            each = Hit("", made[-1].start, each.end, made.pop().value + each.value)
        made.append(each)
    return made


def _hits(text: str, entries: Mapping[str, Any]) -> list[Hit]:
    """All words of a table; where two overlap, the longer one."""
    found = [
        Hit(key, at, at + len(word))
        for key, listed in entries.items()
        for word in map(str.casefold, listed)
        for at in places(text, word)
    ]
    taken: list[Hit] = []
    for hit in sorted(found, key=lambda hit: (hit.start - hit.end, hit.start)):
        if all(hit.end <= other.start or hit.start >= other.end for other in taken):
            taken.append(hit)
    return sorted((hit for hit in taken if hit.key != "none"), key=lambda hit: hit.start)


def places(text: str, word: str) -> Iterator[int]:
    """The places at which a word begins; a Latin one must be a whole word."""
    at = text.find(word)
    while at >= 0 and word:
        latin = word[0].isascii() and word[0].isalnum()
        if not latin or not (_in_word(text, at - 1) or _in_word(text, at + len(word))):
            yield at
        at = text.find(word, at + 1)


def _in_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isascii() and text[at].isalnum()
