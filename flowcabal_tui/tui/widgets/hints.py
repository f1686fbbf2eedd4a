"""Hints about words of a text, stored by paragraph: they disappear when their paragraph is edited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from flowcabal_tui.tui.widgets.roles import role_sign

Hint = tuple[int, int, str]
"""Start and end of the words, and the text about them."""
MARGIN_SIGN: Final = "<"
COMMENT_SIGN: Final = role_sign("hand")
"""In the last column of a row with a hint, or with a comment, which needs no colour to be seen."""


class Hints:
    """The hints of one text, in columns of its paragraphs; those with the same sign are replaced together."""

    def __init__(self, sign: str = MARGIN_SIGN, lines: Sequence[str] = (), hints: Iterable[Hint] = ()) -> None:
        """`hints` are spans of the text whose paragraphs are `lines`; `sign` marks their rows."""
        self._of: dict[str, defaultdict[str, list[Hint]]] = {}
        made: defaultdict[str, list[Hint]] = defaultdict(list)
        at = row = 0
        for start, end, words in sorted(hints):
            while row < len(lines) and start > at + len(lines[row]):
                at += len(lines[row]) + 1
                row += 1
            if row < len(lines):
                made[lines[row]].append((start - at, min(end - at, len(lines[row])), words))
        if made:
            self._of[sign] = made

    def replaced(self, sign: str, lines: Sequence[str], hints: Iterable[Hint]) -> Hints:
        """A copy with the hints of this sign replaced."""
        made = Hints(sign, lines, hints)
        made._of = {each: known for each, known in self._of.items() if each != sign} | made._of
        return made

    def __bool__(self) -> bool:
        return bool(self._of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hints) and self._of == other._of

    __hash__ = None  # type: ignore[assignment]  # it is compared by what it holds

    def words(self, line: str, column: int, sign: str = MARGIN_SIGN) -> str:
        """The message with this sign about the words at a column; "" if there is none."""
        known = self._hints_of(sign, line)
        return next((words for start, end, words in known if start <= column <= end), "")

    def spans(self, line: str, first: int, length: int) -> tuple[tuple[int, int], ...]:
        """The columns with hints in a row that begins at column `first` of its paragraph."""
        found = (each for known in self._of.values() for each in known.get(line, ()))
        places = ((max(start - first, 0), min(end - first, length)) for start, end, _words in found)
        return tuple((start, end) for start, end in places if start < end)

    def sign(self, line: str, first: int, length: int) -> str:
        """The sign of the row: that of a comment that begins in it, else that of a hint, "" if there is neither."""
        if any(first <= start < first + length for start, _end, _words in self._hints_of(COMMENT_SIGN, line)):
            return COMMENT_SIGN
        hinted = self._hints_of(MARGIN_SIGN, line)
        return MARGIN_SIGN if any(start < first + length and first < end for start, end, _words in hinted) else ""

    def _hints_of(self, sign: str, line: str) -> Sequence[Hint]:
        known = self._of.get(sign)
        return known.get(line, ()) if known is not None else ()
