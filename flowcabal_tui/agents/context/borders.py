"""Chooses the start and end of a retrieved passage.

A long paragraph is indexed in parts. The text about a name at the border of one part continues in the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import NOT_SHORT

_MARGIN: Final = 3
"""Divisor of the passage's length: text on either side of the name, and the most by which a sentence extends that."""
_WEIGHTY: Final = 0.3
"""Least weight, relative to the heaviest, for which a paragraph is kept."""
_KEPT: Final = 0.65
_KEPT_BRIEFLY: Final = 0.5
"""Least share of a passage that is shown around the heaviest name when space is short; otherwise `_KEPT`."""
_STOP: Final = re.compile(rf"[。！？!?…]+[”’」』\"]*|{NOT_SHORT}\.[”’\"]*\s")
_LETTERS: Final = re.compile(r"[A-Za-z\u00c0-\u024f’'-]+")
"""The letters of words that spaces separate; Chinese may be cut after any character."""


def excerpt(
    text: str, start: int, end: int, found: Sequence[tuple[float, tuple[str, ...]]], *, briefly: bool = False
) -> Span:
    """The part of the passage from `start` to `end` of a chapter that concerns what was `found` in it.

    `found` are weights and forms. Paragraphs at either end that hold none of the weighty ones are left out, then
    sentences far from the heaviest one; where that is near a border, the span is widened as in `around`.
    """
    if not found:
        return Span(start, end)
    most, heaviest = max(found, key=lambda each: each[0])
    forms = [form for weight, each in found if weight >= _WEIGHTY * most for form in each]
    kept = _paragraphs(text, start, end, forms)
    kept = _sentences(text, kept, heaviest, int((end - start) * (_KEPT_BRIEFLY if briefly else _KEPT)))
    return around(text, kept.start, kept.end, heaviest)


def _paragraphs(text: str, start: int, end: int, forms: Sequence[str]) -> Span:
    """From the first paragraph with one of the forms to the last; all when none has any."""
    lines = text[start:end].split("\n")
    begins = accumulate((len(line) + 1 for line in lines), initial=start)
    holding = [
        Span(at, at + len(line)) for at, line in zip(begins, lines, strict=False) if any(form in line for form in forms)
    ]
    return Span(holding[0].start, holding[-1].end) if holding else Span(start, end)


def _sentences(text: str, span: Span, forms: Iterable[str], least: int) -> Span:
    """The span without the sentences at its ends that are farthest from the forms, of `least` characters or more."""
    starts = [
        match.start() for form in forms if form for match in re.finditer(re.escape(form), text[span.start : span.end])
    ]
    if not starts:
        return span
    first, last = span.start + min(starts), span.start + max(starts)
    stops = (stop.end() for stop in _STOP.finditer(text, span.start, span.end))
    parts = [Span(*each) for each in pairwise(sorted({span.start, span.end, *stops}))]
    while len(parts) > 1:
        from_start, from_end = first - parts[0].end, parts[-1].start - last
        if max(from_start, from_end) < 0:
            break
        fewer = parts[1:] if from_start >= from_end else parts[:-1]
        if fewer[-1].end - fewer[0].start < least:
            break
        parts = fewer
    return Span(parts[0].start, parts[-1].end)


def around(text: str, start: int, end: int, forms: Iterable[str]) -> Span:
    """The passage from `start` to `end` of a chapter, widened where a form of the name is near its border.

    It is widened to whole sentences within the paragraph.
    """
    margin = (end - start) // _MARGIN
    places = [(text.find(form, start, end), text.rfind(form, start, end) + len(form)) for form in forms if form]
    places = [each for each in places if each[0] >= 0]
    if not places:
        return Span(start, end)
    return Span(
        _begin(text, start, min(first for first, _last in places) - margin, margin),
        _end(text, end, max(last for _first, last in places) + margin, margin),
    )


def _begin(text: str, start: int, wanted: int, margin: int) -> int:
    paragraph = text.rfind("\n", 0, start) + 1
    if start <= max(wanted, paragraph):
        return start
    floor = max(wanted - margin, paragraph)
    stops = [stop.end() for stop in _STOP.finditer(text, floor, start) if stop.end() <= wanted]
    return stops[-1] if stops else max(_after_word(text, wanted), paragraph)


def _end(text: str, end: int, wanted: int, margin: int) -> int:
    if end >= wanted or text.startswith("\n", end - 1):
        return end
    line = text.find("\n", end)
    paragraph = len(text) if line < 0 else line
    stops = (stop.end() for stop in _STOP.finditer(text, end, min(wanted + margin, paragraph)) if stop.end() >= wanted)
    return next(stops, paragraph if paragraph <= wanted + margin else _after_word(text, wanted))


def _after_word(text: str, place: int) -> int:
    """The end of the word around a place; the place itself if it is not inside a word."""
    rest = _LETTERS.match(text, place) if place > 0 and _LETTERS.fullmatch(text[place - 1]) else None
    return rest.end() if rest else place
