"""Two versions of a text in one: deletions, insertions, and a fold over unchanged text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.clipboard import CopyText
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prose_diff import DiffKind, Hunk, hunks, prose_diff
from flowcabal_tui.tui.widgets.prose_wrap import may_break
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.text_marks import Span

_MARKS: Final = {DiffKind.EQUAL: ("", ""), DiffKind.DELETE: ("[-", "-]"), DiffKind.INSERT: ("{+", "+}")}
_KEPT: Final = 120
"""Characters of what stayed the same that are shown on each side of a change."""
_STEP: Final = 40
"""Characters within which a fold looks for a place between two words."""


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
        """The unchanged text, as (words, style)."""
        first = 0 if number == 0 else _KEPT
        last = len(words) - (0 if number == len(self._hunks) - 1 else _KEPT)
        if not self._folded or last - first <= _KEPT or len(self._hunks) == 1:
            return ((words, ""),)
        first = _break_near(words, first, range(first, max(0, first - _STEP), -1))
        last = _break_near(words, last, range(last, min(len(words), last + _STEP)))
        note = _("… {count} characters unchanged …").format(count=f"{last - first:,}")
        start = words[:first] + ("\n" if first else "")
        end = ("\n" if words[last:] else "") + words[last:]
        return (start, ""), (note, "diff--fold"), (end, "")

    def in_row(self, start: int, end: int) -> list[tuple[Span, str]]:
        """The changes and folds among the characters `start` to `end`."""
        spans: list[tuple[Span, str]] = []
        for span, style in self._spans[bisect_right(self._ends, start) :]:
            if span[0] >= end:
                break
            spans.append((span, style))
        return spans


def _break_near(words: str, at: int, places: Iterable[int]) -> int:
    """The first of the places where a row could end, else `at`."""
    return next((place for place in places if may_break(words, place)), at)


class DiffView(StreamView):
    """The way from one text to another: `[-deleted-]` and `{+inserted+}`, struck out and underlined."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"diff--delete", "diff--insert", "diff--fold"}
    DEFAULT_CSS = """
    DiffView > .diff--delete { color: $error; text-style: strike; }
    DiffView > .diff--insert { color: $success; text-style: underline; }
    DiffView > .diff--fold { color: $text-muted; text-style: italic; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "hunk(1)", mark("Next change"), id="diff.next"),
        Binding("N", "hunk(-1)", mark("Previous change"), id="diff.previous"),
        Binding("f", "fold", mark("Fold or unfold"), id="diff.fold"),
    ]
    help = HelpData(
        mark("Changes"),
        mark("`[-` removed `-]`, `{+` added `+}`. `n` and `N` go from change to change, `f` shows unchanged text."),
    )

    def __init__(self, old: str = "", new: str = "", *, id: str | None = None) -> None:  # noqa: A002 - Textual's
        super().__init__(id=id)
        self._new_text = ""
        self._diff_hunks: tuple[Hunk, ...] = ()
        self._diff_text = DiffText()
        self._hunk_at = -1
        self._is_folded = True
        self.set_texts(old, new)

    @property
    def hunk_count(self) -> int:
        """The number of changes."""
        return len(self._diff_text.starts)

    def show_first(self) -> None:
        """Brings the first change into view."""
        self.scroll_to_offset([*self._diff_text.starts, 0][0])

    def set_texts(self, old: str, new: str) -> None:
        """Shows how `old` becomes `new`, from the beginning."""
        self._new_text = clean(new)
        self._diff_hunks = hunks(prose_diff(clean(old), self._new_text))
        self._hunk_at = -1
        self._write()

    def _write(self) -> None:
        self._diff_text = DiffText(self._diff_hunks, folded=self._is_folded)
        self.set_text(self._diff_text.text, follow=False)

    def _spans(self, row: int) -> list[tuple[Span, str]]:
        changes = self._diff_text.in_row(self._prose.starts[row], self._prose.end_of(row))
        return [*changes, *super()._spans(row)]

    def _go_to_hunk(self, number: int) -> None:
        if starts := self._diff_text.starts:
            self._hunk_at = number % len(starts)
            start = starts[self._hunk_at]
            self.highlight(start, start + 2)
            self.scroll_to_offset(start)

    def action_hunk(self, step: int) -> None:
        """Goes to the next change, or to the previous one, wrapping around."""
        self._go_to_hunk(self._hunk_at + step)

    def action_fold(self) -> None:
        """Hides or shows unchanged text."""
        self._is_folded = not self._is_folded
        self._write()
        if self._hunk_at >= 0:
            self._go_to_hunk(self._hunk_at)

    def action_copy(self) -> None:
        """Asks for a copy of the new text, without marks."""
        self.post_message(CopyText(self._new_text))
