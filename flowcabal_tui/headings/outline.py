"""Reads an outline: its headings, and the text below each. The text itself is never changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.outline import Outline, OutlinePart, PartKind
from flowcabal_tui.headings.contents import without_contents
from flowcabal_tui.headings.levels import outline_lines
from flowcabal_tui.headings.lines import HeadingLine
from flowcabal_tui.headings.numerals import NUMERAL, chinese_number, leading_number
from flowcabal_tui.headings.rules import heading_of, possible_headings, title_words

_TO: Final = r"[ \t]*(?:[-–—~～至到]|to)[ \t]*"
_MARKS: Final = " \t\u3000#*•-"
_BEGINS: Final = rf"(?<![^\n])[{_MARKS}]*"
"""The marks at the beginning of a line."""
_SEVERAL_ZH: Final = re.compile(
    rf"{_BEGINS}(?P<title>第?(?P<first>{NUMERAL})[章回]?{_TO}第?(?P<last>{NUMERAL})[章回].*)"
)
_SEVERAL_EN: Final = re.compile(
    rf"{_BEGINS}(?P<title>chapters[ \t]+(?P<first>\d{{1,9}}){_TO}(?P<last>\d{{1,9}})\b.*)", re.IGNORECASE
)
_AT_ONCE: Final = re.compile(
    rf"{_BEGINS}(?P<title>第[ \t]*{NUMERAL}[ \t]*[章回]|chapter[ \t]+(?:\d{{1,9}}|[ivxlc]+))\*{{0,2}}"
    r"[ \t]*[:：—–.、]+[ \t]*(?=\S|\n|\Z)",
    re.IGNORECASE,
)
"""A heading whose beats follow in the same line (第三章：雪夜里，他回来了。), or that ends with a colon."""
_LISTED: Final = re.compile(rf"^(?P<number>\d{{1,4}}|{NUMERAL})\s*[.、．)）:：]\s*(?=\S|\Z)")
_LEAST_LISTED: Final = 2


@dataclass(frozen=True, slots=True)
class _Found:
    """A heading and where the words below it begin."""

    kind: PartKind
    title: str
    heading: Span
    begins: int
    number: int | None
    level: int
    last: int | None = None
    volume: str = ""


@lru_cache(maxsize=8)
def read_outline(text: str) -> Outline:
    """The tree of an outline; one part for the book when there are no headings."""
    found = [*_headed(text)] or [*_listed(text)]
    return Outline(text, tuple(_parts(text, _of_book([*_with_volumes(found)]))))


def _headed(text: str) -> Iterator[_Found]:
    """By the rules of imports; a number alone only where nothing else is a chapter's heading."""
    places = possible_headings(text)
    lines = outline_lines(text, places, bare=False)
    headed = {line.at for line in lines if line.heading}
    own = {at: each for at in places if (each := _several(text, at) or (None if at in headed else _at_once(text, at)))}
    chapters = [line.heading for line in lines if line.heading and line.heading.kind == "chapter"]
    if not own and len(chapters) <= 1 and not any(each.number is not None for each in chapters):
        counted = outline_lines(text, places, bare=True)
        lines = counted if sum(_is_chapter(line) for line in counted) > 1 else lines
    kept, listed = without_contents(lines)
    remains = {line.at for line in kept} if listed else None
    for line in lines:
        if line.at in own:
            yield own[line.at]
        elif (heading := line.heading) is not None and (remains is None or line.at in remains):
            kind: PartKind = "volume" if heading.kind == "volume" else "chapter"
            end = line.at + len(line.text)
            yield _Found(
                kind, heading.title, Span(line.at, end), end, heading.number, line.level, volume=heading.volume
            )


def _is_chapter(line: HeadingLine) -> bool:
    return line.heading is not None and line.heading.kind == "chapter"


def _several(text: str, at: int) -> _Found | None:
    """A heading of several chapters in the line that begins at `at`."""
    for pattern, number in ((_SEVERAL_ZH, chinese_number), (_SEVERAL_EN, int)):
        if match := pattern.match(text, at):
            first, last = number(match["first"]), number(match["last"])
            if first is not None and last is not None and first < last:
                span = Span(*match.span())
                return _Found("chapter", match["title"].strip(_MARKS), span, span.end, first, 0, last)
    return None


def _at_once(text: str, at: int) -> _Found | None:
    """A numbered heading that is too much of a sentence for the title of a chapter: the sentence is the beat."""
    match = _AT_ONCE.match(text, at)
    if match is None:
        return None
    title = " ".join(match["title"].split())
    number = leading_number(title[7:].lstrip())[0] if title[0] in "Cc" else chinese_number(title[1:-1].strip())
    return _Found("chapter", title, Span(*match.span()), match.end(), number, 0)


def _listed(text: str) -> Iterator[_Found]:
    """A plain list that counts from one: each item is a chapter, and the text of the item is its beat."""
    found: list[_Found] = []
    at = 0
    for line in text.split("\n"):
        if (match := _LISTED.match(line)) and chinese_number(match["number"]) == len(found) + 1:
            span = Span(at, at + match.end())
            found.append(_Found("chapter", match["number"], span, span.end, len(found) + 1, 0))
        at += len(line) + 1
    if len(found) >= _LEAST_LISTED:
        yield from found


def _of_book(found: Sequence[_Found]) -> Iterator[_Found]:
    """A heading above all volumes and chapters is the book's title, and the text below it the book's own text."""
    above = [each for each in found if each.kind == "volume" and each.level]
    first_level = min((each.level for each in found if each.level), default=0)
    levels = {each.level for each in above}
    only = len(above) == 1 or len(levels) > 1
    for place, each in enumerate(found):
        is_title = only and place == 0 and each in above and each.level == first_level and each.number is None
        is_title = is_title and sum(other.level == first_level for other in above) == 1
        yield replace(each, kind="book") if is_title and not each.volume else each


def _parts(text: str, found: Iterable[_Found]) -> Iterator[OutlinePart]:
    """In the order of the text, each with its parent; the book's own words first."""
    headings = list(found)
    if not headings or headings[0].kind != "book" or text[: headings[0].heading.start].strip():
        headings.insert(0, _Found("book", "", Span(0, 0), 0, None, 0))
    ends = [*(each.heading.start for each in headings[1:]), len(text)]
    seen: Counter[str] = Counter()
    volume = 0
    for place, (each, end) in enumerate(zip(headings, ends, strict=True)):
        seen[each.title] += 1
        kind: PartKind = each.kind if place == 0 or each.kind != "book" else "chapter"
        volume = place if kind == "volume" else volume
        yield OutlinePart(
            kind,
            each.title,
            each.heading,
            Span(each.begins, max(each.begins, end)),
            each.number,
            each.last,
            seen[each.title],
            -1 if place == 0 else volume if kind == "chapter" else 0,
            title_words(each.title),
        )


def _with_volumes(found: Iterable[_Found]) -> Iterator[_Found]:
    """A volume that is named only in the headings of its chapters (第一卷 第三回) is a part without words."""
    last = ""
    for each in found:
        if each.volume and each.volume != last:
            start = each.heading.start
            heading = heading_of(each.volume)
            yield _Found(
                "volume", each.volume, Span(start, start), start, heading.number if heading else None, each.level
            )
        last = each.volume or (each.title if each.kind == "volume" else last)
        yield each
