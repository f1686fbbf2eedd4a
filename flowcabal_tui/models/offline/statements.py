"""Statements of single sentences, found by the patterns of a language: additions of a chapter, states,
contradictions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.models.offline.reading import PERSON, ListedName, MaskedSentence
from flowcabal_tui.models.offline.words import LanguageTables, Row

Values = dict[str, Any]
_CLAUSE: Final = re.compile("[,;:，；：—]")


def stated(found: Sequence[MaskedSentence], words: LanguageTables, kind: str) -> Iterator[Values]:
    """The values that the patterns of a kind yield for each sentence, with the sentence as the quotation."""
    for row in (row for row in words.rows if row.kind == kind):
        for line in found:
            for match in _matches(row, line, words)[:1]:
                values = {key: _value(given, line, match) for key, given in row.gives.items()}
                if [] not in values.values():
                    yield {**values, "quote": line.text}


def _matches(row: Row, line: MaskedSentence, words: LanguageTables) -> list[re.Match[str]]:
    """The places of the first form that fits, in a sentence that counts."""
    text = line.masked
    if row.unless.search(text) or row.around.search(line.paragraph) or not row.needs.search(text):
        return []
    found = next(filter(None, ([*form.finditer(text)] for form in row.form)), [])
    return [match for match in found if row.reported or not words.patterns["untrue"].search(_clause(text, match))]


def _clause(text: str, match: re.Match[str]) -> str:
    """The clause in which a match begins."""
    return _CLAUSE.split(text[: match.start()])[-1] + _CLAUSE.split(text[match.start() :])[0]


def _value(given: str | bool | list[str], line: MaskedSentence, match: re.Match[str]) -> str | bool | list[str]:
    """A value that a row gives, filled with the words of the groups; a list holds the names in one of them."""
    spans = {key: match.span(key) for key, words in match.groupdict().items() if words}
    if isinstance(given, list):
        return next(filter(None, (line.named(*spans.get(group, ())) for group in given)), [])
    words = {key: line.text[start:end].strip("，,：: ") for key, (start, end) in spans.items()}
    names = {key: line.at[spans[key][0]].chief for key in "ab" if key in spans}
    return given if isinstance(given, bool) else given.format_map({"line": line.text, **words, **names})


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A state of a person or thing: an attribute and its value. `span` is the place of the value in `line`."""

    what: tuple[str, str]
    value: str
    said: str
    line: MaskedSentence
    span: tuple[int, int]
    row: Row


def facts(found: Sequence[MaskedSentence], words: LanguageTables) -> list[StatedFact]:
    """The states of the sentences. Several values for one thing in a sentence are a change, not a state."""
    kept: list[StatedFact] = []
    for line in found:
        here = [fact for row in words.rows if row.attribute for fact in _facts(line, row, words)]
        values = [what for what, _value in {(fact.what, fact.value) for fact in here}]
        kept += [fact for fact in here if values.count(fact.what) == 1]
    return kept


def _facts(line: MaskedSentence, row: Row, words: LanguageTables) -> Iterator[StatedFact]:
    """The states of a row; a statement in direct speech is none."""
    text, needed = line.masked, row.needs.search(line.masked)
    for match in _matches(row, line, words):
        groups_found = {**(needed.groupdict() if needed else {}), **match.groupdict()}
        groups = {key: words.same.get(word.lower(), word.lower()) for key, word in groups_found.items() if word}
        span = match.span() if row.value else match.span("value")
        subject = line.at[match.start("a")] if "a" in groups else _nearest(line, row, span[0])
        narrated = text.count("“", 0, span[0]) <= text.count("”", 0, span[0])
        if subject and narrated and (subject.kind == PERSON or not row.person):
            what = (subject.chief, row.attribute.format_map(groups))
            yield StatedFact(what, row.value or groups["value"], line.text[slice(*match.span())], line, span, row)


def _nearest(line: MaskedSentence, row: Row, at: int) -> ListedName | None:
    """The name nearest before a place, else the first one after it."""
    fitting = [place for place, name in line.at.items() if name.kind == PERSON or not row.person]
    if row.near:
        fitting = [place for place in fitting if not _CLAUSE.search(line.masked, *sorted((max(place, 0), at)))]
    place = max((place for place in fitting if place < at), default=min(fitting, default=None))
    return None if place is None else line.at[place]


Clash = tuple[StatedFact, StatedFact]
"""A fact of a draft, and the latest fact of a source that it disagrees with."""


def clashes(draft: Sequence[StatedFact], sources: Sequence[StatedFact]) -> list[Clash]:
    """Each fact of the draft that no source supports and a source contradicts; `sources` in story order."""
    found: list[Clash] = []
    for fact in draft:
        stated = [each for each in sources if each.what == fact.what and each.row.binds.search(each.line.masked)]
        if stated and fact.value not in {each.value for each in stated}:
            by_name = [each for each in stated if -1 not in each.line.at]
            found.append((fact, (by_name or stated)[-1]))
    return found


def corrected(text: str, wrong: Sequence[Clash]) -> str:
    """`text` with the source's words in place of each wrong value; a sentence without a correct value is removed."""
    for fact, source in sorted(wrong, key=lambda clash: -(clash[0].line.start + clash[0].span[0])):
        at = fact.line.start
        if fact.row.value:
            text = text[:at] + text[at + len(fact.line.text) :].lstrip(" ")
        else:
            text = text[: at + fact.span[0]] + source.line.masked[slice(*source.span)] + text[at + fact.span[1] :]
    return text
