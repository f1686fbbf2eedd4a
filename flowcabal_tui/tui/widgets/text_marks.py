"""The marks in a text: a span, the matches of a search, selected rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from flowcabal_tui.tui.widgets.wrapped_text import WrappedText

Span = tuple[int, int]


class TextMarks:
    """`span` is in characters of the text, `rows` from the row where a selection began to the one where it ends."""

    def __init__(self) -> None:
        self.span: Span | None = None
        self.rows: Span | None = None
        self._starts: list[int] = []
        self._length = 0
        self._at = -1

    def clear(self) -> None:
        """Marks nothing."""
        self.span = self.rows = None
        self._starts, self._at = [], -1

    @property
    def match(self) -> int | None:
        """The start of the current match."""
        return self._starts[self._at] if self._at >= 0 else None

    def place(self, text: WrappedText) -> int | None:
        """The character of interest: the end of the selection, or the start of the span or match; None if there is
        none."""
        if self.rows:
            return text.starts[self.rows[1]]
        return self.span[0] if self.span else self.match

    def content(self, text: WrappedText) -> str:
        """The words of the selected rows, else of the span, else all."""
        if self.rows:
            return text.slice(min(self.rows), max(self.rows))
        return text.text[slice(*self.span)] if self.span else text.text

    def find(self, words: str, text: str) -> int:
        """Marks every place of `words` in `text`, in any letter case; returns their number."""
        self._length = len(words)
        found = re.finditer(re.escape(words), text, re.IGNORECASE) if words else ()
        self._starts = [match.start() for match in found]
        self._at = -1
        return len(self._starts)

    def first_from(self, offset: int) -> int:
        """The number of the first match at or after `offset`."""
        return bisect_left(self._starts, offset)

    def beside(self, step: int) -> int:
        """The number of the match `step` places after the last visited one."""
        return self._at + step

    def go_to(self, number: int) -> int | None:
        """Goes to a match, wrapping around; returns its number from 0, or None when nothing was found."""
        if not self._starts:
            return None
        self._at = number % len(self._starts)
        return self._at

    def in_row(self, row: int, start: int, end: int) -> list[tuple[Span, str]]:
        """The marks in a row of the characters `start` to `end`; the style of a later one covers earlier ones."""
        spans: list[tuple[Span, str]] = []
        if self.span and self.span[0] < end and start < self.span[1]:
            spans.append((self.span, "stream--highlight"))
        first = bisect_right(self._starts, start - self._length)
        for number in range(first, bisect_left(self._starts, end)):
            at = self._starts[number]
            name = "stream--current" if number == self._at else "stream--match"
            spans.append(((at, at + self._length), name))
        if self.rows and min(self.rows) <= row <= max(self.rows):
            spans.append(((start, end), "stream--selected"))
        return spans


def cut_at_marks(words: str, start: int, spans: Sequence[tuple[Span, str]]) -> Iterator[tuple[str, list[str]]]:
    """A row that begins at `start`, divided into pieces, each with the names of the marks that cover it."""
    edges = {0, len(words)}
    for (first, last), _name in spans:
        edges.update(min(max(edge - start, 0), len(words)) for edge in (first, last))
    for left, right in pairwise(sorted(edges)):
        over = [name for (first, last), name in spans if first <= start + left and start + right <= last]
        yield words[left:right], over
