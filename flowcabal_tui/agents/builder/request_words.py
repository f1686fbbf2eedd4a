"""Finds the words of a vocabulary in the writer's request, with their places. Sentences are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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

    def __init__(self, text: str, language: str) -> None:
        self.said, self.tables = words(language), words("zh" if han_count(text) * 8 > len(text) else "en", "vocabulary")
        self.text = text[: self.tables["longest"]]
        self.folded = self.text.casefold().replace("’", "'")
        self.reach: int = self.tables["reach"]
        """Characters between two words that belong together."""
        listed = ("steps", "marks", "things", "keep", "about", "outside", "actions", "writer")
        forms: Mapping[str, Mapping[str, list[str]]] = self.tables["forms"]
        self.hits = {name: _hits(self.folded, self.tables[name], forms.get(name, {})) for name in listed}
        self.numbers = _numbers(self.folded, self.tables)
        self.clauses = [range(one.end(), other.start()) for one, other in pairwise(self.found("break"))]
        self.quoted = [WordHit(each[1] or each[2], *each.span()) for each in self.found("quoted")]

    def found(self, pattern: str) -> Iterable[re.Match[str]]:
        """The matches of a pattern of the vocabulary."""
        return re.finditer(self.tables["patterns"].get(pattern) or self.tables[pattern], self.text)

    def marks(self, *keys: str, denied: bool = True) -> list[WordHit]:
        """The hits of these marks or things; without `denied`, only those not preceded by a "not"."""
        listed = [hit for hit in (*self.hits["marks"], *self.hits["things"]) if hit.key in keys]
        return [hit for hit in listed if denied or not self.is_denied(hit)]

    def has(self, *keys: str) -> bool:
        """True when the request contains one of these marks."""
        return bool(self.marks(*keys))

    def is_denied(self, hit: WordHit) -> bool:
        """True when a "not" comes directly before the hit or around it."""
        nots = (n for n in self.hits["marks"] if n.key in ("not", "never") and n != hit)
        return any(n.start <= hit.start <= n.end + self.reach // 3 for n in nots)

    def is_later(self, start: int, end: int) -> bool:
        """True when a "before" belongs to the word at this place: before the polish, 润色之前."""
        befores, is_ahead = self.marks("before"), self.tables["is_ahead"]
        gaps = (start - each.end if is_ahead else each.start - end for each in befores)
        return any(0 <= gap <= self.tables["beside"] for gap in gaps)

    def verbs(self) -> list[WordHit]:
        """The hits of steps."""
        return [hit for hit in self.hits["steps"] if not self.is_denied(hit)]

    def named(self, names: Iterable[str]) -> list[WordHit]:
        """The hits of these names in the request, in order; the name is the key."""
        return _hits(self.folded, {name: [name] for name in names})

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
        near = {hit: [n for n in numbers if hit.gap(n) <= self.reach] for hit in self.marks("longer", "shorter")}
        return [(hit, min(found, key=hit.gap)) for hit, found in near.items() if found]

    @property
    def critics(self) -> list[WordHit]:
        """The numbers of critics: those of people in a clause with a word for criticism."""
        marks = [each.start for each in self.marks("improve")]
        return [n for n in self.numbers_by("people", 2, 8) if any(at in self.clause(n.start) for at in marks)]

    def picked(self) -> Iterable[tuple[WordHit, str]]:
        """Things that are counted and picked from in the same clause or the next, and that the vocabulary does not
        contain."""
        picks = [hit.start for hit in self.marks("pick", "choose", denied=False)]
        starts = [hit.start for name in ("steps", "marks", "things", "writer") for hit in self.hits[name]]
        for n in [each for each in self.numbers if 2 <= each.value <= 12]:
            till = self.clause(n.start).stop
            thing = re.match(
                self.tables["thing"], self.text[n.end : min([till, *(at for at in starts if at >= n.end)])]
            )
            if thing and any(n.end <= at <= till + self.reach for at in picks):
                yield n, thing[1].strip()

    def clause(self, at: int) -> range:
        """The characters of the clause around a place."""
        return next((each for each in self.clauses if at <= each.stop), range(0))

    def sentence(self, at: int) -> range:
        """The characters of the sentence around a place."""
        stops = [each.end() for each in self.found("stop")]
        return range(max((each for each in stops if each <= at), default=0), min(each for each in stops if each > at))

    @property
    def unsaid(self) -> list[WordHit]:
        """The words for the writer in clauses without a mark."""
        marked = {hit.start for hit in self.marks(*self.tables["parts"])}
        return [hit for hit in self.hits["writer"] if marked.isdisjoint(self.clause(hit.start))]

    def is_subject(self, about: WordHit) -> bool:
        """True for a word in a clause with a check, or without any step."""
        verbs = {each.key for each in self.verbs() if each.start in self.clause(about.start)}
        return not verbs or "check" in verbs

    def abouts(self) -> list[str]:
        """The subjects of checks: words of the vocabulary, and where a check has none, the words after it.

        A word directly behind another one belongs to it: 时间对不上. One in a clause with other steps and no check is
        the subject of these.
        """
        ends = [hit.end for hit in self.hits["about"]]
        known = [hit for hit in filter(self.is_subject, self.hits["about"]) if hit.start not in ends]
        words = {hit: self.folded[hit.start : hit.end] for hit in known}
        subjects = {hit.start: hit.key if word in hit.key else f"{hit.key} ({word})" for hit, word in words.items()}
        checks = [each for each in self.hits["steps"] if each.key == "check"]
        marks = (hit for hit in self.hits["marks"] if hit.key not in (*self.tables["links"], "longer", "shorter"))
        stops = [hit.start for hit in (*marks, *self.numbers, *checks)]
        for hit in checks:
            clause = self.clause(hit.start)
            rest = range(hit.end, clause.stop)
            is_plain = len(rest) <= self.reach * 3 and not any(at in rest for at in stops)
            if is_plain and not any(each.start in clause for each in self.hits["about"]):
                subjects[hit.end] = self.text[hit.end : clause.stop].strip()
        return list(dict.fromkeys(subjects[at] for at in sorted(subjects) if len(subjects[at]) > 1))

    def unread(self, names: Iterable[str], filled: str) -> list[str]:
        """The parts of the request that were not understood.

        These are clauses without a known word, a quotation or one of the names; those with a number, step or mark that
        the text of what was `filled` does not show; and those that give the writer a part for which there is no mark.
        """
        known = [hit for hits in self.hits.values() for hit in hits if hit.key not in self.tables["links"]]
        values = {each.value for each in _numbers(filled, self.tables)}
        used = [each for each in self.numbers if each.value in values]
        read = (*known, *used, *self.quoted, *self.named(names))
        places = {at for hit in read for at in range(hit.start, hit.end)}
        made = next(
            (name for name in ("shown", "acted", "changed") if re.search(self.tables["patterns"][name], filled)), "none"
        )
        shown: dict[str, list[str]] = self.tables.get(made, {})
        wanted = shown | {hit.key: [hit.key] for hit in filter(self.is_subject, self.hits["about"] if shown else ())}
        acts = {at for hit in self.hits["actions"] if made == "acted" for at in range(hit.start, hit.end)}
        missed = [hit for hit in known if not any(each in filled for each in wanted.get(hit.key, [""]))]
        lost = {hit.start for hit in (*self.numbers, *self.unsaid) if hit.value > 1 or hit.key} - places
        lost |= {hit.start for hit in missed if not self.is_denied(hit) and acts.isdisjoint(range(hit.start, hit.end))}
        unread = [each for each in self.clauses if places.isdisjoint(each) or not lost.isdisjoint(each)]
        return [text for each in unread if len(text := self.text[each.start : each.stop].strip()) > 1]

    @property
    def temperature(self) -> float | None:
        """The temperature in the request; of "from 0.7 to 0.4" the second."""
        places = [range(mark.end, mark.end + self.tables["far"]) for mark in self.marks("temperature")]
        near = [each for each in self.numbers if each.value <= 2 and any(each.start in place for place in places)]
        ends = [each for each in near[1:2] if any(near[0].end <= to.start < each.start for to in self.marks("to"))]
        return (ends or near)[0].value if near else None


def _numbers(text: str, tables: Mapping[str, Any]) -> list[WordHit]:
    """Numbers in digits and in words, with their multipliers: 四千五百, 20,000, three thousand.

    The words of `no_number` only begin like a number, such as 一点.
    """
    values, times, none = tables["numbers"], tables["times"], _any_of(tables["no_number"]["none"])
    one = f"{tables['patterns']['digits']}|{_any_of(values)}"
    number = re.compile(rf"{none}|({one})((?: ?(?:{'|'.join(times)})(?![a-z]))*)")
    made: list[WordHit] = []
    for at in [each for each in number.finditer(text) if each[1]]:
        value = values[at[1]] if at[1] in values else float(at[1].replace(",", ""))
        value *= prod(times[each] for each in re.findall("|".join(times), at[2]))
        if made and at.start() == made[-1].end and value < made[-1].value:
            made[-1] = made[-1]._replace(end=at.end(), value=made[-1].value + value)
        else:
            made.append(WordHit("", *at.span(), value))
    return made


def _hits(text: str, entries: Mapping[str, list[str]], forms: Mapping[str, list[str]] | None = None) -> list[WordHit]:
    """All words and forms of a table; where two overlap, the longer one."""
    folded = ((key, word.casefold()) for key, listed in entries.items() for word in listed if word)
    patterns = [(key, _any_of([word])) for key, word in folded if word in text]
    patterns += [(key, form) for key, listed in (forms or {}).items() for form in listed]
    found = [WordHit(key, *at.span()) for key, pattern in patterns for at in re.finditer(pattern, text)]
    taken: list[WordHit] = []
    for hit in sorted(found, key=lambda hit: (hit.start - hit.end, hit.start)):
        if all(hit.end <= other.start or hit.start >= other.end for other in taken):
            taken.append(hit)
    return sorted((hit for hit in taken if hit.key != "none"), key=lambda hit: hit.start)


def _any_of(words: Iterable[str]) -> str:
    """A pattern for one of these words, longer ones first; a Latin word must match as a whole."""
    ordered = map(re.escape, sorted(words, key=len, reverse=True))
    return "|".join(rf"(?<![a-z0-9]){each}(?![a-z0-9])" if re.match("[a-z0-9]", each) else each for each in ordered)
