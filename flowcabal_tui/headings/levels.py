"""Finds the heading lines of a text, from Markdown levels, units and counts together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.headings.lines import HeadingLine, bare_numbers
from flowcabal_tui.headings.rules import LONGEST, LONGEST_MARKED, Heading, heading_of, possible_headings

_MARK: Final = re.compile(r"^(#{1,3})[ \t]+(.*?)[ \t]*#*$")
_MARKED: Final = re.compile("^#", re.MULTILINE)
_CHAPTER_UNITS: Final = "章回话話"
_PARTS_OF_CHAPTERS: Final = ("节", "節", "幕", "折")


def heading_lines(text: str, *, bare: bool) -> list[HeadingLine]:
    """Every line of a novel with its Markdown level (0: none) and its heading."""
    possible = frozenset(possible_headings(text))
    lines: list[HeadingLine] = []
    after = 0
    for raw in text.split("\n"):
        at, after = after, after + len(raw) + 1
        is_possible = at in possible or raw[:1] == "#"
        lines.append(_line(raw, at, bare) if is_possible else HeadingLine(raw, 0, None, at))
    return _without_running_text(_by_unit(_by_level(lines, is_outline=False)))


def outline_lines(text: str, places: Sequence[int], *, bare: bool) -> list[HeadingLine]:
    """Like `heading_lines` for an outline; consecutive lines that cannot be headings are one `HeadingLine`.

    `places` are those of `possible_headings`. A heading with the word for a volume always counts as one here, whereas a
    novel may call its chapters Part One and Part Two.
    """
    lines: list[HeadingLine] = []
    after = 0
    for at in sorted({*places, *(match.start() for match in _MARKED.finditer(text))}):
        if at > after:
            lines.append(HeadingLine(text[after : at - 1], 0, None, after))
        end = text.find("\n", at)
        raw = text[at : end if end >= 0 else len(text)]
        lines.append(_line(raw, at, bare))
        after = at + len(raw) + 1
    if after < len(text):
        lines.append(HeadingLine(text[after:], 0, None, after))
    return _without_running_text(_by_unit(_by_level(lines, is_outline=True)))


def _line(raw: str, at: int, bare: bool) -> HeadingLine:
    """A line that may be a heading."""
    mark = _MARK.match(raw) if len(raw) <= LONGEST_MARKED else None
    words = mark[2].strip() if mark else raw.strip()
    heading = heading_of(words) if len(words) <= LONGEST or raw[:1] in "Cc" else None
    if heading and heading.trust == "bare" and not (bare or mark):
        heading = None
    if mark and words and heading is None:
        heading = Heading("chapter", words, trust="habit")
    return HeadingLine(raw, len(mark[1]) if mark else 0, heading, at)


def _by_level(lines: list[HeadingLine], *, is_outline: bool) -> list[HeadingLine]:
    """Decides which Markdown level holds chapters: headings above it are volumes, headings below it are text."""
    marked = [line for line in lines if line.level and line.heading]
    if not marked:
        return lines
    named = Counter(
        line.level
        for line in marked
        if line.heading and line.heading.trust == "sure" and line.heading.kind == "chapter"
    )
    count = Counter(line.level for line in marked)
    top = min(count)
    parts = all(line.heading and line.heading.kind == "volume" for line in marked if line.level == top)
    chapter_level = named.most_common(1)[0][0] if named else top
    least = 0 if parts and is_outline else 1
    if not named and (parts or count[top] == 1) and count[top + 1] > least:
        chapter_level = top + 1
    plain = any(line.heading and line.heading.trust == "sure" and not line.level for line in lines)
    result: list[HeadingLine] = []
    for line in lines:
        heading = line.heading
        if line.level and heading and not (heading.trust == "sure" and heading.kind == "chapter"):
            if line.level > chapter_level:
                heading = None
            elif (
                line.level < chapter_level
                or (plain and count[line.level] == 1)
                or ((named or is_outline) and _is_volume(heading))
            ):
                heading = replace(heading, kind="volume", trust="sure")
            else:
                heading = replace(heading, kind="chapter", trust="sure")
        result.append(line if line.heading is heading else replace(line, heading=heading))
    return result


def _is_volume(heading: Heading) -> bool:
    return heading.kind == "volume" and heading.trust == "sure" and heading.number is not None


def _by_unit(lines: list[HeadingLine]) -> list[HeadingLine]:
    """In a book of 章 or 回, a 节 is a part of a chapter's text and a 集 holds chapters."""
    units = {line.heading.unit for line in lines if line.heading and line.heading.trust in ("sure", "habit")}
    if not units & set(_CHAPTER_UNITS):
        return lines
    result = []
    for line in lines:
        heading = line.heading
        if heading and heading.unit in _PARTS_OF_CHAPTERS:
            heading = None
        elif heading and heading.unit == "集":
            heading = replace(heading, kind="volume") if heading.trust == "sure" else None
        result.append(line if line.heading is heading else replace(line, heading=heading))
    return result


def _without_running_text(lines: list[HeadingLine]) -> list[HeadingLine]:
    """Headings that are not sure (第四回下文…) count only if they are the book's habit or come next in number."""
    trust = Counter(line.heading.trust for line in lines if line.heading)
    habit = trust["habit"] > trust["sure"]
    counted = bare_numbers(lines)
    last = 0
    result: list[HeadingLine] = []
    for place, line in enumerate(lines):
        heading = line.heading
        if heading and heading.trust == "bare":
            heading = heading if place in counted else None
        elif heading and heading.trust != "sure" and not (habit and heading.trust == "habit"):
            heading = heading if heading.number == last + 1 else None
        if heading and heading.kind == "chapter" and heading.number is not None:
            last = heading.number
        result.append(line if line.heading is heading else replace(line, heading=heading))
    return result
