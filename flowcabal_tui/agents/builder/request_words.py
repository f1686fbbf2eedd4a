"""Finds the words of a vocabulary in the writer's request, with their places. Sentences are not parsed."""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.domain.text import han_count


class WordHit(NamedTuple):
    """A word of the vocabulary in the request: its entry, its place, and its number, if it has one."""

    key: str
    start: int
    end: int
    value: float = 0

    def gap(self, other: WordHit) -> int:
        """The number of characters between the two hits."""
        return max(other.start - self.end, self.start - other.end)


class BuildRequest:
    """The writer's request with all words of the vocabulary in it; `language` is that of the workflow."""

    def __init__(self, text: str, language: str, models: Iterable[str] = ()) -> None:
        self.phrases = words(language)
        self.tables = words("zh" if han_count(text) * 8 > len(text) else "en", "vocabulary")
        self.text = text[: self.tables["longest"]]
        self.folded = self.text.casefold().replace("’", "'")
        self.reach: int = self.tables["reach"]
        """Characters between two words that belong together."""
        forms: Mapping[str, Mapping[str, list[str]]] = self.tables["forms"]
        self.hits = {name: _hits(self.folded, self.tables[name], forms.get(name, {})) for name in self.tables["listed"]}
        self.numbers = _numbers(self.folded, self.tables)
        self.clause, self.sentence = self._around("break"), self._around("stop")
        self.quoted = [WordHit(each[1] or each[2], *each.span()) for each in self.found("quoted")]
        self.models = self.named(models)
        nots = self.marks("not", "never")
        self.denied = places(WordHit("", hit.start, hit.end + self.reach // 3 + 1) for hit in nots)
        """The places of words directly after a "not"."""
        self.verbs = [hit for hit in self.hits["steps"] if hit.start not in self.denied]
        busy = self.clauses_of(self.verbs) - self.clauses_of(hit for hit in self.verbs if hit.key == "check")
        self.subjects = [hit for hit in self.hits["about"] if self.clause[hit.start] not in busy]
        """The subjects of checks. One in a clause with other steps and no check is the subject of these."""
        sides = [each.end if self.tables["is_ahead"] else -each.start for each in self.marks("before")]
        self.ahead = {side + gap for side in sides for gap in range(self.tables["beside"] + 1)}
        """Where words to which a "before" belongs can start; if it follows them, their ends as negative numbers."""
        marked = self.clauses_of(self.marks(*self.tables["parts"]))
        self.unsaid = [hit for hit in self.hits["writer"] if self.clause[hit.start] not in marked]
        """The words for the writer in clauses without a mark."""
        critical = self.clauses_of(self.marks("improve"))
        self.critics = [n for n in self.numbers_by("people", 2, 8) if self.clause[n.start] in critical]
        """The numbers of critics: those of people in a clause with a word for criticism."""

    def found(self, pattern: str) -> Iterable[re.Match[str]]:
        """The matches of a pattern of the vocabulary."""
        return re.finditer(self.tables["patterns"].get(pattern) or self.tables[pattern], self.text)

    def _around(self, pattern: str) -> list[range]:
        """For each character, the part of the text around it, with the first character of what ends the part."""
        ends = [(one.end(), other.start() + 1, other.end()) for one, other in pairwise(self.found(pattern))]
        return [range(start, stop) for start, stop, end in ends for _at in range(start, max(stop, end))]

    def clauses_of(self, hits: Iterable[WordHit]) -> set[range]:
        """The clauses with these hits."""
        return {self.clause[hit.start] for hit in hits}

    def words(self, part: range) -> str:
        """The text of a clause or sentence."""
        return self.text[part.start : part.stop - 1].strip()

    def marks(self, *keys: str, denied: bool = True) -> list[WordHit]:
        """The hits of these marks or things; without `denied`, only those not preceded by a "not"."""
        listed = [hit for hit in (*self.hits["marks"], *self.hits["things"]) if hit.key in keys]
        return [hit for hit in listed if denied or hit.start not in self.denied]

    def has(self, *keys: str) -> bool:
        """True when the request contains one of these marks."""
        return bool(self.marks(*keys))

    def is_later(self, hit: WordHit) -> bool:
        """True when a "before" belongs to the hit: before the polish, 润色之前."""
        return (hit.start if self.tables["is_ahead"] else -hit.end) in self.ahead

    def named(self, names: Iterable[str]) -> list[WordHit]:
        """The hits of these names in the request, in order; the name is the key."""
        return _hits(self.folded, {name: [name.casefold()] for name in names if name})

    def numbers_by(self, unit: str, least: float, most: float) -> list[WordHit]:
        """The numbers followed by a word of a unit, with at most one other word in between."""
        units: dict[str, list[str]] = self.tables["units"]
        own, other = "|".join(units[unit]), "|".join(word for each in units.values() for word in each)
        behind = re.compile(rf"\s*(?:{own}|(?!{other})[^\s,]{{0,{self.reach // 2}}}?\s*(?:{own}))")
        sized = [each for each in self.numbers if least <= each.value <= most]
        return [n for n in sized if behind.match(self.folded, n.end) or self.folded[n.start : n.end] in units[unit]]

    def bounds(self, least: float = 0) -> list[tuple[WordHit, WordHit]]:
        """ "Longer" and "shorter" with the adjacent number of at least this size: 超过两万字, 两万字以上."""
        numbers = [each for each in self.numbers if each.value >= least]
        pairs = [(hit, n) for hit in self.marks("longer", "shorter") for n in beside(numbers, hit.start)]
        near = dict(sorted(pairs, key=lambda pair: -pair[0].gap(pair[1])))
        return [(hit, near[hit]) for hit in sorted(near, key=lambda hit: hit.start) if hit.gap(near[hit]) <= self.reach]

    def picked(self) -> Iterable[tuple[WordHit, str]]:
        """Things unknown to the vocabulary that are counted, and picked from in the same clause or the next."""
        picks = [hit.start for hit in self.marks("pick", "choose", denied=False)]
        starts = sorted(hit.start for name in ("steps", "marks", "things", "writer") for hit in self.hits[name])
        for n in [each for each in self.numbers if picks and 2 <= each.value <= 12]:
            ends = [self.clause[n.start][-1], *starts[bisect_left(starts, n.end) :][:1]]
            thing = re.match(self.tables["thing"], self.text[n.end : min(ends)])
            if thing and any(n.end <= at <= ends[0] + self.reach for at in picks):
                yield n, thing[1].strip()

    def abouts(self) -> list[str]:
        """The subjects of checks: words of the vocabulary, and where a check has none, the words after it.

        A word directly behind another one belongs to it: 时间对不上.
        """
        ends, clauses = {hit.end for hit in self.hits["about"]}, self.clauses_of(self.hits["about"])
        words = {hit: self.folded[hit.start : hit.end] for hit in self.subjects if hit.start not in ends}
        both = self.tables["both"].format
        subjects = {hit.start: hit.key if word in hit.key else both(hit.key, word) for hit, word in words.items()}
        stops = {hit.start for hit in (*self.hits["marks"], *self.numbers) if hit.key not in self.tables["joining"]}
        checks = [hit for hit in self.hits["steps"] if hit.key == "check" and self.clause[hit.start] not in clauses]
        for hit in checks:
            rest = range(hit.end, self.clause[hit.start].stop)
            if len(rest) <= self.reach * 3 and stops.isdisjoint(rest[:-1]):
                subjects[hit.end] = re.sub(self.tables["particles"], "", self.words(rest)).strip()
        return list(dict.fromkeys(subjects[at] for at in sorted(subjects) if len(subjects[at]) > 1))

    def unread(self, names: Iterable[str], filled: str, made: str) -> list[str]:
        """The parts of the request that were not understood.

        These are clauses without a known word, a quotation or one of the names; those with a number, step or mark that
        the text of what was `filled` does not show, by the words of the table `made`; and those that give the writer a
        part for which there is no mark.
        """
        known = [hit for hits in self.hits.values() for hit in hits if hit.key not in self.tables["links"]]
        values = {each.value for each in _numbers(filled, self.tables)}
        read = places((*known, *(n for n in self.numbers if n.value in values), *self.quoted, *self.named(names)))
        acts = places(self.hits["actions"] if made == "acted" else ())
        shown = self.tables[made] | {hit.key: [hit.key] for hit in self.subjects}
        missed = [hit for hit in known if not any(each in filled for each in shown.get(hit.key, [""]))]
        lost = {hit.start for hit in (*self.numbers, *self.unsaid) if hit.value > 1 or hit.key} - read
        lost |= {hit.start for hit in missed} - self.denied - acts
        unread = (part for part in dict.fromkeys(self.clause) if read.isdisjoint(part) or not lost.isdisjoint(part))
        return [words for part in unread if len(words := self.words(part)) > 1]

    @property
    def temperature(self) -> float | None:
        """The temperature in the request, the second one of "from 0.7 to 0.4"; None if it names none."""
        behind = places(WordHit("", mark.end, mark.end + self.tables["far"]) for mark in self.marks("temperature"))
        near = [each for each in self.numbers if each.value <= 2 and each.start in behind]
        ends = [each for each in near[1:2] if any(near[0].end <= to.start < each.start for to in self.marks("to"))]
        return (ends or near)[0].value if near else None


def beside(hits: Sequence[WordHit], at: int) -> Sequence[WordHit]:
    """The hits on both sides of a place."""
    behind = bisect(hits, at, key=lambda each: each.start)
    return hits[max(behind - 1, 0) : behind + 1]


def places(hits: Iterable[WordHit]) -> set[int]:
    """The places of all characters of these hits."""
    return {at for hit in hits for at in range(hit.start, hit.end)}


def _numbers(text: str, tables: Mapping[str, Any]) -> list[WordHit]:
    """Numbers in digits and in words, with their multipliers: 四千五百, 20,000, three thousand.

    The words of `no_number` only begin like a number, such as 一点.
    """
    values, times, none = tables["numbers"], tables["times"], _any_of(tables["no_number"]["none"])
    one = f"{tables['patterns']['digits']}|{_any_of(values)}"
    number = re.compile(rf"{none}|({one})((?: ?(?:{'|'.join(times)})(?![a-z]))*)")
    made: list[WordHit] = []
    for at in [each for each in number.finditer(text) if each[1]]:
        value = float(values.get(at[1]) or at[1].replace(",", ""))
        value *= prod(times[each] for each in re.findall("|".join(times), at[2]))
        if made and at.start() == made[-1].end and value < made[-1].value:
            made[-1] = made[-1]._replace(end=at.end(), value=made[-1].value + value)
        else:
            made.append(WordHit("", *at.span(), value))
    return made


def _hits(text: str, entries: Mapping[str, list[str]], forms: Mapping[str, list[str]] | None = None) -> list[WordHit]:
    """All words and forms of a table; where two overlap, the longer one."""
    patterns = [(key, _any_of([word])) for key, listed in entries.items() for word in listed if word in text]
    patterns += [(key, form) for key, listed in (forms or {}).items() for form in listed]
    found = [WordHit(key, *at.span()) for key, pattern in patterns for at in re.finditer(pattern, text)]
    taken, free = [], bytearray(b"1" * len(text))
    for hit in sorted(found, key=lambda hit: (hit.start - hit.end, hit.start)):
        if free[hit.start : hit.end].isdigit():
            free[hit.start : hit.end] = b"-" * (hit.end - hit.start)
            taken.append(hit)
    return sorted((hit for hit in taken if hit.key != "none"), key=lambda hit: hit.start)


def _any_of(words: Iterable[str]) -> str:
    """A pattern for one of these words, longer ones first; a Latin word must match as a whole."""
    ordered = map(re.escape, sorted(words, key=len, reverse=True))
    return "|".join(rf"(?<![a-z0-9]){each}(?![a-z0-9])" if re.match("[a-z0-9]", each) else each for each in ordered)
