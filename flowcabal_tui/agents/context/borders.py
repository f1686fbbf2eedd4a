"""Where a passage that was found begins and ends.

A long paragraph is indexed in parts. What is told of a name that stands at the border of one goes on in the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from flowcabal_tui.domain.manuscript import Span

_MARGIN: Final = 3
"""A part of the passage: so much is told on either side of the name, and its sentence goes on for no more than that."""
_STOP: Final = re.compile(r"[。！？!?…]+[”’」』\"]*|\.[”’\"]*\s")


def around(text: str, start: int, end: int, forms: Iterable[str]) -> Span:
    """The passage from `start` to `end` of a chapter, widened where a form of the name stands near its border.

    It is widened to whole sentences and stays in the paragraph.
    """
    margin = (end - start) // _MARGIN
    stands = [(text.find(form, start, end), text.rfind(form, start, end) + len(form)) for form in forms if form]
    stands = [each for each in stands if each[0] >= 0]
    if not stands:
        return Span(start, end)
    return Span(
        _begin(text, start, min(first for first, _last in stands) - margin, margin),
        _end(text, end, max(last for _first, last in stands) + margin, margin),
    )


def _begin(text: str, start: int, wanted: int, margin: int) -> int:
    paragraph = text.rfind("\n", 0, start) + 1
    if start <= max(wanted, paragraph):
        return start
    floor = max(wanted - margin, paragraph)
    stops = [stop.end() for stop in _STOP.finditer(text, floor, start) if stop.end() <= wanted]
    return stops[-1] if stops else max(wanted, paragraph)


def _end(text: str, end: int, wanted: int, margin: int) -> int:
    if end >= wanted or text.startswith("\n", end - 1):
        return end
    line = text.find("\n", end)
    paragraph = len(text) if line < 0 else line
    ceiling = min(wanted + margin, paragraph)
    stops = (stop.end() for stop in _STOP.finditer(text, end, ceiling) if stop.end() >= wanted)
    return next(stops, min(wanted, paragraph))
