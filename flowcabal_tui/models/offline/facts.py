"""States in single sentences, found by the table of states, and contradictions between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from flowcabal_tui.models.offline.reading import PERSON, Line, Name, lines
from flowcabal_tui.models.offline.words import State, Words, words_of

_CLAUSE: Final = re.compile("[,;:，；：—]")


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement about a person or thing. `said` are its words, `start`/`end` the place of the value in `line`."""

    subject: str
    attribute: str
    value: str
    said: str
    line: Line
    start: int
    end: int
    row: State

    @property
    def what(self) -> tuple[str, str]:
        return self.subject, self.attribute

    @property
    def binds(self) -> bool:
        """True when it contradicts a draft with another value."""
        return self.row.binds.search(self.line.masked) is not None


Clash = tuple[Fact, Fact]
"""A fact of a draft, and the latest fact of a source that it disagrees with."""


def facts_in(text: str, names: Sequence[Name], chinese: bool, title: str = "") -> list[Fact]:
    """The facts of every sentence. One that names nobody is about the title of its note."""
    return [fact for line in lines(text, names, chinese, title) for fact in facts_of(line, words_of(chinese))]


def facts_of(line: Line, words: Words) -> list[Fact]:
    """The facts of a sentence. Several values for one thing are a change, not a state."""
    found = [fact for row in words.states for fact in _by_row(line, row, words)]
    values = [what for what, _value in {(fact.what, fact.value) for fact in found}]
    return [fact for fact in found if values.count(fact.what) == 1]


def _by_row(line: Line, row: State, words: Words) -> Iterator[Fact]:
    """What is said in speech, dreamt, wished or denied is no fact."""
    text = line.masked
    if not row.needs.search(text) or row.unless.search(text) or row.around.search(line.paragraph):
        return
    for match in row.form.finditer(text):
        groups = {key: group.lower() for key, group in match.groupdict().items() if group}
        start, end = match.span() if row.value else match.span("value")
        clause = _clause(text, start)
        subject = line.at[match.start("a")] if "a" in groups else _nearest(line, row, start, clause, words)
        spoken = text[:start].count("“") > text[:start].count("”")
        if subject and _fits(subject, row) and not spoken and not words.pattern("untrue").search(text, *clause):
            value = row.value or words.same.get(groups["value"], groups["value"])
            yield Fact(subject.chief, row.attribute.format_map(groups), value, match[0], line, start, end, row)


def _fits(name: Name, row: State) -> bool:
    return name.kind == PERSON or not row.person


def _clause(text: str, at: int) -> tuple[int, int]:
    """Where the clause lies that holds a place."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    return next(((a, b) for a, b in pairwise(cuts) if a <= at < b), (0, len(text)))


def _nearest(line: Line, row: State, at: int, clause: tuple[int, int], words: Words) -> Name | None:
    """The name nearest before a place, else the first one after it, or the one after it of which it is an attribute."""
    begin, end = clause if row.near else (0, len(line.masked))
    fitting = [(place, name) for place, name in line.at.items() if begin <= place < end and _fits(name, row)]
    before = [name for place, name in fitting if place < at]
    for place, name in fitting:
        if place > at and (not before or (not row.person and words.pattern("of").fullmatch(line.masked[at:place]))):
            return name
    return before[-1] if before else None


def clashes(draft: Sequence[Fact], sources: Sequence[Fact]) -> list[Clash]:
    """Each fact of the draft that no source supports and a source contradicts; `sources` in story order."""
    found: list[Clash] = []
    for fact in draft:
        said = [each for each in sources if each.what == fact.what and each.binds]
        if said and fact.value not in {each.value for each in said}:
            by_name = [each for each in said if not each.line.added]
            found.append((fact, (by_name or said)[-1]))
    return found


def corrected(text: str, wrong: Sequence[Clash]) -> str:
    """`text` with the source's words in place of each wrong value; where there is none, without the sentence."""
    for fact, source in sorted(wrong, key=lambda clash: -(clash[0].line.start + clash[0].start)):
        at = fact.line.start
        if fact.row.value:
            text = text[:at] + text[at + len(fact.line.text) :].lstrip(" ")
        else:
            told = source.line.masked[source.start : source.end]
            text = text[: at + fact.start] + told + text[at + fact.end :]
    return text
