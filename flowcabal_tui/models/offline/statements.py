"""Statements of single sentences, found by the patterns of a language: additions of a chapter, states,
contradictions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from flowcabal_tui.models.offline.reading import PERSON, ListedName, MaskedSentence
from flowcabal_tui.models.offline.words import LanguageTables, Row

Values = dict[str, Any]
_SPOKEN: Final = re.compile('[“「『"][^”」』"]*$')
_CLAUSE: Final = re.compile("[,;:，；：—]")


def stated(found: Iterable[MaskedSentence], words: LanguageTables, kind: str) -> Iterator[Values]:
    """The values of the first row of a kind that fits a sentence, for each sentence, which is the quotation."""
    for line in found:
        matches = [(row.gives, match) for row in words.rows[kind] for match in _matches(row, line, words)[:1]]
        answers = [{key: _value(given, line, match) for key, given in gives.items()} for gives, match in matches]
        complete = [values for values in answers if [] not in values.values()]
        yield from ({**values, "quote": line.text} for values in complete[:1])


def _matches(row: Row, line: MaskedSentence, words: LanguageTables) -> list[re.Match[str]]:
    """The places outside direct speech of the first form that fits, in a sentence that counts."""
    text = line.masked
    if row.unless.search(line.paragraph) or not row.needs.search(text):
        return []
    found = next(filter(None, ([*form.finditer(text)] for form in row.form)), [])
    narrated = [(match, match.start()) for match in found if not _SPOKEN.search(text[: match.start()])]
    clauses = [(match, _CLAUSE.split(text[:at])[-1] + _CLAUSE.split(text[at:])[0]) for match, at in narrated]
    return [match for match, clause in clauses if row.reported or not words.patterns["untrue"].search(clause)]


def _value(given: str | bool | list[str], line: MaskedSentence, match: re.Match[str]) -> str | bool | list[str]:
    """A value that a row gives, filled with the words of the groups; a list holds the names in one of them."""
    spans = {key: match.span(key) for key, words in match.groupdict().items() if words}
    if isinstance(given, list):
        return next(filter(None, (line.named(*spans.get(group, ())) for group in given)), [])
    words = {key: line.text[start:end].strip("，,：: ") for key, (start, end) in spans.items()}
    names = {key: line.at[spans[key][0]].chief for key in "ab" if key in spans}
    return given if isinstance(given, bool) else given.format_map({"line": line.text, **words, **names})


class StatedFact(NamedTuple):
    """A state of a person or thing: an attribute and its value. `span` is what a correction replaces in `line`:
    the value, or the whole sentence where the row has a value."""

    what: tuple[str, str]
    value: str
    phrase: str
    line: MaskedSentence
    span: tuple[int, int]
    row: Row


def facts(found: Iterable[MaskedSentence], words: LanguageTables) -> Iterator[StatedFact]:
    """The states of the sentences. Several values for one thing in a sentence are a change, not a state."""
    for line in found:
        here = [fact for row in words.rows["states"] for fact in _facts(line, row, words)]
        values = [what for what, _value in {(fact.what, fact.value) for fact in here}]
        yield from (fact for fact in here if values.count(fact.what) == 1)


def _facts(line: MaskedSentence, row: Row, words: LanguageTables) -> Iterator[StatedFact]:
    """The states of a row."""
    needed = row.needs.search(line.masked)
    for match in _matches(row, line, words):
        groups_found = {**(needed.groupdict() if needed else {}), **match.groupdict()}
        groups = {key: words.same.get(word.lower(), word.lower()) for key, word in groups_found.items() if word}
        span = (0, len(line.text)) if row.value else match.span("value")
        subject = line.at[match.start("a")] if "a" in groups else _nearest(line, row, span[0])
        if subject and (subject.kind == PERSON or not row.lasting):
            what = (subject.chief, row.attribute.format_map(groups))
            yield StatedFact(what, row.value or groups["value"], line.text[slice(*match.span())], line, span, row)


def _nearest(line: MaskedSentence, row: Row, at: int) -> ListedName | None:
    """The name nearest before a place, else the first one after it."""
    fitting = [place for place, name in line.at.items() if name.kind == PERSON or not row.lasting]
    if row.near:
        fitting = [place for place in fitting if not _CLAUSE.search(line.masked, *sorted((max(place, 0), at)))]
    place = max((place for place in fitting if place < at), default=min(fitting, default=None))
    return None if place is None else line.at[place]


Clash = tuple[StatedFact, StatedFact]
"""A fact of a draft, and the latest fact of a source that it disagrees with, from a sentence with the name if any."""


def clashes(draft: Iterable[StatedFact], sources: Sequence[StatedFact]) -> Iterator[Clash]:
    """Each fact of the draft that no source supports and a source contradicts; `sources` in story order."""
    for fact in draft:
        stated = [each for each in sources if each.what == fact.what and each.row.binds.search(each.line.masked)]
        if stated and fact.value not in {each.value for each in stated}:
            yield fact, max(reversed(stated), key=lambda each: -1 not in each.line.at)


def corrected(text: str, wrong: Iterable[Clash]) -> str:
    """`text` with the source's words in place of each wrong value; a sentence without a correct value is removed."""
    for fact, source in sorted(wrong, key=lambda clash: -(clash[0].line.start + clash[0].span[0])):
        start, end = (fact.line.start + at for at in fact.span)
        right = "" if fact.row.value else source.line.text[slice(*source.span)]
        text = text[:start] + right + text[end:].removeprefix("" if right else " ")
    return text
