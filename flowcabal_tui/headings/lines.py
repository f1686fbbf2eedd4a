"""The lines of a novel with their possible headings, and properties of the whole book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.headings.rules import Heading

_LEAST_COUNTED: Final = 3


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A line with its Markdown level (0: none) and its heading; `at` is its start in the text."""

    text: str
    level: int
    heading: Heading | None
    at: int = 0


def bare_numbers(lines: Sequence[HeadingLine]) -> frozenset[int]:
    """The places of lines that are chapters by a number alone (12, 一、雪, III. The Ferry).

    Only for a book without other numbered chapters: at least three, consecutive from 1 (or 0); the count may restart,
    as after a table of contents.
    """
    if any(
        line.heading and line.heading.kind == "chapter" and line.heading.number is not None
        for line in lines
        if line.heading and line.heading.trust in ("sure", "habit")
    ):
        return frozenset()
    counts: list[list[int]] = []
    last: int | None = None
    for place, line in enumerate(lines):
        heading = line.heading
        if heading is None or heading.trust != "bare" or heading.number is None:
            continue
        if last is not None and heading.number == last + 1:
            counts[-1].append(place)
        elif heading.number in (0, 1) and (last is None or len(counts[-1]) >= _LEAST_COUNTED):
            counts.append([place])
        else:
            continue
        last = heading.number
    return frozenset(place for count in counts if len(count) >= _LEAST_COUNTED for place in count)
