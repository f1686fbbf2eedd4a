"""Finds the scenes of a chapter and edits their breaks; the words never change.

A break is a line of ornaments (***, * * *, ---, ※, a lone #). A title between two equal ornaments is that of the
following scene: `*** The lamp ***`. That is plain text, so titles survive every file format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.text import clean_line

_PLAIN: Final = re.compile(r"(?:([*＊\-_=~·•])[ \u3000]*(?:\1[ \u3000]*){2,}|(?:[※⁂◇◆☆★❖][ \u3000]*)+|#|\*|＊)")
_TITLED: Final = re.compile(r"(?P<mark>\*\*\*|＊＊＊|---|[※⁂◇◆☆★❖])[ \u3000](?P<title>.{1,80})[ \u3000](?P=mark)")
_LONGEST_BREAK: Final = 100
_LONGEST_TITLE: Final = 60
_ENDS: Final = " \u3000*＊※⁂◇◆☆★❖-"
_GAP: Final = re.compile(r"\n[ \t\u3000\n]*")
DEFAULT_MARK: Final = "***"


@dataclass(frozen=True, slots=True)
class _Break:
    """`start` and `end` take in the blank lines around it."""

    start: int
    end: int
    mark: str = ""
    title: str = ""


def break_line(line: str) -> tuple[str, str] | None:
    """The ornament and the title of a line that is a scene break; None for any other line."""
    line = line.strip()
    if not line or len(line) > _LONGEST_BREAK:
        return None
    if titled := _TITLED.fullmatch(line):
        return titled["mark"], titled["title"].strip()
    return (line, "") if _PLAIN.fullmatch(line) else None


def scene_title(words: str) -> str:
    """A title in the form that a break permits."""
    return clean_line(words)[:_LONGEST_TITLE].strip(_ENDS)


def usual_gap(text: str) -> str:
    """The line ends between two paragraphs, as in most of the chapter."""
    gaps = Counter(gap.group().count("\n") for gap in _GAP.finditer(text.strip("\n")))
    return "\n" * min(2, gaps.most_common(1)[0][0]) if gaps else "\n\n"


def lines_of(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line that is not blank."""
    at = 0
    for line in text.split("\n"):
        if line.strip():
            yield at, at + len(line)
        at += len(line) + 1


def _breaks(text: str, *, blank_lines: bool) -> Iterator[_Break]:
    lines, usual = [*lines_of(text)], len(usual_gap(text))
    last = _Break(0, 0)
    for place, (start, end) in enumerate(lines):
        before = max(last.end, lines[place - 1][1] if place else 0)
        found = break_line(text[start:end])
        if found is not None:
            last = _Break(before, lines[place + 1][0] if place + 1 < len(lines) else len(text), *found)
            yield last
        elif blank_lines and place and before > last.end and text.count("\n", before, start) > usual:
            last = _Break(before, start)
            yield last


def scenes(text: str, *, blank_lines: bool = False) -> tuple[ChapterScene, ...]:
    """The scenes of a chapter in order; a text without breaks is one scene. With their openings, they form the whole
    text.

    With `blank_lines`, more blank lines than usual between paragraphs also count as a break.
    """
    breaks = [*_breaks(text, blank_lines=blank_lines)]
    if not breaks or breaks[0].start > 0:
        breaks.insert(0, _Break(0, 0))
    ends = [*(each.start for each in breaks[1:]), len(text)]
    return tuple(
        ChapterScene(
            number, each.title, Span(each.start, each.end), Span(each.end, end), text[each.end : end], each.mark
        )
        for number, (each, end) in enumerate(zip(breaks, ends, strict=True), 1)
    )


def usual_mark(*texts: str) -> str:
    """The ornament that the texts use most."""
    marks = Counter(
        mark for text in texts for line in text.split("\n") if (found := break_line(line)) and (mark := found[0])
    )
    return marks.most_common(1)[0][0] if marks else DEFAULT_MARK


def _line(mark: str, title: str) -> str:
    if not title:
        return mark or DEFAULT_MARK
    mark = mark if _TITLED.fullmatch(f"{mark} x {mark}") else DEFAULT_MARK
    return f"{mark} {title} {mark}"


def _opening(text: str, scene: ChapterScene, title: str) -> str:
    """The opening of a scene with another title; blank lines around it stay."""
    old = text[scene.opening.start : scene.opening.end]
    gap, mark = usual_gap(text), scene.mark or usual_mark(text)
    if scene.number == 1:
        after = old[len(old.rstrip("\n")) :] or gap
        return f"{_line(mark, title)}{after}" if title else ""
    before, after = old[: len(old) - len(old.lstrip("\n"))], old[len(old.rstrip("\n")) :]
    if not scene.mark:
        return f"{gap}{_line(mark, title)}{gap}" if title else old
    return f"{before}{_line(mark, title)}{after}"


def with_title(text: str, number: int, title: str, *, blank_lines: bool = False) -> str:
    """The text with the title of a scene changed; "" removes it. Raises IndexError."""
    scene = scenes(text, blank_lines=blank_lines)[number - 1]
    opening = _opening(text, scene, scene_title(title))
    return f"{text[: scene.opening.start]}{opening}{text[scene.opening.end :]}"


def with_moved(text: str, number: int, to: int, *, blank_lines: bool = False) -> str:
    """The text with a scene moved: its words and title move, the breaks stay."""
    found = scenes(text, blank_lines=blank_lines)
    order = [*found]
    order.insert(to - 1, order.pop(number - 1))
    parts = []
    for place, scene in zip(found, order, strict=True):
        same = place.title == scene.title
        opening = text[place.opening.start : place.opening.end] if same else _opening(text, place, scene.title)
        parts += [opening, scene.text]
    return "".join(parts)


def with_break(text: str, at: int) -> str:
    """The text with a break at a place, which may divide a paragraph. Unchanged if a scene would be empty."""
    before, after = text[:at].rstrip(" \t\n"), text[at:].lstrip(" \t\n")
    beside = before.rpartition("\n")[2], after.partition("\n")[0]
    if not all(line and break_line(line) is None for line in beside):
        return text
    gap = usual_gap(text)
    return f"{before}{gap}{usual_mark(text)}{gap}{after}"


def without_break(text: str, number: int, *, blank_lines: bool = False) -> str:
    """The text without the break before a scene, whose paragraphs then follow those before."""
    scene = scenes(text, blank_lines=blank_lines)[number - 1]
    gap = usual_gap(text) if number > 1 else ""
    return f"{text[: scene.opening.start]}{gap}{text[scene.opening.end :]}"


def scene_at(found: Sequence[ChapterScene], at: int) -> ChapterScene:
    """The scene that contains a place of the text; a place in a break belongs to the scene after it."""
    return next((scene for scene in reversed(found) if at >= scene.opening.start), found[0])


def cut(text: str, at: int) -> tuple[str, str, str]:
    """The text before a place, the separator, and the rest; joined, they are the text.

    A break at the place is the separator and belongs to neither; one with a title begins the rest.
    """
    for scene in scenes(text)[1:]:
        if scene.opening.start <= at <= scene.opening.end:
            start, end = scene.opening.start, scene.opening.end
            if scene.title:
                end -= len(text[start:end].lstrip("\n"))
            return text[:start], text[start:end], text[end:]
    head, tail = text[:at].rstrip(), text[at:].lstrip("\n")
    return head, text[len(head) : len(text) - len(tail)], tail


def parting(before: str, after: str) -> str:
    """The separator for two merged chapters: a break in their own style, unless the second begins with one."""
    gap = usual_gap(before)
    first = break_line(after.lstrip("\n").partition("\n")[0])
    return gap if first else f"{gap}{usual_mark(before, after)}{gap}"
