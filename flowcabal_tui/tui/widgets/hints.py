"""Hints about words of a text, kept by paragraph: they go when their paragraph is edited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

Hint = tuple[int, int, str]
"""Start and end of the words, and what is said of them."""


class Hints:
    """The hints of one text, in columns of its paragraphs."""

    def __init__(self, lines: Sequence[str] = (), hints: Iterable[Hint] = ()) -> None:
        """`hints` are spans of the text whose paragraphs are `lines`."""
        self._of: defaultdict[str, list[Hint]] = defaultdict(list)
        at = row = 0
        for start, end, words in sorted(hints):
            while row < len(lines) and start > at + len(lines[row]):
                at += len(lines[row]) + 1
                row += 1
            if row < len(lines):
                self._of[lines[row]].append((start - at, min(end - at, len(lines[row])), words))

    def __bool__(self) -> bool:
        return bool(self._of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hints) and self._of == other._of

    __hash__ = None  # type: ignore[assignment]  # it is compared by what it holds

    def words(self, line: str, column: int) -> str:
        """What is said of the words at a column; "" where nothing is."""
        return next((words for start, end, words in self._of.get(line, ()) if start <= column <= end), "")

    def begins(self, line: str, first: int, length: int) -> bool:
        """Does a hint begin in a row that begins at column `first` of its paragraph?"""
        return any(first <= start < first + length for start, _end, _words in self._of.get(line, ()))

    def spans(self, line: str, first: int, length: int) -> tuple[tuple[int, int], ...]:
        """The columns with hints in a row that begins at column `first` of its paragraph."""
        places = ((max(start - first, 0), min(end - first, length)) for start, end, _words in self._of.get(line, ()))
        return tuple((start, end) for start, end in places if start < end)
