"""Wrapping prose of any script into rows, with the line-break rules of Chinese and Japanese.

No row starts with closing punctuation and none ends with an opening bracket (kinsoku shori), Latin
words stay whole where a row can hold them, and spaces hang over the end of a row. Where a row breaks
depends only on the text from its start to one character past the break: a growing paragraph
needs no row wrapped again but its last.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from flowcabal_tui.tui.widgets.cells import WIDTHS, cell_width, cell_widths

NEVER_FIRST: Final = frozenset("。，、；：？！…—～·’”）〕］｝〉》」』】〗〙〛ー々ゝゞヽヾ!%),.:;?]}｡､｣％‰℃")
NEVER_LAST: Final = frozenset("‘“（〔［｛〈《「『【〖〘〚$([{￥＄｢")
_PAIRED: Final = frozenset("—…")
_JOINER: Final = "\u200d"
_STRAY: Final = 64
"""Characters without width that a row holds at most beyond eight a cell: hostile text cannot grow a row."""


def may_break(text: str, at: int) -> bool:
    """True when a row may end before `text[at]`."""
    before, after = text[at - 1], text[at]
    if WIDTHS[after] == 0 or before == _JOINER:
        return False
    if before in " \t":
        return True
    if after in NEVER_FIRST or before in NEVER_LAST or (before == after and before in _PAIRED):
        return False
    return WIDTHS[before] == 2 or WIDTHS[after] == 2 or before in "-—…”’" or after in "“‘"


def _overflow(text: str, start: int, width: int) -> int | None:
    """The index of the first character from `start` that does not fit in `width`; None: all fit."""
    piece = text[start : start + width + 1]
    if piece.isascii() and "\t" not in piece:
        return start + width if len(piece) > width else None
    fitting = bisect_right(list(accumulate(cell_widths(piece))), width)
    if fitting == len(piece) == width + 1:
        piece = text[start : start + width * 8 + _STRAY]
        fitting = bisect_right(list(accumulate(cell_widths(piece))), width)
    return start + fitting if start + fitting < len(text) else None


def break_at(text: str, start: int, overflow: int, width: int) -> int | None:
    """The end of a row of `width` cells from `start`, if `overflow` is the first character that does not fit.

    None: unknown until more text arrives.
    """
    at = overflow
    if text[at] == " ":
        hanging = min(len(text), at + width)
        while at < hanging and text[at] == " ":
            at += 1
        return at if at < len(text) else None
    while at > start and not may_break(text, at):
        at -= 1
    if at > start:
        return at
    at = overflow
    while at > start and (WIDTHS[text[at]] == 0 or text[at - 1] == _JOINER):
        at -= 1
    return at if at > start else max(overflow, start + 1)


def wrap(text: str, width: int) -> list[str]:
    """Wraps one paragraph (no line ends) into rows of at most `width` cells.

    The rows joined are `text`. Only hanging spaces, or one character wider than the row, go over.
    """
    width = max(1, width)
    rows: list[str] = []
    start = 0
    while (overflow := _overflow(text, start, width)) is not None:
        at = break_at(text, start, overflow, width)
        if at is None or at >= len(text):
            break
        rows.append(text[start:at])
        start = at
    rows.append(text[start:])
    return rows


def wrap_parts(parts: Iterable[str], width: int) -> list[str]:
    """Wraps the parts of a paragraph, as `wrap` does; a part is divided only if it does not fit in a row."""
    rows: list[str] = []
    for part in parts:
        if rows and cell_width(rows[-1] + part.rstrip()) <= width:
            rows[-1] += part
        else:
            rows += wrap(part, width)
    return rows
