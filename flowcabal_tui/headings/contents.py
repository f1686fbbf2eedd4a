"""Removes tables of contents from the text of a novel: repeated headings without text between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from flowcabal_tui.headings.lines import HeadingLine
from flowcabal_tui.headings.rules import is_untitled

_LEADERS: Final = re.compile(r"(?:[.…·]{2,}|\t)[\s\d]*$")
_SPACE: Final = re.compile(r"\s+")
_NAME: Final = re.compile(r"^(?:目\s*录|目\s*錄|目\s*次|(?:table of )?contents)[:：]?$", re.IGNORECASE)
_LEAST: Final = 3
"""More headings in a row are a table; up to this number they are headings that occur twice, as in web novels."""


def without_contents(lines: list[HeadingLine]) -> tuple[list[HeadingLine], int]:
    """The lines without a table of contents and without the first of two equal headings; the number of its entries."""
    places = [place for place, line in enumerate(lines) if line.heading]
    runs = [run for run in _runs(lines, places) if len(run) > 1]
    tables = _tables(lines, places, [run for run in runs if len(run) > _LEAST])
    gone: set[int] = set()
    listed = 0
    for run in runs:
        again = tables.get(run[0], [])
        if len(run) > _LEAST and 2 * len(again) >= len(run) - 1:
            gone.update(again)
            listed += len(again)
        else:
            gone.update(here for here, after in pairwise(run) if _key(lines[here]) == _key(lines[after]))
    if not gone:
        return lines, 0
    first = min(gone)
    kept = [
        line
        for place, line in enumerate(lines)
        if place not in gone and not (listed and place < first and _NAME.match(line.text.strip("# \t\u3000")))
    ]
    return kept, listed


def _tables(lines: Sequence[HeadingLine], places: Sequence[int], runs: Sequence[list[int]]) -> dict[int, list[int]]:
    """By the first place of each run, the places in it of headings that come again later."""
    if not runs:
        return {}
    last = {_key(lines[place]): place for place in places}
    numbered = {number: place for place in places if (number := _number(lines[place]))}
    opening = next((place for place in places if (one := _number(lines[place])) and one[0] == "chapter"), -1)
    return {
        run[0]: [
            place
            for place in run[:-1]
            # only at the start are numbers a table's: later they are chapters still to be written
            if last[_key(lines[place])] > place or (opening in run and _by_number(lines, place, numbered) > place)
        ]
        for run in runs
    }


def _runs(lines: Sequence[HeadingLine], places: Sequence[int]) -> Iterator[list[int]]:
    """Headings that have nothing but empty lines between them; the last of each may be a chapter's own."""
    run: list[int] = []
    for place in places:
        if run and any(line.text.strip() for line in lines[run[-1] + 1 : place]):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _by_number(lines: Sequence[HeadingLine], place: int, numbered: Mapping[tuple[str, int], int]) -> int:
    """The last place of the number of a heading, if it has no title there or here; otherwise `place` itself.

    A table may have only numbers, or a book its titles only in the table; two titles are two chapters of two volumes.
    """
    last = numbered.get(_number(lines[place]) or ("", 0), place)
    return last if _untitled(lines[place]) or _untitled(lines[last]) else place


def _untitled(line: HeadingLine) -> bool:
    return line.heading is not None and is_untitled(_LEADERS.sub("", line.heading.title))


def _number(line: HeadingLine) -> tuple[str, int] | None:
    return (line.heading.kind, line.heading.number) if line.heading and line.heading.number is not None else None


def _key(line: HeadingLine) -> str:
    """The text of a heading, without the dots and the page number of a table of contents."""
    title = line.heading.title if line.heading else ""
    return _SPACE.sub("", _LEADERS.sub("", title))
