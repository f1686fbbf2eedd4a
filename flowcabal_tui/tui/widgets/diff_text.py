"""A difference as one text with marks: deleted and inserted text, and a note in place of unchanged text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from flowcabal_tui.locale import _
from flowcabal_tui.tui.widgets.prose_diff import DiffKind, Hunk
from flowcabal_tui.tui.widgets.text_marks import Span

_MARKS: Final = {DiffKind.EQUAL: ("", ""), DiffKind.DELETE: ("[-", "-]"), DiffKind.INSERT: ("{+", "+}")}
_KEPT: Final = 120
"""Characters of what stayed the same that are shown on each side of a change."""


class DiffText:
    """`text` with the marks of `hunks`, and the start of each change; folded, unchanged text is replaced by its
    length."""

    def __init__(self, hunks: Sequence[Hunk] = (), *, folded: bool = True) -> None:
        self._hunks, self._folded = hunks, folded
        self.starts: list[int] = []
        self._spans: list[tuple[Span, str]] = []
        written: list[str] = []
        length = 0
        for number, hunk in enumerate(hunks):
            if hunk.is_change:
                self.starts.append(length)
            for run in hunk.runs:
                before, after = _MARKS[run.change]
                pieces = self._pieces(number, run.text) if not hunk.is_change else ((before + run.text + after, ""),)
                for words, name in pieces:
                    style = f"diff--{run.change}" if hunk.is_change else name
                    if style:
                        self._spans.append(((length, length + len(words)), style))
                    written.append(words)
                    length += len(words)
        self._ends = [end for (_start, end), _style in self._spans]
        self.text = "".join(written)

    def _pieces(self, number: int, words: str) -> tuple[tuple[str, str], ...]:
        """What stayed, as (words, style)."""
        head = 0 if number == 0 else _KEPT
        tail = 0 if number == len(self._hunks) - 1 else _KEPT
        hidden = len(words) - head - tail
        if not self._folded or hidden <= _KEPT or len(self._hunks) == 1:
            return ((words, ""),)
        note = _("… {count} characters unchanged …").format(count=f"{hidden:,}")
        start = words[:head] + ("\n" if head else "")
        end = ("\n" if tail else "") + words[len(words) - tail :]
        return (start, ""), (note, "diff--fold"), (end, "")

    def in_row(self, start: int, end: int) -> list[tuple[Span, str]]:
        """The changes and folds among the characters `start` to `end`."""
        spans: list[tuple[Span, str]] = []
        for span, style in self._spans[bisect_right(self._ends, start) :]:
            if span[0] >= end:
                break
            spans.append((span, style))
        return spans
