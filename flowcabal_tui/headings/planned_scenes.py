"""The planned scenes of a chapter with their beats: headings or a numbered list in its part of the outline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.headings.numerals import NUMERAL, chinese_number
from flowcabal_tui.headings.scene_beats import scene_beats

_MARKS: Final = re.compile(r"(?:[-*+•·–—][ \t\u3000]+|\[[ xX]\][ \t]+)+")
_NUMBERED: Final = re.compile(
    rf"(?:(?:scene|场景)[ \t]*(?P<labelled>\d{{1,3}})|第(?P<han>{NUMERAL})[场幕]|(?P<plain>\d{{1,3}})(?=[.、．)）]))"
    r"[.、．)）:：]?[ \t\u3000]*",
    re.IGNORECASE,
)
_LEAST_NUMBERED: Final = 2


@dataclass(frozen=True, slots=True)
class PlannedScene:
    """The lines of one planned scene, without list marks; lines before the first scene have no `number`."""

    title: str
    number: int
    lines: tuple[str, ...]


def planned_scenes(body: str) -> tuple[PlannedScene, ...]:
    """The text of a chapter's part by scenes, in order; `number` counts the scenes from 1."""
    heads = scene_beats(body)
    if not heads:
        return (*_numbered(_lines(body)),)
    first = body.rfind("\n", 0, heads[0].span.start) + 1
    own = PlannedScene("", 0, _lines(body[:first]))
    scenes = (PlannedScene(each.title, at, _lines(each.words)) for at, each in enumerate(heads, 1))
    return (*((own,) if own.lines else ()), *scenes)


def _lines(words: str) -> tuple[str, ...]:
    lines = (_MARKS.sub("", line.strip(), count=1).strip() for line in words.split("\n"))
    return tuple(line for line in lines if line)


def _numbered(lines: Sequence[str]) -> Iterator[PlannedScene]:
    """Lines that count from one begin a scene each; with fewer than two of them there are no scenes."""
    begins: list[tuple[int, int]] = []
    for at, line in enumerate(lines):
        match = _NUMBERED.match(line)
        if match and chinese_number(match["labelled"] or match["han"] or match["plain"]) == len(begins) + 1:
            begins.append((at, match.end()))
    if len(begins) < _LEAST_NUMBERED:
        begins = []
    ends = [*(at for at, _end in begins), len(lines)]
    if lines[: ends[0]]:
        yield PlannedScene("", 0, tuple(lines[: ends[0]]))
    for number, ((at, end), until) in enumerate(zip(begins, ends[1:], strict=True), 1):
        yield PlannedScene("", number, tuple(filter(None, (lines[at][end:], *lines[at + 1 : until]))))


def matched(planned: Sequence[PlannedScene], found: Sequence[ChapterScene]) -> tuple[int, ...]:
    """For each planned scene, the number of the corresponding scene of the text; 0: the whole text.

    Equal titles are matched first; the others by their order, unless the text has more scenes than the plan.
    """
    titles = {scene.title.casefold(): scene.number for scene in reversed(found) if scene.title}
    by_title = [titles.get(each.title.casefold(), 0) if each.title else 0 for each in planned]
    in_order = 1 < len(found) <= max((each.number for each in planned), default=0)
    free = {scene.number for scene in found} - {*by_title} if in_order else set()
    return tuple(
        number or (each.number if each.number in free else 0) for number, each in zip(by_title, planned, strict=True)
    )
